/* SPDX-License-Identifier: ISC */
/* The card of a peer, a message to it, and what its events say. */
#include "tool/a2a/a2a_peer.h"

#include "base/http/sse.h"
#include "base/http/url.h"
#include "base/id.h"
#include "base/json/json.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARD_PATH "/.well-known/agent-card.json"
#define CONNECT_MS 10000
#define CARD_MAX (1 << 20)
#define ANSWER_MAX (16 << 20)
#define EVENT_MAX (8 << 20)
#define POLL_MS 500    /* between two looks at a task that goes on without telling */
#define CANCEL_MS 3000 /* that a peer has to take note that nobody waits any more */
#define MOST_HEADERS 40
#define MOST_ARTIFACTS 1000 /* whose ids are kept, so that each is told once */
#define ARTIFACT_ID_MAX 1024

struct a2a_peer {
	char *url;
	struct http_header *headers;
	size_t header_count;

	pthread_mutex_t lock;
	/* Guarded by lock; once the endpoint is there they do not change. */
	char *endpoint, *tenant;
	bool old, streams, same_site;
};

struct a2a_peer *a2a_peer_new(const char *url, struct http_header *headers, size_t header_count)
{
	struct a2a_peer *peer = xcalloc(1, sizeof(*peer));
	peer->url = xstrdup(url);
	peer->headers = headers;
	peer->header_count = header_count;
	pthread_mutex_init(&peer->lock, NULL);
	return peer;
}

void a2a_peer_free(struct a2a_peer *peer)
{
	if (!peer)
		return;
	for (size_t i = 0; i < peer->header_count; i++) {
		free((char *)peer->headers[i].name);
		free((char *)peer->headers[i].value);
	}
	free(peer->headers);
	free(peer->url);
	free(peer->endpoint);
	free(peer->tenant);
	pthread_mutex_destroy(&peer->lock);
	free(peer);
}

void a2a_exchange_release(struct a2a_exchange *x)
{
	buf_release(&x->answer);
	buf_release(&x->question);
	cJSON_Delete(x->artifacts);
	free(x->context);
	free(x->task);
}

/* ---- requests ---- */

/* What others say may have anything in it. */
static enum a2a_outcome a2a_peer_fail(struct a2a_exchange *x, const char *what, const char *why)
{
	snprintf(x->why, sizeof(x->why), "%s%s%s", what, why && *why ? ": " : "", why ? why : "");
	process_clean(x->why);
	return A2A_PEER_FAILED;
}

/* The same with the status, and where a redirect leads, without the query, in which a key may be.
 */
static bool a2a_peer_answered(
    struct a2a_exchange *x, const char *what, const struct http_response *response)
{
	char *place =
	    response->status / 100 == 3 ? http_response_header(response, "Location") : NULL;
	char *why = place ? xasprintf("status %d, which leads to %.*s and is not followed",
				response->status, (int)strcspn(place, "?#"), place)
			  : xasprintf("status %d", response->status);
	a2a_peer_fail(x, what, why);
	free(why);
	free(place);
	return false;
}

static size_t a2a_peer_headers(const struct a2a_peer *peer, const struct a2a_exchange *x, bool own,
    const char *version, const char *accept, struct http_header headers[MOST_HEADERS])
{
	size_t count = 0;
	for (; own && count < peer->header_count && count < MOST_HEADERS - 4; count++)
		headers[count] = peer->headers[count];
	headers[count++] = (struct http_header){"A2A-Version", version};
	headers[count++] = (struct http_header){"Accept", accept};
	headers[count++] = (struct http_header){"Content-Type", "application/json"};
	if (x->traceparent)
		headers[count++] = (struct http_header){"traceparent", x->traceparent};
	return count;
}

/* ---- the card ---- */

static bool a2a_peer_take(struct a2a_peer *peer, const char *url, const char *tenant, bool old)
{
	char *site = url ? url_site(url) : NULL, *own = url_site(peer->url);
	if (site) {
		peer->endpoint = xstrdup(url);
		peer->tenant = tenant && *tenant ? xstrdup(tenant) : NULL;
		peer->old = old;
		peer->same_site = own && strcmp(site, own) == 0;
	}
	free(site);
	free(own);
	return peer->endpoint;
}

