/*
 * builtin:live-demo and the provider "demo": a live agent that needs no model and no network, so
 * that /v1/graph/live works with nothing but a microphone or a WAV file.
 *
 * An utterance is repeated, a text is said back, commands try out what a session can do.  Tests
 * rely on every detail:
 *
 * - A window is 20 ms, counted from the first sample; it is loud when its root mean square is above
 *   -45 dB of full scale (32768).  An utterance starts with three loud windows in a row, and ends
 *   when vad.silence_duration_ms (500) have passed in windows that are not loud, or with the input.
 *   It reaches from its first loud window to its last one; <ms> is its length.
 * - With vad.enabled false it is the audio between activity_start and activity_end instead.
 * - An utterance is 60 s at most: with voice activity another one may follow, else the rest is not
 *   heard.  The other settings of vad are ignored.
 * - Answers follow each other in the order of what they answer.  Their audio leaves in packets of
 *   100 ms, at most one second ahead of real time.  Speech that starts before the last packet of an
 *   answer has left ends that answer with `interrupted`, and no `turn_complete` follows.
 */
#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/live.h"
#include "model/resample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHITE " \t\r\n"
#define IN_HZ 16000
#define OUT_HZ 24000
#define WINDOW_MS 20
#define WINDOW (IN_HZ * WINDOW_MS / 1000) /* samples */
#define START_MS 60
#define SILENCE_MS 500
#define LONGEST_MS 60000
#define AHEAD_MS 1000
#define PACKET_MS 100
#define PACKET (OUT_HZ * PACKET_MS / 1000 * sizeof(int16_t)) /* bytes */
#define LOUD (32768.0 * 32768.0 * 3.1622776601683795e-5)     /* -45 dB, squared */
#define TONE_HZ 440
#define TONE_MS 200
#define LONG_MS 10000
#define TONE_LEVEL 8000
#define PENDING_MAX 100 /* then no more input is taken */
#define RAMP_MS 5       /* a tone that starts at once clicks */

/* What is to be answered. */
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

	/* listening */
	bool vad_enabled;
	int silence_ms;
	int16_t window[WINDOW];
	size_t filled;         /* samples of the window */
	bool speaking;         /* inside an utterance */
	int loud_ms, quiet_ms; /* in a row */
	struct buf utterance;  /* also the loud windows that may become one */

	/* answering */
	struct turn *first, **last;
	size_t pending;
	bool busy;                     /* with the answer to what was first */
	char call_id[HEX_ID_SIZE + 8]; /* the tool call that it waits for; "" when there is none */
	struct buf pcm;                /* audio of the answer, 24 kHz */
	size_t sent;                   /* of pcm */
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

static void answer_end(struct demo *d)
{
	d->busy = false;
	*d->call_id = '\0';
	buf_release(&d->pcm);
	d->sent = 0;
	free(d->after);
	d->after = NULL;
}

static void add_tone(struct demo *d, int ms)
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

/* One piece a word, with the space before it, then the whole; the tone follows. */
static void say(struct demo *d, const char *text)
{
	for (const char *p = text; *p;) {
		size_t space = strspn(p, WHITE);
		size_t len = space + strcspn(p + space, WHITE);
		char *word = xstrndup(p, len);
		ag_live_output_transcript(d->session, word, false);
		free(word);
		p += len;
	}
	ag_live_output_transcript(d->session, text, true);
	add_tone(d, TONE_MS);
}

static void say_back(struct demo *d, const char *text)
{
	char *said = xasprintf("you said: %s", text);
	say(d, said);
	free(said);
}

static void repeat(struct demo *d, const struct turn *turn)
{
	size_t samples = turn->speech.len / sizeof(int16_t);
	char text[40];
	snprintf(text, sizeof(text), "heard %zu ms", samples * 1000 / IN_HZ);
	ag_live_input_transcript(d->session, text, true);
	if (!d->text_only && samples > 0) {
		resampler_reset(d->resampler);
		resampler_run(d->resampler, (const int16_t *)(const void *)turn->speech.data,
		    samples, &d->pcm);
	}
	d->after = xstrdup(text);
}

/* ---- commands */

