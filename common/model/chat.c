/* SPDX-License-Identifier: ISC */
/* One call: its tries at each model, and what is said of those that failed. */
#include "model/chat.h"

#include "base/http/sse.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "model/provider.h"
#include "model/repeat.h"
#include "model/retry.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of an answer that is not streamed, or of one event. */
#define MAX_WHOLE ((size_t)32 << 20)
#define MAX_STREAM ((size_t)256 << 20)
#define MAX_SAID 500   /* bytes of what a provider says of a failure */
#define LINGER_MS 2000 /* how long a stream may stay open after the event that ends it */
#define MAX_HEADERS 64

/* One request to a model, and what has come of it. */
struct attempt {
	const struct chat_target *target;
	const struct chat_request *request;
	struct chat_answer answer;
	struct http_response response;
	struct sse sse;
	struct chat_repeat repeat;
	struct buf whole;
	size_t streamed;
	int64_t ended_at;
	bool is_stream;
	bool done;   /* the stream said so itself: what follows is not read */
	bool closed; /* no more bytes come */
	bool stopped;
};

/* ---- The answer arrives */

static bool attempt_wants_more(const struct attempt *t)
{
	return !t->answer.fault && !t->answer.unwanted;
}

/* After an event; bytes were there before it.  Of what follows the end only more of the answer, as
 * old Geminis send it, makes it linger. */
static bool attempt_took(struct attempt *t, size_t bytes)
{
	if (t->answer.ended && (!t->ended_at || t->answer.bytes > bytes))
		t->ended_at = clock_monotonic_ms();
	return attempt_wants_more(t);
}

static bool attempt_on_event(const struct sse_event *event, void *arg)
{
	struct attempt *t = arg;
	size_t bytes = t->answer.bytes;
	if (t->done)
		return true;
	if (strcmp(event->data, "[DONE]") == 0) {
		t->done = t->answer.ended = true;
		if (!t->answer.count && !t->answer.finish)
			chat_answer_fault(
			    &t->answer, FAULT_PASSES, "gave an answer without a message");
		return attempt_took(t, bytes);
	}
	if (event->data[strspn(event->data, " \n")] == '\0')
		return true; /* only there to keep the connection */
	if (chat_repeat_take(&t->repeat, &t->answer, event))
		return attempt_took(t, bytes);
	char *text = xstrndup(event->data, event->len);
	const struct sse_event mended = {.name = event->name, .data = text, .len = event->len};
	cJSON *data = chat_parse(text, event->len);
	if (data) {
		t->target->provider->take_event(&t->answer, event->name, data);
		chat_repeat_learn(&t->repeat, &t->answer, bytes, &mended);
	} else if (!t->answer.ended && !t->closed) { /* the last event may be cut off */
		chat_answer_fault(&t->answer, FAULT_PASSES, "sent an event that is not JSON");
	}
	cJSON_Delete(data);
	free(text);
	return attempt_took(t, bytes);
}

/* The head of an answer: it is a stream, unless it says that it is something else. */
static bool attempt_on_head(int status, void *arg)
{
	struct attempt *t = arg;
	char *type = http_response_header(&t->response, "Content-Type");
	bool other = type && (strcasestr(type, "json") || strcasestr(type, "html"));
	t->is_stream = status / 100 == 2 && t->target->stream && !other;
	free(type);
	return true;
}

static void attempt_on_idle(void *arg)
{
	struct attempt *t = arg;
	chat_answer_hand_on(&t->answer);
}

static bool attempt_on_data(const char *data, size_t len, void *arg)
{
	struct attempt *t = arg;
	if (!t->is_stream) {
		bool fits = len <= MAX_WHOLE - t->whole.len;
		if (fits)
			buf_add(&t->whole, data, len);
		else
			chat_answer_fault(&t->answer, FAULT_STAYS, "sent too large an answer");
		return fits;
	}
	t->streamed += len;
	if (t->streamed > MAX_STREAM)
		chat_answer_fault(&t->answer, FAULT_STAYS, "sent too long an answer");
	if (!t->answer.fault && !sse_feed(&t->sse, data, len) && t->sse.too_large)
		chat_answer_fault(&t->answer, FAULT_STAYS, "sent too large an event");
	return attempt_wants_more(t);
}

/* A server need not close its stream. */
static bool attempt_on_stop(void *arg)
{
	struct attempt *t = arg;
	if (t->request->stop && t->request->stop(t->request->arg))
		t->stopped = true;
	bool lingers = t->ended_at && clock_monotonic_ms() - t->ended_at > LINGER_MS;
	return t->stopped || lingers || t->answer.unwanted;
}

/* ---- The request goes out */