/* The first interface that is spoken here, of the new version where there is one. */
static bool a2a_peer_choose(struct a2a_peer *peer, const cJSON *card)
{
	const cJSON *one;
	for (int old = 0; old < 2; old++) {
		cJSON_ArrayForEach(one, json_get(card, "supportedInterfaces")) {
			const char *version = json_str(one, "protocolVersion");
			if (json_str_is(one, "protocolBinding", "JSONRPC") && version &&
			    strncmp(version, old ? "0." : "1.", 2) == 0 &&
			    a2a_peer_take(peer, json_str(one, "url"), json_str(one, "tenant"), old))
				return true;
		}
	}
	const char *preferred = json_str(card, "preferredTransport");
	if ((!preferred || strcmp(preferred, "JSONRPC") == 0) &&
	    a2a_peer_take(peer, json_str(card, "url"), NULL, true))
		return true;
	cJSON_ArrayForEach(one, json_get(card, "additionalInterfaces")) {
		if (json_str_is(one, "transport", "JSONRPC") &&
		    a2a_peer_take(peer, json_str(one, "url"), NULL, true))
			return true;
	}
	return false;
}

static bool a2a_peer_read_card(
    struct a2a_peer *peer, struct a2a_exchange *x, const struct http_response *response)
{
	if (response->end != HTTP_DONE)
		return a2a_peer_fail(x, "its card cannot be had", http_failure(response));
	if (response->status != 200)
		return a2a_peer_answered(x, "its card cannot be had", response);
	cJSON *card =
	    json_parse(buf_str(&response->body), response->body.len, JSON_REQUEST_DEPTH, NULL);
	peer->streams = cJSON_IsTrue(json_get(json_get(card, "capabilities"), "streaming"));
	bool chosen = a2a_peer_choose(peer, card);
	if (!chosen)
		a2a_peer_fail(x,
		    card ? "its card names no address that speaks JSON-RPC in version 1.0 or 0.3"
			 : "its card is no JSON",
		    NULL);
	cJSON_Delete(card);
	return chosen;
}

static bool a2a_peer_meet(struct a2a_peer *peer, struct a2a_exchange *x)
{
	struct http_header headers[MOST_HEADERS];
	struct http_response response = {0};
	size_t len = strlen(peer->url);
	bool is_card = len > 5 && strcmp(peer->url + len - 5, ".json") == 0;
	pthread_mutex_lock(&peer->lock);
	bool known = peer->endpoint;
	pthread_mutex_unlock(&peer->lock);
	if (known)
		return true;
	while (!is_card && len > 0 && peer->url[len - 1] == '/')
		len--;
	char *url = is_card ? xstrdup(peer->url) : xasprintf("%.*s" CARD_PATH, (int)len, peer->url);
	size_t count = a2a_peer_headers(peer, x, true, "1.0", "application/json", headers);
	const struct http_request request = {.url = url,
	    .headers = headers,
	    .header_count = count,
	    .connect_ms = CONNECT_MS,
	    .deadline_ms = x->deadline_ms,
	    .max_body = CARD_MAX,
	    .stop = x->stop,
	    .arg = x->arg};
	http_call(&request, &response);
	pthread_mutex_lock(&peer->lock);
	bool met = peer->endpoint || a2a_peer_read_card(peer, x, &response);
	pthread_mutex_unlock(&peer->lock);
	http_response_release(&response);
	free(url);
	return met;
}

/* ---- what comes ---- */

enum a2a_peer_state {
	PEER_UNKNOWN,
	PEER_WORKS,
	PEER_DONE,
	PEER_ASKS,
	PEER_FAILED,
	PEER_ELSEWHERE, /* in a state that is none of these */
	PEER_SAID       /* a message, and no task */
};

struct a2a_hearing {
	const struct a2a_peer *peer;
	struct a2a_exchange *x;
	enum a2a_peer_state state;
	struct buf status; /* what the latest state says, or its name */
	struct buf first;  /* bytes of an answer that is one document */
	bool decided, events;
	char *artifact;    /* that was told last */
	struct buf *texts; /* of artifacts as far as they were told, in the order of their ids */
	bool wrong;        /* x->why is set */
	struct sse sse;
};

