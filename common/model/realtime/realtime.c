/* SPDX-License-Identifier: ISC */
/* The connection to a realtime provider, whatever its dialect. */
#include "model/realtime/realtime_dialect.h"

#include "base/base64.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "model/names.h"
#include "model/provider.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SILENCE_MS 500
#define MESSAGES_A_STEP 64
/* Bytes that wait to be sent; then no more input is taken. */
#define WAITING_MOST ((size_t)256 << 10)

/* ---- For the dialects */

double realtime_sensitivity(const cJSON *vad, const char *name)
{
	double value;
	const char *word = json_str(vad, name);
	if (word && strcasecmp(word, "HIGH") == 0)
		return 0.7;
	if (word && strcasecmp(word, "LOW") == 0)
		return 0.3;
	if (!json_number(json_opt(vad, name), &value) || value < 0 || value > 1)
		return -1;
	return value;
}

void realtime_send(struct realtime *r, cJSON *event)
{
	char *text = json_print(event);
	cJSON_Delete(event);
	r->send(r, text);
	cJSON_free(text);
}

void realtime_ready(struct realtime *r)
{
	if (r->ready)
		return;
	r->ready = true;
	ag_live_ready(r->session);
}

/* The text without the key, which a provider may repeat; malloc'd. */
static char *realtime_without_key(const struct realtime *r, const char *text)
{
	struct buf out = {0};
	const char *key = r->settings->key, *found;
	while (key && *key && (found = strstr(text, key))) {
		buf_printf(&out, "%.*s(key)", (int)(found - text), text);
		text = found + strlen(key);
	}
	buf_puts(&out, text);
	return buf_detach(&out);
}

/* Ends the connection; the service may make another. */
static void realtime_lose(struct realtime *r, const char *why)
{
	char *text = realtime_without_key(r, why);
	r->over = true;
	ag_live_lost(r->session, "%s: %s", r->dialect->name, text);
	free(text);
}

void realtime_error(struct realtime *r, const char *code, bool fatal, const char *message)
{
	if (!message || !*message)
		message = "the provider reports an error";
	if (!fatal && !r->ready) {
		realtime_lose(r, message);
		return;
	}
	char *text = realtime_without_key(r, message);
	r->over |= fatal;
	ag_live_error(r->session, code && *code ? code : "provider_error", fatal, "%s", text);
	free(text);
}

int64_t realtime_play(struct realtime *r, const char *base64, unsigned hz)
{
	struct buf out = {0}, whole = {0};
	size_t bytes;
	char *decoded = base64_decode(base64, &bytes);
	if (!decoded) {
		realtime_lose(r, "it sent audio that is no base64");
		return 0;
	}
	/* half a sample that no audio follows at once belongs to nothing */
	if (r->halved && r->ahead >= r->now)
		buf_putc(&whole, r->half);
	buf_add(&whole, decoded, bytes);
	free(decoded);
	r->halved = whole.len % 2;
	if (r->halved)
		r->half = whole.data[--whole.len];
	const char *pcm = buf_str(&whole);
	bytes = whole.len;
	int64_t ms = (int64_t)(bytes / 2 * 1000 / hz);
	if (hz == REALTIME_OUT_HZ) {
		ag_live_audio(r->session, pcm, bytes);
	} else {
		if (r->out_hz != hz) {
			resampler_free(r->out);
			r->out = resampler_new(hz, REALTIME_OUT_HZ);
			r->out_hz = hz;
		}
		if (r->out)
			resampler_run(r->out, (const int16_t *)(const void *)pcm, bytes / 2, &out);
		ag_live_audio(r->session, out.data, out.len);
		buf_release(&out);
	}
	r->ahead = (r->ahead > r->now ? r->ahead : r->now) + ms;
	buf_release(&whole);
	return ms;
}

void realtime_call_add(struct realtime *r, const char *id, const char *name, cJSON *args)
{
	size_t len = strlen(id);
	struct realtime_call *call = xmalloc(sizeof(*call) + len + 1);
	memcpy(call->id, id, len + 1);
	call->next = r->calls;
	r->calls = call;
	ag_live_tool_call(r->session, id, chat_name_own(r->names, name), args);
}

