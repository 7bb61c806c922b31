/* SPDX-License-Identifier: ISC */
/* The connection to the model: made, lost, made again; and what goes over it. */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "service/live/live_internal.h"

#include <stdlib.h>

#define CONNECT_MS 15000 /* how long a provider may take to be ready */
#define ATTEMPTS 5
#define BACKOFF_MS 500
#define BACKOFF_MOST_MS 10000
#define STABLE_MS 10000 /* a connection that stood so long was of use */

/* ---- making it ---- */

static void live_link_note_loss(struct live *live, const char *why)
{
	live->lost = true;
	free(live->why);
	live->why = xstrdup(why);
}

void live_connect(struct live *live)
{
	const struct live_config *config = &live->config;
	const struct ag_live_setup setup = {
	    .model = config->model,
	    .voice = config->voice,
	    .system_prompt = config->system_prompt,
	    .text = config->text,
	    .tools = config->tools,
	    .vad = config->vad,
	    .resumption_handle = live->handle,
	};
	live->epoch++;
	live->state = LIVE_CONNECTS;
	live->deadline = live_now(live) + CONNECT_MS;
	live->answering = live->finished = false;
	live->asked = 0;
	live->settles_until = 0;
	live->unsaid = live->speaking;
	live->rotate_by = 0;
	live->fed = false;
	live->step_at = 0;
	live->resumed = live->handle != NULL;
	live->connection = live->agent->provider->open(&live->session, &setup, live->agent->data);
	if (!live->connection)
		live_link_note_loss(live, "the provider cannot be used");
}

static void live_disconnect(struct live *live)
{
	if (live->connection)
		live->agent->provider->close(live->connection);
	live->connection = NULL;
	live->lost = live->ended = live->fatal = false;
	free(live->why);
	live->why = NULL;
}

/* ---- losing it ---- */

void live_close(struct live *live, int code, const char *reason)
{
	if (live->state >= LIVE_CLOSES)
		return;
	if (live->connection)
		live_finish_transcripts(live);
	live_disconnect(live);
	live_queue_clear(&live->queue);
	live->state = LIVE_CLOSES;
	live->close_code = code;
	live->close_reason = reason;
	live->deadline = live_now(live) + LIVE_GRACE_MS;
	if (live->tools)
		live_tools_stop(live->tools);
	if (live->keeper)
		live_keeper_let_go(live->keeper);
	if (live_rests(live))
		live_shut(live);
}

void live_shut(struct live *live)
{
	live_tell_unstored(live);
	live->state = LIVE_CLOSED;
	if (!live->gone)
		live->setup.sink->close(live->setup.sink, live->close_code, live->close_reason);
}

bool live_rests(struct live *live)
{
	return (!live->tools || live_tools_open(live->tools) == 0) &&
	    (!live->keeper || live_keeper_rests(live->keeper));
}

static void live_link_try_later(struct live *live)
{
	if (++live->attempts > ATTEMPTS) {
		live_send_error(live, "reconnect_failed",
		    "realtime session lost and could not be resumed after 5 attempts", true);
		live_close(live, 1000, NULL);
		return;
	}
	live->state = LIVE_WAITS;
	/* after 0, then 0.5, 1, 2 and 4 seconds */
	int64_t ms = live->attempts > 1 ? (int64_t)BACKOFF_MS << (live->attempts - 2) : 0;
	live->deadline = live_now(live) + (ms < BACKOFF_MOST_MS ? ms : BACKOFF_MOST_MS);
}

static bool live_link_is_stable(const struct live *live)
{
	return live->state == LIVE_TALKS && live_now(live) - live->ready_at >= STABLE_MS;
}

static void live_link_handle_loss(struct live *live)
{
	bool stable = live_link_is_stable(live);
	log_warning("the connection to the model is lost: %s", live->why ? live->why : "");
	live_finish_transcripts(live);
	if (!live->was_ready && !live->resumed) {
		struct error_view view;
		error_set(&live->call.error, ERR_NODE, "the live provider cannot be reached: %s",
		    live->why ? live->why : "");
		call_error_view(&live->call, &view);
		live_send_error(live, "provider_error", view.detail, true);
		live_close(live, 1000, NULL);
		return;
	}
	live_disconnect(live);
	if (stable)
		live->attempts = 0;
	if (live->ending && !live->queue.first) {
		live_close(live, 1000, NULL);
	} else if (!live->was_ready) {
		/* a handle that is too old must not keep its thread silent for ever */
		free(live->handle);
		live->handle = NULL;
		live_connect(live);
	} else {
		live_link_try_later(live);
	}
}