static enum a2a_peer_state a2a_peer_state_of(const char *name)
{
	static const struct {
		const char *name, *old;
		enum a2a_peer_state state;
	} states[] = {{"TASK_STATE_SUBMITTED", "submitted", PEER_WORKS},
	    {"TASK_STATE_WORKING", "working", PEER_WORKS},
	    {"TASK_STATE_COMPLETED", "completed", PEER_DONE},
	    {"TASK_STATE_INPUT_REQUIRED", "input-required", PEER_ASKS},
	    {"TASK_STATE_FAILED", "failed", PEER_FAILED},
	    {"TASK_STATE_CANCELED", "canceled", PEER_FAILED},
	    {"TASK_STATE_REJECTED", "rejected", PEER_FAILED},
	    {"TASK_STATE_AUTH_REQUIRED", "auth-required", PEER_FAILED}};
	if (!name)
		return PEER_UNKNOWN;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strcmp(states[i].name, name) == 0 || strcmp(states[i].old, name) == 0)
			return states[i].state;
	return PEER_ELSEWHERE;
}

/* Texts as they are, data as its JSON; files are left out. */
static void a2a_peer_parts(struct buf *out, const cJSON *parts)
{
	const cJSON *part, *data;
	cJSON_ArrayForEach(part, parts) {
		const char *text = json_str(part, "text");
		if (text)
			buf_puts(out, text);
		else if ((data = json_opt(part, "data")))
			json_write(out, data);
	}
}

static void a2a_keep_id(char **slot, const cJSON *object, const char *name)
{
	const char *id = json_str(object, name);
	if (!id || !*id || *slot)
		return;
	*slot = xstrdup(id);
}

static bool a2a_hear_text(struct a2a_hearing *h, const char *text)
{
	struct a2a_exchange *x = h->x;
	if (x->answer.len + strlen(text) > ANSWER_MAX) {
		a2a_peer_fail(x, "its answer is too large", NULL);
		h->wrong = true;
		return false;
	}
	buf_puts(&x->answer, text);
	if (*text && x->on_text)
		x->on_text(text, x->arg);
	return true;
}

/* What was told of the artifact, whose id is kept where it is new. */
static struct buf *a2a_artifact_text(struct a2a_hearing *h, const char *id)
{
	int at = 0;
	const cJSON *one;
	cJSON_ArrayForEach(one, h->x->artifacts) {
		if (strcmp(one->valuestring, id) == 0)
			return &h->texts[at];
		at++;
	}
	cJSON_AddItemToArray(h->x->artifacts, cJSON_CreateString(id));
	h->texts = xrealloc(h->texts, ((size_t)at + 1) * sizeof(*h->texts));
	h->texts[at] = (struct buf){0};
	return &h->texts[at];
}

/* more: it goes on with one that was begun.  Else it is the whole of one, of which a stream that
 * ended early may have told a part. */
static bool a2a_hear_artifact(struct a2a_hearing *h, const cJSON *artifact, bool more)
{
	struct a2a_exchange *x = h->x;
	const char *id = json_str(artifact, "artifactId");
	struct buf text = {0};
	if (!id)
		id = "";
	if (strlen(id) > ARTIFACT_ID_MAX || cJSON_GetArraySize(x->artifacts) > MOST_ARTIFACTS) {
		a2a_peer_fail(x, "its artifacts are too many, or have ids too long", NULL);
		h->wrong = true;
		return false;
	}
	if (json_has_str(x->told, id))
		return true;
	struct buf *told = a2a_artifact_text(h, id);
	a2a_peer_parts(&text, json_get(artifact, "parts"));
	const char *rest = buf_str(&text);
	if (!more && strncmp(rest, buf_str(told), told->len) != 0) {
		a2a_peer_fail(x, "it changed what it had told", NULL);
		h->wrong = true;
	} else if (!more) {
		rest += told->len;
	}
	bool between = *rest && x->answer.len && h->artifact && strcmp(h->artifact, id) != 0;
	bool ok = !h->wrong && (!between || a2a_hear_text(h, "\n\n")) && a2a_hear_text(h, rest);
	if (ok && *rest) {
		buf_puts(told, rest);
		free(h->artifact);
		h->artifact = xstrdup(id);
	}
	buf_release(&text);
	return ok;
}