bool realtime_call_end(struct realtime *r, const char *id)
{
	struct realtime_call **at = &r->calls;
	while (*at && strcmp((*at)->id, id) != 0)
		at = &(*at)->next;
	struct realtime_call *call = *at;
	if (!call)
		return false;
	*at = call->next;
	free(call);
	return true;
}

/* ---- What comes */

void realtime_take(struct realtime *r, char *text, size_t len)
{
	cJSON *event = chat_parse(text, len);
	r->last = r->now;
	if (cJSON_IsObject(event))
		r->dialect->take(r, event);
	else
		realtime_lose(r, "it sent what is no JSON object");
	cJSON_Delete(event);
}

static bool realtime_take_news(struct realtime *r)
{
	char *text;
	size_t len;
	enum realtime_news news = realtime_socket_take(r->socket, &text, &len);
	switch (news) {
	case REALTIME_NOTHING:
		break;
	case REALTIME_OPENED:
		r->send(r, r->opening);
		break;
	case REALTIME_MESSAGE:
		realtime_take(r, text, len);
		break;
	case REALTIME_CLOSED:
		realtime_lose(r, text);
		break;
	}
	free(text);
	return news != REALTIME_NOTHING;
}

static int64_t realtime_step(void *connection, int64_t now)
{
	struct realtime *r = connection;
	bool more = true;
	r->now = now;
	if (r->over)
		return -1;
	if (r->problem) {
		if (r->fatal)
			realtime_error(r, "provider_error", true, r->problem);
		else
			realtime_lose(r, r->problem);
		return -1;
	}
	for (int i = 0; i < MESSAGES_A_STEP && more && !r->over; i++)
		more = realtime_take_news(r);
	if (r->over || more)
		return r->over ? -1 : 0;
	if (r->again && now >= r->again) { /* tries what could not be done */
		r->again = 0;
		r->dialect->again(r);
	}
	int64_t again = r->again ? r->again - now : -1;
	int64_t rest = r->finishing && r->ready ? r->dialect->rest(r) : -1;
	if (rest < 0)
		return again;
	int64_t left = r->last + rest - now;
	if (left > 0)
		return again < 0 || left < again ? left : again;
	r->over = true;
	ag_live_ended(r->session);
	return again;
}

static int realtime_descriptor(void *connection, short *events)
{
	const struct realtime *r = connection;
	*events = POLLIN;
	return r->socket && !r->over ? realtime_socket_descriptor(r->socket) : -1;
}

/* ---- What goes */

static bool realtime_takes(void *connection)
{
	const struct realtime *r = connection;
	return !r->socket || realtime_socket_waiting(r->socket) < WAITING_MOST;
}

static void realtime_audio(void *connection, const void *pcm, size_t bytes)
{
	struct realtime *r = connection;
	struct buf out = {0};
	if (r->over || (r->manual && !r->speaking))
		return;
	r->fed = r->used = true;
	r->last = r->now;
	if (!r->in) {
		r->dialect->audio(r, pcm, bytes);
		return;
	}
	resampler_run(r->in, pcm, bytes / sizeof(int16_t), &out);
	if (out.len > 0)
		r->dialect->audio(r, out.data, out.len);
	buf_release(&out);
}

static void realtime_text(void *connection, const char *said)
{
	struct realtime *r = connection;
	if (r->over)
		return;
	r->used = true;
	r->dialect->text(r, said);
}

static void realtime_activity(void *connection, bool starts)
{
	struct realtime *r = connection;
	if (r->over || !r->manual || starts == r->speaking)
		return;
	r->speaking = starts;
	if (starts)
		r->fed = false;
	r->dialect->activity(r, starts);
}

static void realtime_tool_result(
    void *connection, const char *id, const char *name, const cJSON *result, bool is_error)
{
	struct realtime *r = connection;
	char room[CHAT_NAME_SIZE];
	if (!r->over && realtime_call_end(r, id))
		r->dialect->tool_result(
		    r, id, chat_name_sent(r->names, name, room), result, is_error);
}

static void realtime_finish(void *connection)
{
	struct realtime *r = connection;
	if (r->over || r->finishing)
		return;
	if (r->manual)
		realtime_activity(r, false);
	r->finishing = true;
	r->last = r->now;
	r->dialect->finish(r);
}