static void attempt_post(struct attempt *t, const char *body, int64_t deadline_ms)
{
	const struct chat_target *target = t->target;
	const struct chat_provider *provider = target->provider;
	struct http_header headers[MAX_HEADERS] = {{"Content-Type", "application/json"},
	    {"Accept",
		target->stream ? "text/event-stream, application/json" : "application/json"}};
	size_t n = 2;
	char *url = provider->url(target->base_url, target->model, target->stream);
	char *key = target->key ? xasprintf("%s%s", provider->key_prefix, target->key) : NULL;
	if (key)
		headers[n++] = (struct http_header){provider->key_header, key};
	if (provider->header.name)
		headers[n++] = provider->header;
	n += trace_headers_put(&t->request->trace, headers + n);
	for (size_t i = 0; i < target->header_count && n < MAX_HEADERS; i++)
		headers[n++] = target->headers[i];
	struct http_request request = {.url = url,
	    .headers = headers,
	    .header_count = n,
	    .body = body,
	    .body_len = strlen(body),
	    .connect_ms = target->times.connect,
	    .first_byte_ms = target->times.first_byte,
	    .idle_ms = target->times.idle,
	    .deadline_ms = deadline_ms,
	    .on_head = attempt_on_head,
	    .on_data = attempt_on_data,
	    .on_idle = attempt_on_idle,
	    .stop = attempt_on_stop,
	    .arg = t};
	http_call(&request, &t->response);
	secret_free(key);
	free(url);
}

static void attempt_release(struct attempt *t)
{
	chat_answer_release(&t->answer);
	http_response_release(&t->response);
	sse_release(&t->sse);
	chat_repeat_release(&t->repeat);
	buf_release(&t->whole);
}

/* ---- What came of it */

static bool attempt_is_good(const struct attempt *t)
{
	return !t->answer.fault && !t->answer.unwanted && !t->stopped;
}

/* Looks at what has come.  False when it is no answer; then the fault says why, except where the
 * HTTP call failed, or has another status. */
static bool attempt_complete(struct attempt *t)
{
	struct chat_answer *answer = &t->answer;
	if (t->response.status / 100 != 2)
		return false;
	if (t->response.end == HTTP_DONE && attempt_is_good(t)) { /* nothing more comes */
		if (!t->is_stream) {
			cJSON *body = chat_parse(t->whole.data, t->whole.len);
			if (body)
				t->target->provider->take_whole(answer, body);
			else
				chat_answer_fault(
				    answer, FAULT_PASSES, "gave an answer that is not JSON");
			cJSON_Delete(body);
		} else if (!answer->ended) {
			t->closed = true;
			sse_finish(&t->sse);
		}
		if (!answer->ended)
			chat_answer_fault(answer, FAULT_PASSES, "broke off its answer");
	}
	chat_answer_hand_on(answer);
	return answer->ended && attempt_is_good(t);
}

/* What http_failure does not say, as it names hosts and ports, is for the log. */
static void attempt_log_reason(const struct attempt *t)
{
	const struct http_response *response = &t->response;
	struct buf why = {0};
	if (t->answer.fault || strcmp(http_failure(response), response->reason) == 0)
		return;
	clean_text(&why, response->reason, t->target->key, MAX_SAID);
	log_warning("%s model %s: %s", t->target->provider->name, t->target->model, buf_str(&why));
	buf_release(&why);
}

/* "openai model gpt-x: answered 429: …" */
static void attempt_describe(struct attempt *t, struct buf *out)
{
	buf_puts(out, out->len ? "; " : "");
	buf_printf(out, "%s model ", t->target->provider->name);
	clean_text(out, t->target->model, t->target->key, 200);
	buf_puts(out, ": ");
	if (t->answer.fault) {
		clean_text(out, t->answer.fault, t->target->key, MAX_SAID);
	} else if (t->response.status && t->response.status / 100 != 2) {
		cJSON *body = chat_parse(t->whole.data, t->whole.len);
		char *message = chat_error_message(body);
		char *type = http_response_header(&t->response, "Content-Type");
		if (!message && !body && t->whole.len > 0)
			message = xasprintf("no JSON%s%s", type && *type ? ", but " : "",
			    type && *type ? type : "");
		buf_printf(out, "answered %d", t->response.status);
		if (message) {
			buf_puts(out, ": ");
			clean_text(out, message, t->target->key, MAX_SAID);
		}
		free(message);
		free(type);
		cJSON_Delete(body);
	} else {
		clean_text(out, http_failure(&t->response), t->target->key, MAX_SAID);
	}
}

/* Whether to try again may help.  Nothing is asked twice once the caller has seen a part of its
 * answer. */
static bool attempt_may_repeat(const struct attempt *t)
{
	if (t->answer.handed_on || t->answer.unwanted || t->stopped)
		return false;
	if (t->answer.fault)
		return t->answer.fault_kind == FAULT_PASSES && !retry_refused(&t->response);
	return retry_helps(&t->response);
}

/* ---- Tries, models */

enum after { AFTER_DONE, AFTER_STOP, AFTER_NEXT_MODEL, AFTER_NEXT_TRY, AFTER_FAILURE };

/* What is being tried, for the whole call. */
struct calling {
	const struct chat_request *request;
	struct chat_result *result;
	struct buf errors;
	int64_t started;
	bool timed_out; /* the latest failure was a time-out */
};