static void a2a_hear_status(struct a2a_hearing *h, const cJSON *status)
{
	const char *name = json_str(status, "state");
	h->state = a2a_peer_state_of(name);
	buf_reset(&h->status);
	a2a_peer_parts(&h->status, json_get(json_get(status, "message"), "parts"));
	if (h->state == PEER_ELSEWHERE || (h->state == PEER_FAILED && !h->status.len)) {
		buf_reset(&h->status);
		buf_puts(&h->status, name);
	}
}

static bool a2a_hear_task(struct a2a_hearing *h, const cJSON *task)
{
	const cJSON *artifact;
	a2a_keep_id(&h->x->task, task, "id");
	a2a_keep_id(&h->x->context, task, "contextId");
	a2a_hear_status(h, json_get(task, "status"));
	cJSON_ArrayForEach(artifact, json_get(task, "artifacts"))
		if (!a2a_hear_artifact(h, artifact, false))
			return false;
	return true;
}

/* A result of either version; false ends the reading. */
static bool a2a_hear_result(struct a2a_hearing *h, const cJSON *result)
{
	const char *kind = json_str(result, "kind");
	const cJSON *task = json_get(result, "task"), *message = json_get(result, "message"),
		    *status = json_get(result, "statusUpdate"),
		    *artifact = json_get(result, "artifactUpdate");
	if (kind && strcmp(kind, "task") == 0)
		task = result;
	else if (kind && strcmp(kind, "message") == 0)
		message = result;
	else if (kind && strcmp(kind, "status-update") == 0)
		status = result;
	else if (kind && strcmp(kind, "artifact-update") == 0)
		artifact = result;
	else if (json_get(result, "status") && json_str(result, "id")) /* GetTask of 1.0 */
		task = result;
	if (cJSON_IsObject(task))
		return a2a_hear_task(h, task);
	if (cJSON_IsObject(message)) {
		struct buf text = {0};
		a2a_keep_id(&h->x->context, message, "contextId");
		a2a_peer_parts(&text, json_get(message, "parts"));
		h->state = PEER_SAID;
		bool ok = a2a_hear_text(h, buf_str(&text));
		buf_release(&text);
		return ok;
	}
	const cJSON *update = status ? status : artifact;
	a2a_keep_id(&h->x->task, update, "taskId");
	a2a_keep_id(&h->x->context, update, "contextId");
	if (status)
		a2a_hear_status(h, json_get(status, "status"));
	if (artifact)
		return a2a_hear_artifact(
		    h, json_get(artifact, "artifact"), cJSON_IsTrue(json_get(artifact, "append")));
	return true;
}

/* Fails with what the peer says, which may be the key that it refuses. */
static enum a2a_outcome a2a_hear_failure(struct a2a_hearing *h, const char *what, const char *said)
{
	char *text = xstrdup(said ? said : "");
	for (size_t i = 0; i < h->peer->header_count; i++)
		redact_known(text, h->peer->headers[i].value);
	enum a2a_outcome outcome = a2a_peer_fail(h->x, what, text);
	free(text);
	return outcome;
}

static bool a2a_hear(struct a2a_hearing *h, const char *text, size_t len)
{
	cJSON *response = json_parse(text, len, JSON_REQUEST_DEPTH, NULL);
	const cJSON *error = json_opt(response, "error"), *result = json_opt(response, "result");
	bool goes_on;
	if (error) {
		a2a_hear_failure(h, "it refused the message", json_str(error, "message"));
		h->wrong = true;
		goes_on = false;
	} else if (cJSON_IsObject(result)) {
		goes_on = a2a_hear_result(h, result);
	} else {
		a2a_peer_fail(h->x, "it answered with something that is no response", NULL);
		h->wrong = true;
		goes_on = false;
	}
	cJSON_Delete(response);
	return goes_on;
}