/* ---- Its life */

static void realtime_send_by_socket(struct realtime *r, const char *message)
{
	if (r->socket)
		realtime_socket_send(r->socket, message);
}

/* Merges extra, in which null is a value: it turns off what the provider has on. */
static void realtime_merge(cJSON *into, const cJSON *extra)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, extra) {
		cJSON *own = json_get(into, member->string);
		if (cJSON_IsObject(own) && cJSON_IsObject(member))
			realtime_merge(own, member);
		else
			json_set(into, member->string, cJSON_Duplicate(member, true));
	}
}

struct realtime *realtime_new(ag_live_session *session, const struct ag_live_setup *setup,
    const struct realtime_settings *settings)
{
	struct realtime *r = xcalloc(1, sizeof(*r));
	int64_t ms;
	r->session = session;
	r->settings = settings;
	r->dialect = settings->dialect;
	r->send = realtime_send_by_socket;
	r->model = xstrdup(setup->model);
	r->text_only = setup->text;
	r->manual = cJSON_IsFalse(json_opt(setup->vad, "enabled"));
	r->silence_ms =
	    json_integer(json_opt(setup->vad, "silence_duration_ms"), &ms) ? (int)ms : SILENCE_MS;
	r->now = r->last = clock_monotonic_ms();
	/* the first event, in which tools have the names that are sent */
	struct ag_live_setup sent = *setup;
	cJSON *tools = cJSON_Duplicate(setup->tools, true), *tool;
	char room[CHAT_NAME_SIZE];
	r->names = chat_names_new(tools);
	cJSON_ArrayForEach(tool, tools) {
		const char *name = chat_name_sent(r->names, json_str(tool, "name"), room);
		json_set(tool, "name", cJSON_CreateString(name));
	}
	sent.tools = tools;
	cJSON *event = r->dialect->opening(&sent);
	cJSON_Delete(tools);
	realtime_merge(json_get(event, r->dialect->session), settings->extra);
	r->opening = json_print(event);
	cJSON_Delete(event);
	if (r->dialect->in_hz == REALTIME_IN_HZ)
		return r;
	r->in = resampler_new(REALTIME_IN_HZ, r->dialect->in_hz);
	if (!r->in)
		r->problem = xstrdup("audio cannot be resampled"), r->fatal = true;
	return r;
}

void realtime_free(struct realtime *r)
{
	while (r->calls)
		realtime_call_end(r, r->calls->id);
	realtime_socket_close(r->socket);
	resampler_free(r->in);
	resampler_free(r->out);
	cJSON_Delete(r->names);
	free(r->opening);
	free(r->problem);
	free(r->item);
	free(r->model);
	free(r);
}

static void *realtime_open(ag_live_session *session, const struct ag_live_setup *setup, void *data)
{
	if (!data)
		return NULL;
	struct realtime *r = realtime_new(session, setup, data);
	if (r->settings->lack) {
		free(r->problem);
		r->problem =
		    xasprintf("expected the environment variable %s, for the key, to be set",
			r->settings->lack);
		r->fatal = true;
	}
	if (r->problem)
		return r;
	struct realtime_address address;
	const char *why = NULL, *key = r->settings->key;
	char *url = r->dialect->url(r, setup->model);
	char *value = key && r->dialect->header ? xasprintf("%s%s", r->dialect->prefix, key) : NULL;
	if (!realtime_address_read(&address, url)) {
		r->problem = xstrdup("the URL of the provider is none");
		r->fatal = true;
	} else {
		r->socket = realtime_socket_open(&address, r->dialect->header, value, &why);
		r->problem = xstrdup(r->socket ? NULL : why);
		realtime_address_release(&address);
	}
	free(url);
	secret_free(value);
	return r;
}

static void realtime_close(void *connection)
{
	realtime_free(connection);
}

const struct ag_live_provider realtime_provider = {
    .kind = AG_LIVE_PROVIDER,
    .open = realtime_open,
    .close = realtime_close,
    .takes = realtime_takes,
    .audio = realtime_audio,
    .text = realtime_text,
    .activity = realtime_activity,
    .tool_result = realtime_tool_result,
    .finish = realtime_finish,
    .descriptor = realtime_descriptor,
    .step = realtime_step,
};