/* Whether the connection is in the middle of something. */
static bool live_link_is_engaged(const struct live *live)
{
	return live->answering || live->speaking || live_tools_open(live->tools) > 0 ||
	    (live->asked && live_now(live) < live->asked_until);
}

/* Changes to a new connection, between two turns if there is time for that. */
static void live_link_rotate(struct live *live)
{
	bool busy = live_link_is_engaged(live) || live_now(live) < live->settles_until;
	if (!live->rotate_by || live->ending || (busy && live_now(live) < live->rotate_by))
		return;
	bool useful = live->fed || live_link_is_stable(live);
	live_finish_transcripts(live);
	live_disconnect(live);
	if (useful)
		live->attempts = 0;
	live_link_try_later(live);
}

/* ---- using it ---- */

static bool live_link_is_talking(const struct live *live)
{
	return live->state == LIVE_TALKS && !live->lost && !live->ended && !live->fatal;
}

static void live_link_hand_over(struct live *live, const struct live_input *input)
{
	const struct ag_live_provider *provider = live->agent->provider;
	bool starts = input->kind == LIVE_INPUT_START;
	unsigned asked, reports;
	live->fed = true;
	switch (input->kind) {
	case LIVE_INPUT_AUDIO:
		provider->audio(live->connection, input->data, input->len);
		break;
	case LIVE_INPUT_TEXT:
		live_keep_text(live, input->data);
		live_ask(live);
		asked = live->asked;
		reports = live->reports;
		provider->text(live->connection, input->data);
		/* a provider that has reported something at once does not owe an answer */
		if (live->reports != reports && live->asked == asked)
			live->asked--;
		break;
	case LIVE_INPUT_START:
	case LIVE_INPUT_END:
		/* they count only where the provider does not look for speech itself */
		if (cJSON_IsFalse(json_opt(live->config.vad, "enabled"))) {
			if (live->speaking && !starts)
				live_ask(live);
			live->speaking = starts;
			live->unsaid = false;
		}
		provider->activity(live->connection, starts);
		break;
	}
}

/* Texts come no faster than they are stored.  Input that came after a go_away is for the next
 * connection, but for what belongs to the turn that is waited for, and for texts that this one has
 * the time to answer. */
static bool live_link_may_hand_over(const struct live *live)
{
	const struct live_input *input = live->queue.first;
	if (!input || (input->kind == LIVE_INPUT_TEXT && live_keeper_is_behind(live->keeper)))
		return false;
	if (!live->rotate_by || live->ending)
		return true;
	return live_link_is_engaged(live) &&
	    (input->kind != LIVE_INPUT_TEXT || live->rotate_by - live_now(live) >= LIVE_ASKED_MS);
}

static void live_link_feed(struct live *live)
{
	const struct ag_live_provider *provider = live->agent->provider;
	if (live->unsaid && live_link_is_talking(live)) {
		/* speech that started on another connection goes on in this one */
		live->unsaid = false;
		provider->activity(live->connection, true);
	}
	while (live_link_is_talking(live) && live_link_may_hand_over(live) &&
	    provider->takes(live->connection)) {
		struct live_input *input = live_queue_take(&live->queue);
		live_link_hand_over(live, input);
		free(input);
	}
	if (live_link_is_talking(live) && live->ending && !live->queue.first && !live->finished) {
		live->finished = true;
		provider->finish(live->connection);
	}
}

bool live_may_speak(const struct live *live)
{
	return live->gone || !live->setup.sink->full(live->setup.sink);
}

void live_work(struct live *live)
{
	unsigned epoch;
	do {
		if (!live->connection && !live->lost)
			return;
		epoch = live->epoch;
		live_link_feed(live);
		if (live->connection && !live->lost && live_may_speak(live)) {
			int64_t now = live_now(live);
			int64_t wait = live->agent->provider->step(live->connection, now);
			live->step_at = wait < 0 ? -1 : now + wait;
		}
		/* what the provider said */
		if (live->fatal || live->ended)
			live_close(live, 1000, NULL);
		else if (live->lost)
			live_link_handle_loss(live);
		else if (live->state == LIVE_TALKS || live->state == LIVE_CONNECTS)
			live_link_rotate(live);
	} while (live->epoch != epoch ||
	    (live_link_is_talking(live) && !live->rotate_by && live_link_may_hand_over(live) &&
		live_may_speak(live) && live->agent->provider->takes(live->connection)));
}

void live_late(struct live *live)
{
	if (live->state == LIVE_WAITS) {
		live_connect(live);
	} else if (live->state == LIVE_CONNECTS) {
		live_link_note_loss(live, "it does not answer");
		live_link_handle_loss(live);
	}
}