static bool a2a_on_event(const struct sse_event *event, void *arg)
{
	return a2a_hear(arg, event->data, event->len);
}

/* An answer that begins with a brace is one document, whatever it is called. */
static bool a2a_on_data(const char *data, size_t len, void *arg)
{
	struct a2a_hearing *h = arg;
	if (!h->decided) {
		size_t blank = 0; /* a piece has no end that could be looked for */
		while (blank < len && data[blank] && strchr(" \t\r\n", data[blank]))
			blank++;
		if (blank == len)
			return true;
		h->decided = true;
		h->events = data[blank] != '{';
	}
	if (h->events)
		return sse_feed(&h->sse, data, len);
	if (h->first.len + len > EVENT_MAX)
		return false;
	buf_add(&h->first, data, len);
	return true;
}

/* ---- a call ---- */

static bool a2a_call_stop(void *arg)
{
	struct a2a_exchange *x = ((struct a2a_hearing *)arg)->x;
	return x->stop && x->stop(x->arg);
}

static bool a2a_peer_call(
    struct a2a_hearing *h, const char *accept, const cJSON *body, int64_t deadline_ms, bool stops)
{
	const struct a2a_peer *peer = h->peer;
	struct http_header headers[MOST_HEADERS];
	struct http_response response = {0};
	char *text = json_print(body);
	size_t count = a2a_peer_headers(
	    peer, h->x, peer->same_site, peer->old ? "0.3" : "1.0", accept, headers);
	const struct http_request request = {.url = peer->endpoint,
	    .headers = headers,
	    .header_count = count,
	    .body = text,
	    .body_len = strlen(text),
	    .connect_ms = CONNECT_MS,
	    .deadline_ms = deadline_ms,
	    .on_data = a2a_on_data,
	    .stop = stops ? a2a_call_stop : NULL,
	    .arg = h};
	h->sse = (struct sse){.max = EVENT_MAX, .on_event = a2a_on_event, .arg = h};
	h->decided = false;
	buf_reset(&h->first);
	http_call(&request, &response);
	bool ok = response.end == HTTP_DONE && !h->wrong;
	if (ok && h->events)
		ok = sse_finish(&h->sse);
	else if (ok && h->decided)
		ok = a2a_hear(h, h->first.data, h->first.len);
	if (!h->wrong && response.end == HTTP_DONE && (!h->decided || response.status >= 300)) {
		a2a_peer_answered(h->x,
		    response.status >= 300 ? "it answered" : "it answered with nothing", &response);
		h->wrong = true;
	} else if (!ok && !h->wrong) {
		a2a_peer_fail(h->x, "the request failed", http_failure(&response));
		h->wrong = true;
	}
	sse_release(&h->sse);
	http_response_release(&response);
	free(text);
	return ok && !h->wrong;
}

static cJSON *a2a_peer_request(const struct a2a_peer *peer, const char *method, const char *old)
{
	cJSON *request = cJSON_CreateObject();
	json_add_str(request, "jsonrpc", "2.0");
	json_add_str(request, "id", "1");
	json_add_str(request, "method", peer->old ? old : method);
	cJSON *params = json_add(request, "params", cJSON_CreateObject());
	if (peer->tenant)
		json_add_str(params, "tenant", peer->tenant);
	return request;
}

static void a2a_add_message(cJSON *params, const struct a2a_peer *peer, struct a2a_exchange *x)
{
	char id[UUID_SIZE];
	cJSON *message = json_add(params, "message", cJSON_CreateObject());
	if (peer->old)
		json_add_str(message, "kind", "message");
	json_add_str(message, "messageId", uuid7(id));
	json_add_str(message, "role", peer->old ? "user" : "ROLE_USER");
	cJSON *part =
	    json_append(json_add(message, "parts", cJSON_CreateArray()), cJSON_CreateObject());
	if (peer->old)
		json_add_str(part, "kind", x->data ? "data" : "text");
	if (x->data)
		json_add(part, "data", cJSON_Duplicate(x->data, true));
	else
		json_add_str(part, "text", x->text);
	if (x->context_id)
		json_add_str(message, "contextId", x->context_id);
	if (x->task_id)
		json_add_str(message, "taskId", x->task_id);
	cJSON *configuration = json_add(params, "configuration", cJSON_CreateObject());
	if (peer->old) /* else some answer at once */
		json_add(configuration, "blocking", cJSON_CreateTrue());
	cJSON *modes = json_add(configuration, "acceptedOutputModes", cJSON_CreateArray());
	json_append(modes, cJSON_CreateString("text/plain"));
	json_append(modes, cJSON_CreateString("application/json"));
}

