/* SPDX-License-Identifier: ISC */
/*
 * builtin:live-demo and the provider "demo": a live agent that needs no model and no network, so
 * that /v1/graph/live works with nothing but a microphone or a WAV file.
 *
 * An utterance is repeated, a text is said back, commands try out what a session can do.  Tests
 * rely on every detail:
 *
 * - What an utterance is, voice.h says: with silence_ms from vad.silence_duration_ms (500), or with
 *   vad.enabled false between activity_start and activity_end.  The other settings of vad are
 *   ignored.  <ms> is its length.
 * - Answers follow each other in the order of what they answer.  Their audio leaves in packets of
 *   100 ms, at most one second ahead of real time.  Speech that starts before the last packet of an
 *   answer has left ends that answer with `interrupted`, and no `turn_complete` follows.
 */
#include "base/buf.h"
#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/live/live.h"
#include "graph/live/voice.h"
#include "graph/message/message.h"
#include "model/realtime/resample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHITE " \t\r\n"
#define OUT_HZ 24000
#define SILENCE_MS 500
#define AHEAD_MS 1000
#define PACKET_MS 100
#define PACKET (OUT_HZ * PACKET_MS / 1000 * sizeof(int16_t)) /* bytes */
#define TONE_HZ 440
#define TONE_MS 200
#define LONG_MS 10000
#define TONE_LEVEL 8000
#define PENDING_MAX 100 /* turns; then no more input is taken */
#define RAMP_MS 5       /* a tone that starts all at once clicks */

/* A turn of the user that is to be answered. */
struct turn {
	struct turn *next;
	char *text;        /* a text turn; NULL: an utterance */
	struct buf speech; /* of an utterance, 16 kHz */
};

struct demo {
	ag_live_session *session;
	struct resampler *resampler;
	bool text_only, echo, ready, finishing, over;
	char handle[HEX_ID_SIZE + 8];

	struct voice voice;

	/* answering */
	struct turn *first, **last;
	size_t pending;
	bool busy;                     /* with the answer to the turn that was first */
	char call_id[HEX_ID_SIZE + 8]; /* the tool call that it waits for; "" when there is none */
	struct buf pcm;                /* audio of the answer, 24 kHz */
	size_t sent;                   /* bytes of pcm */
	char *after;                   /* transcript that follows the audio, or NULL */
	int64_t ahead;                 /* when what was sent will have been played */
};

/* ---- answering */

static void turn_free(struct turn *turn)
{
	free(turn->text);
	buf_release(&turn->speech);
	free(turn);
}

static struct turn *turn_add(struct demo *d)
{
	struct turn *turn = xcalloc(1, sizeof(*turn));
	*d->last = turn;
	d->last = &turn->next;
	d->pending++;
	return turn;
}

static struct turn *turn_take(struct demo *d)
{
	struct turn *turn = d->first;
	d->first = turn->next;
	if (!d->first)
		d->last = &d->first;
	d->pending--;
	return turn;
}

static void live_demo_end_answer(struct demo *d)
{
	d->busy = false;
	*d->call_id = '\0';
	buf_release(&d->pcm);
	d->sent = 0;
	free(d->after);
	d->after = NULL;
}

static void live_demo_add_tone(struct demo *d, int ms)
{
	size_t count = (size_t)OUT_HZ / 1000 * (size_t)ms;
	size_t ramp = (size_t)OUT_HZ / 1000 * RAMP_MS;
	if (d->text_only)
		return;
	for (size_t i = 0; i < count; i++) {
		size_t edge = i < count - i ? i : count - i;
		double gain = edge < ramp ? (double)edge / (double)ramp : 1;
		double angle = 2 * M_PI * TONE_HZ * (double)i / OUT_HZ;
		int16_t sample = (int16_t)lrint(TONE_LEVEL * gain * sin(angle));
		buf_add(&d->pcm, &sample, sizeof(sample));
	}
}

/* Says a piece a word, with the space before it; the last one comes with the whole.  A tone
 * follows. */
static void live_demo_say(struct demo *d, const char *text)
{
	size_t len;
	for (const char *p = text; p[len = message_word(p)]; p += len) {
		char *word = xstrndup(p, len);
		ag_live_output_transcript(d->session, word, false);
		free(word);
	}
	ag_live_output_transcript(d->session, text, true);
	live_demo_add_tone(d, TONE_MS);
}

static void live_demo_say_back(struct demo *d, const char *text)
{
	char *said = xasprintf("you said: %s", text);
	live_demo_say(d, said);
	free(said);
}

