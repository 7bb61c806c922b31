/* SPDX-License-Identifier: ISC */
/* From what a provider reports to what the client is told and the thread keeps. */
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/message/message.h"
#include "service/live/live_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRANSCRIPT_MOST ((size_t)8 << 20) /* bytes after which a transcript is finished */

enum { FROM_USER, FROM_MODEL }; /* indexes of said */

int64_t live_now(const struct live *live)
{
	return live->setup.now();
}

/* ---- what is told ---- */

/* Tells the client an event, taken over. */
static void live_send(struct live *live, cJSON *event)
{
	if (!live->gone && live->state != LIVE_CLOSED) {
		char *text = json_print(event);
		live->setup.sink->event(live->setup.sink, text, strlen(text));
		cJSON_free(text);
	}
	cJSON_Delete(event);
}

void live_send_error(struct live *live, const char *code, const char *message, bool fatal)
{
	cJSON *event = json_typed("error");
	json_add_str(event, "code", code);
	cJSON_AddStringToObject(event, "message", message ? message : "");
	cJSON_AddBoolToObject(event, "fatal", fatal);
	live_send(live, event);
}

/* ---- what is kept ---- */

static void live_events_keep_text(struct live *live, const char *role, const char *text)
{
	char id[UUID_SIZE];
	if (*text)
		live_keeper_add(live->keeper,
		    message_new(role, id_make(&live->call.service->ids, id), content_text(text)));
}

void live_tell_unstored(struct live *live)
{
	char *why = live->keeper ? live_keeper_unstored(live->keeper) : NULL;
	if (why)
		live_send_error(live, "not_stored", why, false);
	free(why);
}

void live_keep_text(struct live *live, const char *text)
{
	live_events_keep_text(live, "user", text);
}

/* ---- transcripts ---- */

void live_ask(struct live *live)
{
	int64_t now = live_now(live);
	live->asked = now < live->asked_until ? live->asked + 1 : 1;
	live->asked_until = now + LIVE_ASKED_MS;
}

static void live_events_begin_answer(struct live *live)
{
	if (!live->answering && live->asked)
		live->asked--;
	live->answering = true;
}

static void live_events_send_transcript(
    struct live *live, int from, const char *text, bool finished)
{
	cJSON *event = json_typed(from == FROM_USER ? "input_transcript" : "output_transcript");
	cJSON_AddStringToObject(event, "text", text);
	cJSON_AddBoolToObject(event, "finished", finished);
	live_send(live, event);
}

/* Clients join the pieces, so the last piece has what they lack of the whole (NULL where the
 * provider gave none).  Where the whole is another text than the pieces, only the thread has it. */
static void live_events_finish_transcript(struct live *live, int from, const char *whole)
{
	char *told = buf_detach(&live->said[from]);
	size_t len = strlen(told);
	if (!whole)
		whole = told;
	live_events_send_transcript(
	    live, from, strncmp(whole, told, len) == 0 ? whole + len : "", true);
	live_events_keep_text(live, from == FROM_USER ? "user" : "assistant", whole);
	free(told);
}

static void live_events_finish_open(struct live *live, int from)
{
	if (live->said[from].len)
		live_events_finish_transcript(live, from, NULL);
}

void live_finish_transcripts(struct live *live)
{
	live_events_finish_open(live, FROM_USER);
	live_events_finish_open(live, FROM_MODEL);
}

static void live_events_take_transcript(struct live *live, int from, const struct live_event *event)
{
	struct buf *said = &live->said[from];
	if (from == FROM_USER) {
		/* even without text it says that the provider finishes what the user said */
		live->user_ends |= event->flag;
		if (event->text && *event->text && !live->answering && !live->asked)
			live_ask(live);
	} else if (event->text || said->len) {
		live_events_begin_answer(live);
	}
	if (!event->flag && event->text && *event->text) {
		buf_puts(said, event->text);
		live_events_send_transcript(live, from, event->text, false);
		if (said->len > TRANSCRIPT_MOST)
			live_events_finish_transcript(live, from, NULL);
	} else if (event->flag && (event->text || said->len)) {
		live_events_finish_transcript(live, from, event->text);
	}
}

/* ---- tools ---- */

static void live_events_take_tool_call(struct live *live, const struct live_event *event)
{
	cJSON *told = json_typed("tool_call");
	live_events_begin_answer(live);
	cJSON_AddStringToObject(told, "id", event->id);
	cJSON_AddStringToObject(told, "name", event->text);
	cJSON_AddItemToObject(told, "args", cJSON_Duplicate(event->args, true));
	live_send(live, told);
	/* a tool that was not offered is unknown, even if the node has it */
	if (live_config_tool(&live->config, live->agent, event->text)) {
		live_tools_start(live->tools, event->id, event->text, event->args, live->epoch);
	} else {
		cJSON_Delete(event->args);
		live_tools_refuse(live->tools, event->id, event->text, live->epoch);
	}
}

