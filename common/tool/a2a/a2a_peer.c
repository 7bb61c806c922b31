/* SPDX-License-Identifier: ISC */
/* The card of a peer, and a message to it. */
#include "tool/a2a/a2a_peer.h"

#include "base/http/url.h"
#include "base/id.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "tool/a2a/a2a_hearing.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CARD_PATH "/.well-known/agent-card.json"
#define CONNECT_MS 10000
#define CARD_MAX (1 << 20)
#define POLL_MS 500    /* between two looks at a task that goes on in silence */
#define LOOKS_LOST 60  /* how many may fail one after the other, before the peer is given up */
#define CANCEL_MS 3000 /* how long a peer has to take note that nobody waits any more */
#define LINGER_MS 1000 /* how long a stream has to end once its task has */
#define MOST_HEADERS 40

/* What a card says of how the peer is spoken to. */
struct a2a_way {
	char *endpoint, *tenant; /* malloc'd; tenant may be NULL */
	bool old, streams, same_site;
};

struct a2a_peer {
	char *url;
	struct http_header *headers;
	size_t header_count;

	pthread_mutex_t lock;
	struct a2a_way way; /* guarded by lock; without an endpoint it is not known */
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

static void a2a_way_release(struct a2a_way *way)
{
	free(way->endpoint);
	free(way->tenant);
	*way = (struct a2a_way){0};
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
	a2a_way_release(&peer->way);
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

/* Fails with the status of the response.  Where a redirect leads is for the log, without the query,
 * in which a key may be: clients read why, too. */
static bool a2a_peer_answered(
    struct a2a_exchange *x, const char *what, const struct http_response *response)
{
	char why[80];
	char *place =
	    response->status / 100 == 3 ? http_response_header(response, "Location") : NULL;
	if (place) {
		place[strcspn(place, "?#")] = '\0';
		log_info("an agent's status %d leads to %.300s", response->status, place);
	}
	snprintf(why, sizeof(why), "status %d%s", response->status,
	    place ? ", which leads elsewhere and is not followed" : "");
	a2a_exchange_fail(x, what, why);
	free(place);
	return false;
}

static size_t a2a_peer_headers(const struct a2a_peer *peer, const struct a2a_exchange *x, bool own,
    const char *version, const char *accept, struct http_header headers[MOST_HEADERS])
{
	size_t count = 0;
	for (; own && count < peer->header_count && count < MOST_HEADERS - 5; count++)
		headers[count] = peer->headers[count];
	headers[count++] = (struct http_header){"A2A-Version", version};
	headers[count++] = (struct http_header){"Accept", accept};
	headers[count++] = (struct http_header){"Content-Type", "application/json"};
	return count + trace_headers_put(&x->trace, headers + count);
}

/* ---- the card ---- */

static bool a2a_peer_take(struct a2a_peer *peer, const char *url, const char *tenant, bool old)
{
	char *site = url ? url_site(url) : NULL, *own = url_site(peer->url);
	if (site) {
		peer->way.endpoint = xstrdup(url);
		peer->way.tenant = tenant && *tenant ? xstrdup(tenant) : NULL;
		peer->way.old = old;
		peer->way.same_site = own && strcmp(site, own) == 0;
	}
	free(site);
	free(own);
	return peer->way.endpoint;
}

/* Chooses the first interface that is spoken here, of the new version where there is one. */
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
		return a2a_exchange_fail(x, "its card cannot be had", http_failure(response));
	if (response->status != 200)
		return a2a_peer_answered(x, "its card cannot be had", response);
	cJSON *card =
	    json_parse(buf_str(&response->body), response->body.len, JSON_REQUEST_DEPTH, NULL);
	peer->way.streams = cJSON_IsTrue(json_get(json_get(card, "capabilities"), "streaming"));
	bool chosen = a2a_peer_choose(peer, card);
	if (!chosen)
		a2a_exchange_fail(x,
		    card ? "its card names no address that speaks JSON-RPC in version 1.0 or 0.3"
			 : "its card is no JSON",
		    NULL);
	cJSON_Delete(card);
	return chosen;
}

/* A copy of what is known; false where that is nothing.  With the lock held. */
static bool a2a_peer_copy_way(const struct a2a_peer *peer, struct a2a_way *way)
{
	*way = peer->way;
	way->endpoint = xstrdup(way->endpoint);
	way->tenant = xstrdup(way->tenant);
	return way->endpoint;
}

/* Forgets how the peer is spoken to, as that led nowhere: the next message asks for its card. */
static void a2a_peer_forget(struct a2a_peer *peer, const struct a2a_way *way)
{
	pthread_mutex_lock(&peer->lock);
	if (peer->way.endpoint && strcmp(peer->way.endpoint, way->endpoint) == 0)
		a2a_way_release(&peer->way);
	pthread_mutex_unlock(&peer->lock);
}

/* Fills in how the peer is spoken to, from its card where that is not known. */
static bool a2a_peer_meet(struct a2a_peer *peer, struct a2a_exchange *x, struct a2a_way *way)
{
	struct http_header headers[MOST_HEADERS];
	struct http_response response = {0};
	size_t len = strlen(peer->url);
	bool is_card = len > 5 && strcmp(peer->url + len - 5, ".json") == 0;
	pthread_mutex_lock(&peer->lock);
	bool known = a2a_peer_copy_way(peer, way);
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
	bool met = peer->way.endpoint || a2a_peer_read_card(peer, x, &response);
	if (met)
		a2a_peer_copy_way(peer, way);
	pthread_mutex_unlock(&peer->lock);
	http_response_release(&response);
	free(url);
	return met;
}

/* ---- a call ---- */

/* A message on its way. */
struct a2a_talk {
	const struct a2a_peer *peer;
	struct a2a_way way;
	struct a2a_hearing heard;
	bool may_pass; /* the latest call failed, of something that may be over soon */
};

static bool a2a_peer_may_pass(const struct http_response *response)
{
	int status = response->status;
	return response->end == HTTP_NO_CONNECT || response->end == HTTP_CLOSED ||
	    response->end == HTTP_TIMED_OUT ||
	    (response->end == HTTP_DONE &&
		(status == 429 || status == 502 || status == 503 || status == 504));
}

/* Whether there is nothing more to hear in a stream that does not end. */
static bool a2a_call_is_over(const struct a2a_hearing *h)
{
	return h->over_at && clock_monotonic_ms() - h->over_at >= LINGER_MS;
}

static bool a2a_call_stop(void *arg)
{
	const struct a2a_hearing *h = arg;
	return a2a_call_is_over(h) || (h->x->stop && h->x->stop(h->x->arg));
}

static bool a2a_peer_call(
    struct a2a_talk *talk, const char *accept, const cJSON *body, int64_t deadline_ms, bool stops)
{
	const struct a2a_peer *peer = talk->peer;
	struct a2a_hearing *h = &talk->heard;
	struct http_header headers[MOST_HEADERS];
	struct http_response response = {0};
	char *text = json_print(body);
	size_t count = a2a_peer_headers(
	    peer, h->x, talk->way.same_site, talk->way.old ? "0.3" : "1.0", accept, headers);
	const struct http_request request = {.url = talk->way.endpoint,
	    .headers = headers,
	    .header_count = count,
	    .body = text,
	    .body_len = strlen(text),
	    .connect_ms = CONNECT_MS,
	    .deadline_ms = deadline_ms,
	    .acts = !h->x->task, /* later ones are about the task alone */
	    .on_data = a2a_hearing_data,
	    .stop = stops ? a2a_call_stop : NULL,
	    .arg = h};
	a2a_hearing_begin(h);
	http_call(&request, &response);
	talk->may_pass = !h->wrong && a2a_peer_may_pass(&response);
	if (response.end == HTTP_STOPPED && a2a_call_is_over(h))
		response.end = HTTP_DONE;
	bool ok = response.end == HTTP_DONE && a2a_hearing_finish(h);
	/* a status that has no response of the protocol with it says more than that */
	if (response.end == HTTP_DONE &&
	    (response.status >= 300 ? !h->refused : !h->wrong && !h->decided)) {
		a2a_peer_answered(h->x,
		    response.status >= 300 ? "it answered" : "it answered with nothing", &response);
		h->wrong = true;
	} else if (!ok && !h->wrong) {
		a2a_exchange_fail(h->x, "the request failed", http_failure(&response));
		h->wrong = true;
	}
	http_response_release(&response);
	free(text);
	return ok && !h->wrong;
}

static cJSON *a2a_peer_request(const struct a2a_way *way, const char *method, const char *old)
{
	cJSON *request = cJSON_CreateObject();
	json_add_str(request, "jsonrpc", "2.0");
	json_add_str(request, "id", "1");
	json_add_str(request, "method", way->old ? old : method);
	cJSON *params = json_add(request, "params", cJSON_CreateObject());
	if (way->tenant)
		json_add_str(params, "tenant", way->tenant);
	return request;
}

static void a2a_add_message(cJSON *params, bool old, struct a2a_exchange *x)
{
	char id[UUID_SIZE];
	cJSON *message = json_add(params, "message", cJSON_CreateObject());
	if (old)
		json_add_str(message, "kind", "message");
	json_add_str(message, "messageId", uuid7(id));
	json_add_str(message, "role", old ? "user" : "ROLE_USER");
	cJSON *part =
	    json_append(json_add(message, "parts", cJSON_CreateArray()), cJSON_CreateObject());
	if (old)
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
	if (old) /* without this some answer at once */
		json_add(configuration, "blocking", cJSON_CreateTrue());
	cJSON *modes = json_add(configuration, "acceptedOutputModes", cJSON_CreateArray());
	json_append(modes, cJSON_CreateString("text/plain"));
	json_append(modes, cJSON_CreateString("application/json"));
}

/* Makes a request about the task. */
static bool a2a_peer_about(
    struct a2a_talk *talk, const char *method, const char *old, int64_t deadline_ms, bool stops)
{
	cJSON *request = a2a_peer_request(&talk->way, method, old);
	json_add_str(json_get(request, "params"), "id", talk->heard.x->task);
	bool ok = a2a_peer_call(talk, "application/json", request, deadline_ms, stops);
	cJSON_Delete(request);
	return ok;
}

/* Looks at the task until it is done: some peers answer before that, and streams may end early.  A
 * peer that is away for a moment still has the task. */
static bool a2a_peer_wait(struct a2a_talk *talk)
{
	struct a2a_hearing *h = &talk->heard;
	struct a2a_exchange *x = h->x;
	int lost = 0;
	while (!h->wrong && x->task && (h->state == A2A_WORKS || h->state == A2A_UNKNOWN)) {
		if ((x->stop && x->stop(x->arg)) ||
		    clock_monotonic_ms() + POLL_MS > x->deadline_ms) {
			a2a_exchange_fail(x, "it did not come to an end in time", NULL);
			return false;
		}
		clock_sleep_ms(POLL_MS);
		if (a2a_peer_about(talk, "GetTask", "tasks/get", x->deadline_ms, true))
			lost = 0;
		else if (!talk->may_pass || ++lost == LOOKS_LOST)
			return false;
		else
			h->wrong = false;
	}
	return !h->wrong;
}

enum a2a_outcome a2a_peer_send(struct a2a_peer *peer, struct a2a_exchange *x)
{
	enum a2a_outcome outcome = A2A_PEER_FAILED;
	struct a2a_talk talk = {.peer = peer,
	    .heard = {.x = x, .headers = peer->headers, .header_count = peer->header_count}};
	const struct a2a_way *way = &talk.way;
	x->artifacts = cJSON_CreateArray();
	if (!a2a_peer_meet(peer, x, &talk.way))
		return A2A_PEER_FAILED;
	cJSON *request = way->streams
	    ? a2a_peer_request(way, "SendStreamingMessage", "message/stream")
	    : a2a_peer_request(way, "SendMessage", "message/send");
	a2a_add_message(json_get(request, "params"), way->old, x);
	bool sent = a2a_peer_call(&talk, way->streams ? "text/event-stream" : "application/json",
	    request, x->deadline_ms, true);
	if (!sent && !x->task)
		a2a_peer_forget(peer, way);
	if (!sent && x->task && talk.may_pass) { /* only the stream broke */
		talk.heard.wrong = false;
		sent = true;
	}
	if (sent && a2a_peer_wait(&talk)) {
		outcome = a2a_hearing_end(&talk.heard);
	} else if (x->task && x->stop && x->stop(x->arg)) {
		/* nobody waits for it any more */
		char why[sizeof(x->why)];
		memcpy(why, x->why, sizeof(why));
		talk.heard.wrong = false;
		a2a_peer_about(
		    &talk, "CancelTask", "tasks/cancel", clock_monotonic_ms() + CANCEL_MS, false);
		memcpy(x->why, why, sizeof(why));
	}
	cJSON_Delete(request);
	a2a_hearing_release(&talk.heard);
	a2a_way_release(&talk.way);
	return outcome;
}