static void live_demo_repeat(struct demo *d, const struct turn *turn)
{
	size_t samples = turn->speech.len / sizeof(int16_t);
	char text[40];
	snprintf(text, sizeof(text), "heard %zu ms", samples * 1000 / VOICE_HZ);
	ag_live_input_transcript(d->session, text, true);
	if (!d->text_only && samples > 0) {
		resampler_reset(d->resampler);
		resampler_run(d->resampler, (const int16_t *)(const void *)turn->speech.data,
		    samples, &d->pcm);
	}
	d->after = xstrdup(text);
}

/* ---- commands */

static void live_demo_do_add(struct demo *d, const char *rest, const char *text)
{
	char hex[HEX_ID_SIZE];
	size_t first = strcspn(rest, WHITE);
	cJSON *a = json_parse(rest, first, 1, NULL);
	cJSON *b = json_parse(rest + first, strlen(rest + first), 1, NULL);
	if (!json_is_number(a) || !json_is_number(b)) {
		cJSON_Delete(a);
		cJSON_Delete(b);
		live_demo_say_back(d, text);
		return;
	}
	cJSON *args = cJSON_CreateObject();
	cJSON_AddItemToObject(args, "a", a);
	cJSON_AddItemToObject(args, "b", b);
	snprintf(d->call_id, sizeof(d->call_id), "call_%s", hex_id(hex));
	ag_live_tool_call(d->session, d->call_id, "add", args);
}

static void live_demo_do_echo(struct demo *d, const char *rest)
{
	bool on = strcmp(rest, "on") == 0;
	if (!on && strcmp(rest, "off") != 0)
		return;
	d->echo = on;
	voice_clear(&d->voice);
	resampler_reset(d->resampler);
}

static void live_demo_do_session(struct demo *d, const char *rest)
{
	(void)rest;
	ag_live_session_update(d->session, d->handle);
}

static void live_demo_do_go_away(struct demo *d, const char *rest)
{
	(void)rest;
	ag_live_go_away(d->session, 5);
}

static void live_demo_do_agent(struct demo *d, const char *rest)
{
	ag_live_agent_changed(d->session, rest);
}

static void live_demo_do_warn(struct demo *d, const char *rest)
{
	ag_live_error(d->session, "demo", false, "%s", rest);
}

static void live_demo_do_fatal(struct demo *d, const char *rest)
{
	ag_live_error(d->session, "demo", true, "%s", rest);
}

/* Those that are no turns. */
static const struct {
	const char *name;
	void (*run)(struct demo *d, const char *rest);
} commands[] = {{"/echo", live_demo_do_echo}, {"/session", live_demo_do_session},
    {"/go-away", live_demo_do_go_away}, {"/agent", live_demo_do_agent},
    {"/warn", live_demo_do_warn}, {"/fatal", live_demo_do_fatal}};

/* What follows the command of that name; NULL when text is another. */
static const char *live_demo_rest_of(const char *text, const char *name)
{
	size_t len = strlen(name);
	if (strncmp(text, name, len) != 0 || (text[len] && !strchr(WHITE, text[len])))
		return NULL;
	return text + len + strspn(text + len, WHITE);
}

/* ---- turns */

static void turn_start(struct demo *d, const struct turn *turn)
{
	const char *rest;
	if (!turn->text)
		live_demo_repeat(d, turn);
	else if (live_demo_rest_of(turn->text, "/long"))
		live_demo_add_tone(d, LONG_MS);
	else if ((rest = live_demo_rest_of(turn->text, "/add")))
		live_demo_do_add(d, rest, turn->text);
	else
		live_demo_say_back(d, turn->text);
}

/* Sends what may leave by now; the milliseconds until more may, 0 when all of it has left. */
static int64_t live_demo_send_audio(struct demo *d, int64_t now)
{
	if (d->ahead < now)
		d->ahead = now;
	while (d->sent < d->pcm.len) {
		size_t left = d->pcm.len - d->sent, bytes = left < PACKET ? left : PACKET;
		int64_t ms = (int64_t)(bytes * 1000 / sizeof(int16_t) / OUT_HZ);
		if (d->ahead + ms - now > AHEAD_MS)
			return d->ahead + ms - now - AHEAD_MS;
		ag_live_audio(d->session, d->pcm.data + d->sent, bytes);
		d->sent += bytes;
		d->ahead += ms;
	}
	return 0;
}

static int64_t live_demo_answer(struct demo *d, int64_t now)
{
	while (d->busy || d->first) {
		if (!d->busy) {
			struct turn *turn = turn_take(d);
			d->busy = true;
			turn_start(d, turn);
			turn_free(turn);
		}
		if (*d->call_id)
			return -1;
		int64_t wait = live_demo_send_audio(d, now);
		if (wait > 0)
			return wait;
		if (d->after)
			ag_live_output_transcript(d->session, d->after, true);
		live_demo_end_answer(d);
		ag_live_turn_complete(d->session);
	}
	return -1;
}