/* A request about the task. */
static bool a2a_peer_about(
    struct a2a_hearing *h, const char *method, const char *old, int64_t deadline_ms, bool stops)
{
	cJSON *request = a2a_peer_request(h->peer, method, old);
	json_add_str(json_get(request, "params"), "id", h->x->task);
	bool ok = a2a_peer_call(h, "application/json", request, deadline_ms, stops);
	cJSON_Delete(request);
	return ok;
}

/* Some answer before they are done, and streams end. */
static bool a2a_peer_wait(struct a2a_hearing *h)
{
	struct a2a_exchange *x = h->x;
	while (!h->wrong && x->task && (h->state == PEER_WORKS || h->state == PEER_UNKNOWN)) {
		if ((x->stop && x->stop(x->arg)) ||
		    clock_monotonic_ms() + POLL_MS > x->deadline_ms) {
			a2a_peer_fail(x, "it did not come to an end in time", NULL);
			return false;
		}
		clock_sleep_ms(POLL_MS);
		if (!a2a_peer_about(h, "GetTask", "tasks/get", x->deadline_ms, true))
			return false;
	}
	return !h->wrong;
}

static enum a2a_outcome a2a_peer_end(struct a2a_hearing *h)
{
	struct a2a_exchange *x = h->x;
	switch (h->state) {
	case PEER_ASKS:
		buf_puts(&x->question, h->status.len ? buf_str(&h->status) : "?");
		return A2A_PEER_ASKS;
	case PEER_FAILED:
		return a2a_hear_failure(h, "its task failed", buf_str(&h->status));
	case PEER_ELSEWHERE:
		return a2a_hear_failure(
		    h, "its task is in a state that is not known", buf_str(&h->status));
	case PEER_DONE:
		if (!x->answer.len && h->status.len)
			a2a_hear_text(h, buf_str(&h->status));
		return A2A_PEER_DONE;
	case PEER_SAID:
		return A2A_PEER_DONE;
	case PEER_WORKS:
	case PEER_UNKNOWN:
		break;
	}
	return a2a_peer_fail(x, "it did not say what became of the message", NULL);
}

enum a2a_outcome a2a_peer_send(struct a2a_peer *peer, struct a2a_exchange *x)
{
	enum a2a_outcome outcome = A2A_PEER_FAILED;
	x->artifacts = cJSON_CreateArray();
	if (!a2a_peer_meet(peer, x))
		return A2A_PEER_FAILED;
	struct a2a_hearing h = {.peer = peer, .x = x};
	cJSON *request = peer->streams
	    ? a2a_peer_request(peer, "SendStreamingMessage", "message/stream")
	    : a2a_peer_request(peer, "SendMessage", "message/send");
	a2a_add_message(json_get(request, "params"), peer, x);
	if (a2a_peer_call(&h, peer->streams ? "text/event-stream" : "application/json", request,
		x->deadline_ms, true) &&
	    a2a_peer_wait(&h)) {
		outcome = a2a_peer_end(&h);
	} else if (x->task && x->stop && x->stop(x->arg)) {
		/* nobody waits for it any more */
		char why[sizeof(x->why)];
		memcpy(why, x->why, sizeof(why));
		h.wrong = false;
		a2a_peer_about(
		    &h, "CancelTask", "tasks/cancel", clock_monotonic_ms() + CANCEL_MS, false);
		memcpy(x->why, why, sizeof(why));
	}
	cJSON_Delete(request);
	buf_release(&h.status);
	buf_release(&h.first);
	for (int i = 0; i < cJSON_GetArraySize(x->artifacts); i++)
		buf_release(&h.texts[i]);
	free(h.texts);
	free(h.artifact);
	return outcome;
}