/* Makes one try and takes from it what the result needs. */
static enum after attempt_make(
    struct calling *c, struct attempt *t, const char *body, int64_t deadline_ms)
{
	struct chat_result *result = c->result;
	t->answer.started = c->started;
	attempt_post(t, body, deadline_ms);
	result->tries++;
	result->status = t->response.status ? t->response.status : result->status;
	bool done = attempt_complete(t);
	if (t->answer.first_piece_ms >= 0 && result->first_piece_ms < 0)
		result->first_piece_ms = t->answer.first_piece_ms;
	if (done) {
		result->message = chat_answer_message(&t->answer);
		if (t->target->format != CHAT_FORMAT_TEXT)
			result->format = json_opt(t->target->settings, "response_format");
		return AFTER_DONE;
	}
	if (t->stopped || t->answer.unwanted) {
		t->answer.ended = false; /* so that the message has what was shown, and no calls */
		for (size_t i = 0; i < t->answer.count && t->answer.handed_on && !result->message;
		     i++)
			if (t->answer.parts[i].text.len > 0)
				result->message = chat_answer_message(&t->answer);
		return AFTER_STOP;
	}
	metrics_count(t->target->provider->failures, 1);
	attempt_log_reason(t);
	if (attempt_may_repeat(t))
		return AFTER_NEXT_TRY;
	return t->answer.handed_on ? AFTER_FAILURE : AFTER_NEXT_MODEL;
}

/* Waits before the next try, where there is to be one. */
static enum after chat_pause(
    struct calling *c, struct attempt *t, unsigned tries, int64_t deadline_ms)
{
	struct buf why = {0};
	if (tries > t->target->retries)
		return AFTER_NEXT_MODEL;
	int64_t wait = retry_wait_ms(&t->response, tries, deadline_ms);
	if (wait < 0)
		return AFTER_NEXT_MODEL;
	attempt_describe(t, &why);
	log_info("%s; try %u follows in %lld ms", buf_str(&why), tries + 1, (long long)wait);
	buf_release(&why);
	return retry_sleep(wait, c->request->stop, c->request->arg) ? AFTER_NEXT_TRY : AFTER_STOP;
}

/* All tries at one model. */
static enum after chat_ask(struct calling *c, const struct chat_target *target)
{
	char *problem = NULL, *body = chat_request_body(target, c->request, &problem);
	enum after after = AFTER_NEXT_TRY;
	if (!body) {
		buf_printf(&c->errors, "%s%s", c->errors.len ? "; " : "", problem);
		free(problem);
		return AFTER_FAILURE;
	}
	int64_t deadline_ms = clock_monotonic_ms() + target->times.total;
	if (c->request->deadline_ms > 0 && c->request->deadline_ms < deadline_ms)
		deadline_ms = c->request->deadline_ms;
	for (unsigned tries = 1; after == AFTER_NEXT_TRY; tries++) {
		struct attempt t = {.target = target, .request = c->request};
		chat_answer_init(&t.answer, target, c->request);
		t.sse = (struct sse){.max = MAX_WHOLE, .on_event = attempt_on_event, .arg = &t};
		after = attempt_make(c, &t, body, deadline_ms);
		if (after == AFTER_NEXT_TRY)
			after = chat_pause(c, &t, tries, deadline_ms);
		if (after == AFTER_NEXT_MODEL || after == AFTER_FAILURE) {
			c->timed_out = t.response.end == HTTP_TIMED_OUT && !t.answer.fault;
			attempt_describe(&t, &c->errors);
		}
		attempt_release(&t);
	}
	free(body);
	return after;
}

enum chat_end chat_call(
    const struct chat_model *m, const struct chat_request *request, struct chat_result *result)
{
	struct calling c = {.request = request, .result = result, .started = clock_monotonic_ms()};
	enum after after = AFTER_NEXT_MODEL;
	*result = (struct chat_result){.first_piece_ms = -1};
	for (size_t i = 0; after == AFTER_NEXT_MODEL && i < m->count; i++) {
		if (i > 0 && request->deadline_ms > 0 &&
		    clock_monotonic_ms() >= request->deadline_ms)
			break;
		if (i > 0)
			log_warning("%s; the next model is asked", buf_str(&c.errors));
		struct chat_target target = m->targets[i];
		if (request->plain)
			target.format = CHAT_FORMAT_TEXT;
		after = chat_ask(&c, &target);
	}
	result->end = after == AFTER_DONE ? CHAT_DONE
	    : after == AFTER_STOP         ? CHAT_STOPPED
	    : c.timed_out                 ? CHAT_TIMED_OUT
					  : CHAT_FAILED;
	if (result->end == CHAT_STOPPED)
		result->error = xstrdup("stopped");
	else if (result->end != CHAT_DONE)
		result->error = buf_detach(&c.errors);
	buf_release(&c.errors);
	return result->end;
}

void chat_result_release(struct chat_result *result)
{
	cJSON_Delete(result->message);
	free(result->error);
	*result = (struct chat_result){0};
}