/* Speech starts: what is being said stops. */
static void live_demo_speech_started(void *owner)
{
	struct demo *d = owner;
	if (!d->busy || *d->call_id)
		return;
	live_demo_end_answer(d);
	d->ahead = 0;
	ag_live_interrupted(d->session);
}

static void live_demo_speech_ended(void *owner, struct buf speech)
{
	turn_add(owner)->speech = speech;
}

/* ---- listening */

static void demo_audio(void *connection, const void *pcm, size_t bytes)
{
	struct demo *d = connection;
	size_t count = bytes / sizeof(int16_t);
	struct buf out = {0};
	if (!d->echo) {
		voice_hear(&d->voice, pcm, count);
	} else if (!d->text_only) {
		resampler_run(d->resampler, pcm, count, &out);
		ag_live_audio(d->session, out.data, out.len);
		buf_release(&out);
	}
}

static void demo_activity(void *connection, bool starts)
{
	struct demo *d = connection;
	if (!d->echo)
		voice_activity(&d->voice, starts);
}

static void demo_text(void *connection, const char *text)
{
	struct demo *d = connection;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *rest = live_demo_rest_of(text, commands[i].name);
		if (rest) {
			commands[i].run(d, rest);
			return;
		}
	}
	turn_add(d)->text = xstrdup(text);
}

static void demo_tool_result(
    void *connection, const char *call_id, const char *name, const cJSON *result, bool is_error)
{
	struct demo *d = connection;
	(void)name;
	if (!d->busy || strcmp(d->call_id, call_id) != 0)
		return;
	*d->call_id = '\0';
	char *value = cJSON_IsString(result) ? xstrdup(result->valuestring) : json_print(result);
	char *said = xasprintf("%s: %s", is_error ? "tool failed" : "sum", value);
	live_demo_say(d, said);
	free(said);
	free(value);
}

/* ---- the connection */

static void *demo_open(ag_live_session *session, const struct ag_live_setup *setup, void *data)
{
	struct demo *d = xcalloc(1, sizeof(*d));
	char hex[HEX_ID_SIZE];
	int64_t silence_ms = SILENCE_MS;
	(void)data;
	json_integer(json_opt(setup->vad, "silence_duration_ms"), &silence_ms);
	d->session = session;
	d->last = &d->first;
	d->text_only = setup->text;
	d->voice = (struct voice){
	    .told = cJSON_IsFalse(json_opt(setup->vad, "enabled")),
	    .silence_ms = (int)silence_ms,
	    .started = live_demo_speech_started,
	    .ended = live_demo_speech_ended,
	    .owner = d,
	};
	d->resampler = resampler_new(VOICE_HZ, OUT_HZ);
	if (setup->resumption_handle)
		snprintf(d->handle, sizeof(d->handle), "%s", setup->resumption_handle);
	else
		snprintf(d->handle, sizeof(d->handle), "demo-%s", hex_id(hex));
	if (d->resampler)
		return d;
	free(d);
	return NULL;
}

static void demo_close(void *connection)
{
	struct demo *d = connection;
	while (d->first)
		turn_free(turn_take(d));
	live_demo_end_answer(d);
	voice_clear(&d->voice);
	resampler_free(d->resampler);
	free(d);
}

static bool demo_takes(void *connection)
{
	const struct demo *d = connection;
	return d->pending < PENDING_MAX;
}

static void demo_finish(void *connection)
{
	struct demo *d = connection;
	d->finishing = true;
	voice_finish(&d->voice);
}

static int demo_descriptor(void *connection, short *events)
{
	(void)connection, (void)events;
	return -1;
}

static int64_t demo_step(void *connection, int64_t now)
{
	struct demo *d = connection;
	if (!d->ready) {
		d->ready = true;
		ag_live_ready(d->session);
	}
	int64_t wait = live_demo_answer(d, now);
	if (d->finishing && !d->over && !d->busy) {
		d->over = true;
		ag_live_ended(d->session);
	}
	return wait;
}

const struct ag_live_provider live_demo_provider = {
    .kind = AG_LIVE_PROVIDER,
    .open = demo_open,
    .close = demo_close,
    .takes = demo_takes,
    .audio = demo_audio,
    .text = demo_text,
    .activity = demo_activity,
    .tool_result = demo_tool_result,
    .finish = demo_finish,
    .descriptor = demo_descriptor,
    .step = demo_step,
};

int graph_live_demo(ag_graph *graph)
{
	static const char *const tags[] = {"math", NULL};
	const struct ag_live live = {
	    .kind = AG_LIVE, .provider = &live_demo_provider, .model = "demo", .tools = "tools"};
	ag_graph_live(graph, "agent", &live);
	ag_graph_tools(graph, "tools");
	graph_demo_add(graph);
	ag_graph_tool_tags(graph, "tools", "add", tags);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_edge(graph, "agent", AG_END);
	return 0;
}