static void do_add(struct demo *d, const char *rest, const char *text)
{
	char hex[HEX_ID_SIZE];
	size_t first = strcspn(rest, WHITE);
	cJSON *a = json_parse(rest, first, 1, NULL);
	cJSON *b = json_parse(rest + first, strlen(rest + first), 1, NULL);
	if (!json_is_number(a) || !json_is_number(b)) {
		cJSON_Delete(a);
		cJSON_Delete(b);
		say_back(d, text);
		return;
	}
	cJSON *args = cJSON_CreateObject();
	cJSON_AddItemToObject(args, "a", a);
	cJSON_AddItemToObject(args, "b", b);
	snprintf(d->call_id, sizeof(d->call_id), "call_%s", hex_id(hex));
	ag_live_tool_call(d->session, d->call_id, "add", args);
}

static void do_echo(struct demo *d, const char *rest)
{
	bool on = strcmp(rest, "on") == 0;
	if (!on && strcmp(rest, "off") != 0)
		return;
	d->echo = on;
	d->speaking = false;
	d->filled = 0;
	d->loud_ms = 0;
	buf_release(&d->utterance);
	resampler_reset(d->resampler);
}

static void do_session(struct demo *d, const char *rest)
{
	(void)rest;
	ag_live_session_update(d->session, d->handle);
}

static void do_go_away(struct demo *d, const char *rest)
{
	(void)rest;
	ag_live_go_away(d->session, 5);
}

static void do_agent(struct demo *d, const char *rest)
{
	ag_live_agent_changed(d->session, rest);
}

static void do_warn(struct demo *d, const char *rest)
{
	ag_live_error(d->session, "demo", false, "%s", rest);
}

static void do_fatal(struct demo *d, const char *rest)
{
	ag_live_error(d->session, "demo", true, "%s", rest);
}

/* Those that are no turns. */
static const struct {
	const char *name;
	void (*run)(struct demo *d, const char *rest);
} commands[] = {{"/echo", do_echo}, {"/session", do_session}, {"/go-away", do_go_away},
    {"/agent", do_agent}, {"/warn", do_warn}, {"/fatal", do_fatal}};

/* What follows the command of that name; NULL when text is another. */
static const char *rest_of(const char *text, const char *name)
{
	size_t len = strlen(name);
	if (strncmp(text, name, len) != 0 || (text[len] && !strchr(WHITE, text[len])))
		return NULL;
	return text + len + strspn(text + len, WHITE);
}

static bool run_command(struct demo *d, const char *text)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *rest = rest_of(text, commands[i].name);
		if (rest) {
			commands[i].run(d, rest);
			return true;
		}
	}
	return false;
}

/* ---- turns */

static void turn_start(struct demo *d, const struct turn *turn)
{
	const char *rest;
	if (!turn->text)
		repeat(d, turn);
	else if (rest_of(turn->text, "/long"))
		add_tone(d, LONG_MS);
	else if ((rest = rest_of(turn->text, "/add")))
		do_add(d, rest, turn->text);
	else
		say_back(d, turn->text);
}

/* Sends what may leave by now; the milliseconds until more may, 0 when all of it has left. */
static int64_t send_audio(struct demo *d, int64_t now)
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

static void answer_complete(struct demo *d)
{
	if (d->after)
		ag_live_output_transcript(d->session, d->after, true);
	answer_end(d);
	ag_live_turn_complete(d->session);
}

static int64_t answer(struct demo *d, int64_t now)
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
		int64_t wait = send_audio(d, now);
		if (wait > 0)
			return wait;
		answer_complete(d);
	}
	return -1;
}

/* Speech starts: what is being said stops. */
static void interrupt(struct demo *d)
{
	if (!d->busy || *d->call_id)
		return;
	answer_end(d);
	d->ahead = 0;
	ag_live_interrupted(d->session);
}

/* ---- listening */

static void utterance_end(struct demo *d, size_t samples)
{
	struct turn *turn = turn_add(d);
	d->utterance.len = samples * sizeof(int16_t);
	turn->speech = d->utterance;
	d->utterance = (struct buf){0};
	d->speaking = false;
	d->loud_ms = d->quiet_ms = 0;
}