void live_tool_done(struct live *live, struct tool_done *done)
{
	char id[UUID_SIZE];
	cJSON *event = json_typed("tool_result");
	cJSON_AddStringToObject(event, "id", done->id);
	cJSON_AddItemToObject(event, "result", cJSON_Duplicate(done->output, true));
	live_send(live, event);
	live_keeper_add(live->keeper,
	    message_tool_result(id_make(&live->call.service->ids, id), done->id,
		cJSON_Duplicate(done->output, true), done->is_error));
	if (live->connection && live->state == LIVE_TALKS && done->epoch == live->epoch)
		live->agent->provider->tool_result(
		    live->connection, done->id, done->name, done->output, done->is_error);
}

/* ---- the session ---- */

static void live_events_take_handle(struct live *live, const char *handle)
{
	cJSON *event = json_typed("session_update");
	bool same = handle && live->handle && strcmp(handle, live->handle) == 0;
	live->settles_until = 0;
	json_add_str(event, "resumption_handle", handle);
	live_send(live, event);
	if (same || (!handle && !live->handle))
		return;
	free(live->handle);
	live->handle = xstrdup(handle);
	live_keeper_set_handle(live->keeper, handle);
}

#define ROTATE_MOST_MS 10000 /* used where the provider does not say how long it waits */
#define ROTATE_SPARE_MS 500

static void live_events_take_go_away(struct live *live, double seconds)
{
	char left[32];
	cJSON *event = json_typed("go_away");
	bool known = seconds >= 0 && seconds < 1e6;
	snprintf(left, sizeof(left), "%.9gs", known ? seconds : 0);
	json_add_str(event, "time_left", known ? left : NULL);
	live_send(live, event);
	int64_t wait = known ? (int64_t)(seconds * 1000) - ROTATE_SPARE_MS : ROTATE_MOST_MS;
	live->rotate_by = live_now(live) + (wait > 0 ? wait : 0) + 1;
}

#define HANDLE_MS 2000 /* how long a handle may come after a turn */

/* Ends a turn of the model; input that cut its answer is to be answered itself. */
static void live_events_take_end_of_turn(struct live *live, const char *type, bool cut)
{
	if (!live->user_ends)
		live_events_finish_open(live, FROM_USER);
	live_events_finish_open(live, FROM_MODEL);
	live->answering = false;
	live->settles_until = live->handle ? live_now(live) + HANDLE_MS : 0;
	if (cut && !live->asked)
		live_ask(live);
	live_send(live, json_typed(type));
}

static void live_events_take(struct live *live, const struct live_event *event)
{
	cJSON *told;
	switch (event->kind) {
	case LIVE_READY:
		if (live->state != LIVE_CONNECTS)
			break;
		live->state = LIVE_TALKS;
		live->deadline = 0;
		live->was_ready = true;
		live->ready_at = live_now(live);
		break;
	case LIVE_AUDIO:
		live_events_begin_answer(live);
		if (!live->gone && !live->config.text)
			live->setup.sink->audio(live->setup.sink, event->pcm, event->bytes);
		break;
	case LIVE_INPUT_TRANSCRIPT:
		live_events_take_transcript(live, FROM_USER, event);
		break;
	case LIVE_OUTPUT_TRANSCRIPT:
		live_events_take_transcript(live, FROM_MODEL, event);
		break;
	case LIVE_TOOL_CALL:
		live_events_take_tool_call(live, event);
		break;
	case LIVE_TURN_COMPLETE:
		live_events_take_end_of_turn(live, "turn_complete", false);
		break;
	case LIVE_INTERRUPTED:
		live_events_take_end_of_turn(live, "interrupted", true);
		break;
	case LIVE_SESSION_UPDATE:
		live_events_take_handle(live, event->text);
		break;
	case LIVE_GO_AWAY:
		live_events_take_go_away(live, event->seconds);
		break;
	case LIVE_AGENT_CHANGED:
		told = json_typed("agent_changed");
		cJSON_AddStringToObject(told, "author", event->text);
		live_send(live, told);
		break;
	case LIVE_ERROR:
		live_send_error(live, event->id, event->text, event->flag);
		live->fatal = event->flag;
		break;
	case LIVE_LOST:
		live->lost = true;
		live->why = xstrdup(event->text);
		break;
	case LIVE_ENDED:
		live->ended = true;
		break;
	}
}

void live_take_event(ag_live_session *session, const struct live_event *event)
{
	struct live *live = (struct live *)session;
	bool talks = live->connection && !live->lost && !live->ended && !live->fatal;
	if (live->state != LIVE_TALKS)
		talks = talks && live->state == LIVE_CONNECTS &&
		    (event->kind == LIVE_READY || event->kind == LIVE_LOST ||
			event->kind == LIVE_ERROR);
	if (!talks) { /* the event means nothing now */
		cJSON_Delete(event->args);
		return;
	}
	live->reports++;
	if (event->kind == LIVE_AUDIO || event->kind == LIVE_OUTPUT_TRANSCRIPT ||
	    event->kind == LIVE_TOOL_CALL)
		live->attempts = 0; /* a connection that has said something was of use */
	live_events_take(live, event);
}