/* Without the silence at its end. */
static void utterance_end_loud(struct demo *d)
{
	size_t quiet = (size_t)(d->quiet_ms / WINDOW_MS) * WINDOW;
	utterance_end(d, d->utterance.len / sizeof(int16_t) - quiet);
}

static bool is_loud(const int16_t *samples)
{
	double sum = 0;
	for (size_t i = 0; i < WINDOW; i++)
		sum += (double)samples[i] * samples[i];
	return sum / WINDOW > LOUD;
}

static bool is_longest(const struct demo *d)
{
	return d->utterance.len >= (size_t)IN_HZ / 1000 * LONGEST_MS * sizeof(int16_t);
}

static void hear_window(struct demo *d)
{
	bool loud = is_loud(d->window);
	d->loud_ms = loud ? d->loud_ms + WINDOW_MS : 0;
	d->quiet_ms = loud ? 0 : d->quiet_ms + WINDOW_MS;
	if (!d->speaking && !loud) {
		buf_release(&d->utterance);
		return;
	}
	buf_add(&d->utterance, d->window, sizeof(d->window));
	if (!d->speaking && d->loud_ms >= START_MS) {
		d->speaking = true;
		interrupt(d);
	}
	if (d->speaking && (d->quiet_ms >= d->silence_ms || is_longest(d)) && !loud)
		utterance_end_loud(d);
	else if (d->speaking && is_longest(d))
		utterance_end(d, d->utterance.len / sizeof(int16_t));
}

static void hear(struct demo *d, const int16_t *samples, size_t count)
{
	while (count > 0) {
		size_t n = WINDOW - d->filled < count ? WINDOW - d->filled : count;
		memcpy(d->window + d->filled, samples, n * sizeof(*samples));
		d->filled += n;
		samples += n;
		count -= n;
		if (d->filled < WINDOW)
			return;
		d->filled = 0;
		hear_window(d);
	}
}

static void echo(struct demo *d, const int16_t *samples, size_t count)
{
	struct buf out = {0};
	if (d->text_only)
		return;
	resampler_run(d->resampler, samples, count, &out);
	ag_live_audio(d->session, out.data, out.len);
	buf_release(&out);
}

static void demo_audio(void *connection, const void *pcm, size_t bytes)
{
	struct demo *d = connection;
	if (d->echo)
		echo(d, pcm, bytes / sizeof(int16_t));
	else if (d->vad_enabled)
		hear(d, pcm, bytes / sizeof(int16_t));
	else if (d->speaking && !is_longest(d))
		buf_add(&d->utterance, pcm, bytes);
}

static void demo_activity(void *connection, bool starts)
{
	struct demo *d = connection;
	if (d->vad_enabled || d->echo || starts == d->speaking)
		return;
	d->speaking = starts;
	if (starts)
		interrupt(d);
	else
		utterance_end(d, d->utterance.len / sizeof(int16_t));
}

static void demo_text(void *connection, const char *text)
{
	struct demo *d = connection;
	if (!run_command(d, text))
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
	say(d, said);
	free(said);
	free(value);
}

/* ---- the connection */

static int silence_of(const cJSON *vad)
{
	int64_t ms;
	return json_integer(json_opt(vad, "silence_duration_ms"), &ms) ? (int)ms : SILENCE_MS;
}

static void *demo_open(ag_live_session *session, const struct ag_live_setup *setup, void *data)
{
	struct demo *d = xcalloc(1, sizeof(*d));
	char hex[HEX_ID_SIZE];
	(void)data;
	d->session = session;
	d->last = &d->first;
	d->text_only = setup->text;
	d->vad_enabled = !cJSON_IsFalse(json_opt(setup->vad, "enabled"));
	d->silence_ms = silence_of(setup->vad);
	d->resampler = resampler_new(IN_HZ, OUT_HZ);
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
	answer_end(d);
	buf_release(&d->utterance);
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
	if (d->speaking)
		utterance_end_loud(d);
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
	int64_t wait = answer(d, now);
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
	graph_demo_add(graph, "tools");
	ag_graph_tool_tags(graph, "tools", "add", tags);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_edge(graph, "agent", AG_END);
	return 0;
}
