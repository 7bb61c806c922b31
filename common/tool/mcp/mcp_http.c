/* SPDX-License-Identifier: ISC */
/*
 * MCP over streamable HTTP: each message is a POST, whose answer is JSON or a stream of events; one
 * that breaks off is taken up again where it ended, when the server named its events.  A GET
 * listens for what the server says unasked.
 */
#include "base/http/sse.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "tool/mcp/mcp_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_ANSWERS 100 /* answers that wait to be sent */
#define CONNECT_MS 10000
#define MOST_HEADERS 32
#define LINGER_MS 200 /* how long an exchange may take to end by itself once it is over */
/* Where the server does not say how long, and the most that it may ask for. */
#define RETRY_MS 1000
#define MOST_RETRY_MS 30000
/* The least for a call, which comes to an end; for the listener it is RETRY_MS. */
#define LEAST_RETRY_MS 100
#define MOST_RESUMES 20 /* in a row without an event */
#define GOODBYE_MS 2000
#define TOKEN_MS 30000
#define LISTEN_MS 250 /* how long to wait until the server has begun to speak, or refused to */

/* One request, and the stream that answers it. */
struct exchange {
	struct mcp_server *server;
	struct mcp_pending *pending; /* or NULL */
	const struct mcp_wait *wait; /* NULL: this is the listener */
	unsigned session;
	struct http_response response;
	struct buf body;
	struct sse sse;
	bool is_stream, too_large;
	bool in_session; /* the latest request was; another call may have ended it meanwhile */
	bool begun;      /* a stream has begun: the server has the message */
	size_t events;   /* events with data in the latest stream */
	char *last_id;   /* id of the last event that had one, or NULL */
	int64_t retry_ms;
	char *authorization;    /* that was sent last, or NULL */
	char why[MCP_WHY_SIZE]; /* why no token was to be had, or "" */
};

/* ---- Headers */

struct header_list {
	struct http_header items[MOST_HEADERS];
	size_t count;
	char *session_id, *version;
};

static void header_add(struct header_list *list, const char *name, const char *value)
{
	if (value && *value && list->count < MOST_HEADERS)
		list->items[list->count++] = (struct http_header){name, value};
}

/* own is the headers of this request alone, an object of strings, or NULL. */
static void headers_init(struct header_list *list, struct mcp_server *server, const cJSON *own)
{
	const cJSON *header;
	*list = (struct header_list){0};
	for (size_t i = 0; i < server->settings.header_count; i++)
		header_add(
		    list, server->settings.headers[i].name, server->settings.headers[i].value);
	pthread_mutex_lock(&server->lock);
	list->session_id = xstrdup(server->session_id);
	list->version = xstrdup(server->version);
	pthread_mutex_unlock(&server->lock);
	header_add(list, "Mcp-Session-Id", list->session_id);
	header_add(list, "MCP-Protocol-Version", list->version);
	cJSON_ArrayForEach(header, own)
		header_add(list, header->string, header->valuestring);
}

static void headers_release(struct header_list *list)
{
	free(list->session_id);
	free(list->version);
}

/* ---- The answer */

static void mcp_http_take_text(struct exchange *x, const char *text, size_t len)
{
	size_t mark = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	text += mark; /* a body may begin with a byte order mark (RFC 8259, section 8.1) */
	len -= mark;
	if (len > 0 && !mcp_take(x->server, x->pending, text, len))
		mcp_log(x->server, "sent something that is no JSON");
}

static bool mcp_http_on_event(const struct sse_event *event, void *arg)
{
	struct exchange *x = arg;
	if (*event->id) {
		free(x->last_id);
		x->last_id = xstrdup(event->id);
	}
	if (event->len == 0)
		return true;
	x->events++;
	if (strcmp(event->name, "message") == 0)
		mcp_http_take_text(x, event->data, event->len);
	return true;
}

/* Notes that the server was heard, so that whoever begins the session may go on. */
static void mcp_http_heard(struct mcp_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->heard = true;
	pthread_cond_broadcast(&server->changed);
	pthread_mutex_unlock(&server->lock);
}

static bool mcp_http_on_head(int status, void *arg)
{
	struct exchange *x = arg;
	char *type = http_response_header(&x->response, "Content-Type");
	char *id = status < 300 ? http_response_header(&x->response, "Mcp-Session-Id") : NULL;
	x->is_stream = status == 200 && type && strncasecmp(type, "text/event-stream", 17) == 0;
	free(type);
	if (!x->wait)
		mcp_http_heard(x->server);
	pthread_mutex_lock(&x->server->lock);
	if (id && !x->server->session_id && x->server->session == x->session &&
	    !mcp_is_stateless(x->server)) {
		x->server->session_id = id;
		id = NULL;
	}
	pthread_mutex_unlock(&x->server->lock);
	free(id);
	return true;
}

static bool mcp_http_on_data(const char *data, size_t len, void *arg)
{
	struct exchange *x = arg;
	if (x->is_stream)
		return sse_feed(&x->sse, data, len);
	if (x->body.len + len > MCP_MESSAGE_MAX) {
		x->too_large = true;
		return false;
	}
	buf_add(&x->body, data, len);
	return true;
}

static void mcp_http_send_answers(struct mcp_server *server, const struct mcp_wait *wait);

/* Whether there is nothing more to wait for.  Runs outside of libcurl, so it may make the requests
 * that answer those of the server. */
static bool mcp_http_on_stop(void *arg)
{
	struct exchange *x = arg;
	struct mcp_server *server = x->server;
	if (x->pending)
		mcp_http_send_answers(server, x->wait);
	if (x->pending && !mcp_answer_questions(server, x->pending, x->wait))
		return true;
	pthread_mutex_lock(&server->lock);
	/* what another call found out of the session is not yet what becomes of this one */
	bool over = x->pending && (x->pending->lost || x->pending->reply);
	bool settled = server->session != x->session && !over;
	if (!x->wait)
		settled = settled || server->closing || server->state == MCP_IDLE ||
		    server->state == MCP_DOWN;
	if (over)
		settled = settled || clock_monotonic_ms() - x->pending->done_at >= LINGER_MS;
	pthread_mutex_unlock(&server->lock);
	return settled || (x->wait && mcp_is_over(x->wait));
}

/* ---- Requests */

/* POSTs text, or GETs a stream where it is NULL. */
static enum http_end mcp_http_perform_as(struct exchange *x, const char *text)
{
	struct header_list headers;
	headers_init(&headers, x->server, x->pending ? x->pending->headers : NULL);
	x->in_session = headers.session_id;
	header_add(&headers, "Authorization", x->authorization);
	if (text) {
		header_add(&headers, "Content-Type", "application/json");
		header_add(&headers, "Accept", "application/json, text/event-stream");
	} else {
		header_add(&headers, "Accept", "text/event-stream");
		header_add(&headers, "Last-Event-ID", x->last_id);
	}
	struct http_request request = {.method = text ? "POST" : "GET",
	    .url = x->server->settings.url,
	    .headers = headers.items,
	    .header_count = headers.count,
	    .body = text,
	    .body_len = text ? strlen(text) : 0,
	    .connect_ms = CONNECT_MS,
	    .deadline_ms = x->wait ? x->wait->deadline_ms : 0,
	    .acts = text && x->pending && x->pending->call,
	    .on_head = mcp_http_on_head,
	    .on_data = mcp_http_on_data,
	    .stop = mcp_http_on_stop,
	    .arg = x};
	http_response_release(&x->response);
	x->response = (struct http_response){0};
	buf_reset(&x->body);
	x->is_stream = false;
	x->events = 0;
	x->sse = (struct sse){
	    .max = MCP_MESSAGE_MAX, .on_event = mcp_http_on_event, .arg = x, .retry_ms = -1};
	enum http_end end = http_call(&request, &x->response);
	if (x->is_stream && end == HTTP_DONE)
		sse_finish(&x->sse);
	if (x->sse.retry_ms >= 0)
		x->retry_ms = x->sse.retry_ms;
	sse_release(&x->sse);
	headers_release(&headers);
	return end;
}

/* Sends with a token, where the server is one that wants them, and once more with another when it
 * refuses that.  Without one, x->why says why, nothing is sent: HTTP_REFUSED. */
static enum http_end mcp_http_perform(struct exchange *x, const char *text)
{
	struct mcp_oauth *oauth = x->server->oauth;
	const struct mcp_wait patient = {.deadline_ms = clock_monotonic_ms() + TOKEN_MS};
	const struct mcp_wait *wait = x->wait ? x->wait : &patient;
	secret_free(x->authorization);
	x->authorization = oauth ? mcp_oauth_header(oauth, wait, x->why) : NULL;
	if (*x->why) {
		http_response_release(&x->response);
		x->response = (struct http_response){0};
		x->is_stream = false;
		x->events = 0; /* nothing was heard: MOST_RESUMES counts this try, too */
		return HTTP_REFUSED;
	}
	enum http_end end = mcp_http_perform_as(x, text);
	if (oauth && end == HTTP_DONE) {
		char *challenge = http_response_header(&x->response, "WWW-Authenticate");
		char *error = mcp_challenge_get(challenge, "error");
		int status = x->response.status;
		/* it wants a token, or another one, be it for another scope */
		bool wants = status == 401 ||
		    (status == 403 && error && strcmp(error, "insufficient_scope") == 0);
		free(error);
		if (wants && mcp_oauth_refused(oauth, x->authorization, challenge, wait, x->why)) {
			secret_free(x->authorization);
			x->authorization = mcp_oauth_header(oauth, wait, x->why);
			end = mcp_http_perform_as(x, text);
		}
		free(challenge);
	}
	return end;
}

static void exchange_init(struct exchange *x, struct mcp_server *server,
    struct mcp_pending *pending, const struct mcp_wait *wait)
{
	*x = (struct exchange){
	    .server = server, .pending = pending, .wait = wait, .retry_ms = RETRY_MS};
	pthread_mutex_lock(&server->lock);
	x->session = server->session;
	pthread_mutex_unlock(&server->lock);
}

static void exchange_release(struct exchange *x)
{
	http_response_release(&x->response);
	buf_release(&x->body);
	free(x->last_id);
	secret_free(x->authorization);
}

/* Whether an answer of 4xx is the reply to the request.  In a session only a 400 is: 404 says that
 * the session is over. */
static bool mcp_http_is_refusal(struct exchange *x)
{
	if (!x->pending || x->response.status / 100 != 4)
		return false;
	cJSON *json = json_parse(buf_str(&x->body), x->body.len, JSON_REQUEST_DEPTH, NULL);
	bool ours = mcp_kind_of(json) == MCP_REPLY && mcp_reply_id(json) == x->pending->id;
	cJSON_Delete(json);
	return ours && (x->response.status == 400 || !x->in_session);
}

static bool mcp_http_has_reply(struct exchange *x)
{
	pthread_mutex_lock(&x->server->lock);
	bool reply = x->pending && x->pending->reply;
	pthread_mutex_unlock(&x->server->lock);
	return reply;
}

/* Sleeps before a stream is taken up again; false when there is nothing more to wait for. */
static bool mcp_http_rest(struct exchange *x, int64_t ms)
{
	int64_t least = x->wait ? LEAST_RETRY_MS : RETRY_MS;
	ms = ms < least ? least : ms > MOST_RETRY_MS ? MOST_RETRY_MS : ms;
	int64_t until = clock_monotonic_ms() + ms;
	while (clock_monotonic_ms() < until) {
		if (mcp_http_on_stop(x))
			return false;
		pthread_mutex_lock(&x->server->lock);
		mcp_pause(x->server, until);
		pthread_mutex_unlock(&x->server->lock);
	}
	return !mcp_http_on_stop(x);
}

/* Whether the server, or a proxy on the way, failed only for a while. */
static bool mcp_http_is_passing(const struct exchange *x)
{
	int status = x->response.status;
	return status == 0 || (status >= 500 && status != 501);
}

/* Takes up a stream that ended before the reply came; last_id says where. */
static void mcp_http_resume(struct exchange *x)
{
	int fruitless = 0;
	while (!mcp_http_has_reply(x) && x->last_id && fruitless < MOST_RESUMES &&
	    mcp_http_rest(x, x->retry_ms)) {
		mcp_http_perform(x, NULL);
		if (x->response.status >= 400 && !mcp_http_is_passing(x))
			return;
		fruitless = x->events ? 0 : fruitless + 1;
	}
}

/* Strikes all values of headers that were sent out of the texts in json: whoever refuses a key may
 * repeat it. */
static void mcp_http_strike(const struct exchange *x, cJSON *json)
{
	const struct mcp_settings *settings = &x->server->settings;
	cJSON *child;
	for (size_t i = 0; cJSON_IsString(json) && i < settings->header_count; i++)
		redact_known(json->valuestring, settings->headers[i].value);
	if (cJSON_IsString(json) && x->authorization)
		redact_known(json->valuestring, x->authorization);
	cJSON_ArrayForEach(child, json)
		mcp_http_strike(x, child);
}

/* Adds to why what a refusal says besides its status: the message of a JSON-RPC error, or that it
 * is a redirect.  Where that leads is for the log, without the query, in which a key may be. */
static void mcp_http_refused(struct exchange *x, char why[MCP_WHY_SIZE])
{
	cJSON *json = json_parse(buf_str(&x->body), x->body.len, JSON_REQUEST_DEPTH, NULL);
	mcp_http_strike(x, json);
	const char *message = json_str(json_get(json, "error"), "message");
	char *place =
	    x->response.status / 100 == 3 ? http_response_header(&x->response, "Location") : NULL;
	if (place) {
		place[strcspn(place, "?#")] = '\0';
		log_info("mcp %s: status %d leads to %.300s", x->server->settings.name,
		    x->response.status, place);
		snprintf(why, MCP_WHY_SIZE,
		    "the server answered %d, which leads elsewhere and is not followed",
		    x->response.status);
	} else {
		snprintf(why, MCP_WHY_SIZE, "the server answered %d%s%.300s", x->response.status,
		    message ? ": " : "", message ? message : "");
	}
	process_clean(why);
	free(place);
	cJSON_Delete(json);
}

/* What has become of a message that got no reply. */
static enum mcp_sent mcp_http_judge(struct exchange *x, enum http_end end, char why[MCP_WHY_SIZE])
{
	int status = x->response.status;
	if (*x->why && !status) {
		snprintf(why, MCP_WHY_SIZE, "%s", x->why);
		return MCP_FAILED;
	}
	if (end == HTTP_NO_CONNECT || end == HTTP_UNAVAILABLE || end == HTTP_BAD_REQUEST) {
		/* why goes to the model and to clients, whom the place does not concern */
		log_info("mcp %s: %s", x->server->settings.name, x->response.reason);
		snprintf(why, MCP_WHY_SIZE, "%s", http_failure(&x->response));
		mcp_lose(x->server, x->session, "%s", why);
		return end == HTTP_NO_CONNECT ? MCP_UNSENT : MCP_FAILED;
	}
	if (end == HTTP_DONE && (status == 404 || (status == 400 && !x->begun)) && x->in_session) {
		mcp_http_refused(x, why);
		mcp_lose(x->server, x->session, "the server has ended the session");
		return x->begun ? MCP_FAILED : MCP_UNSENT;
	}
	if (end == HTTP_DONE && status >= 300) {
		mcp_http_refused(x, why);
		if (*x->why)
			snprintf(why, MCP_WHY_SIZE, "%s", x->why);
		return MCP_FAILED;
	}
	if (x->too_large || x->sse.too_large || end == HTTP_TOO_LARGE) {
		snprintf(why, MCP_WHY_SIZE, "the answer is too large");
		return MCP_SENT;
	}
	if (!x->pending && end != HTTP_DONE)
		return MCP_FAILED;
	if (x->pending && end != HTTP_STOPPED && end != HTTP_TIMED_OUT)
		snprintf(why, MCP_WHY_SIZE, "the server gave no answer%s%.200s",
		    *x->response.reason ? ": " : "", http_failure(&x->response));
	return MCP_SENT;
}

static enum mcp_sent mcp_http_send(struct mcp_server *server, const char *text,
    struct mcp_pending *pending, const struct mcp_wait *wait, char why[MCP_WHY_SIZE])
{
	struct exchange x;
	enum mcp_sent sent = MCP_SENT;
	exchange_init(&x, server, pending, wait);
	enum http_end end = mcp_http_perform(&x, text);
	x.begun = x.is_stream;
	if (pending && end == HTTP_DONE)
		pending->status = x.response.status;
	if (end == HTTP_DONE && !x.is_stream &&
	    (x.response.status == 200 || (pending && x.response.status / 100 == 2) ||
		mcp_http_is_refusal(&x)))
		mcp_http_take_text(&x, buf_str(&x.body), x.body.len);
	if (pending && x.is_stream && !mcp_http_has_reply(&x) && !mcp_is_over(wait) &&
	    !pending->headers)
		mcp_http_resume(&x);
	if (!mcp_http_has_reply(&x)) {
		sent = mcp_http_judge(&x, end, why);
	} else { /* nobody else waits for it by now */
		cJSON *result = json_get(pending->reply, "result");
		mcp_http_strike(&x, json_get(pending->reply, "error"));
		if (cJSON_IsTrue(json_get(result, "isError")))
			mcp_http_strike(&x, result);
	}
	exchange_release(&x);
	return sent;
}

/* With the lock held; text is taken over. */
static void mcp_http_queue_answer(struct mcp_server *server, struct buf text)
{
	server->answers =
	    xrealloc(server->answers, (server->answer_count + 1) * sizeof(*server->answers));
	server->answers[server->answer_count++] = text;
	pthread_cond_broadcast(&server->changed);
}

/* Queues an answer: it is a request of its own, and this thread is in the middle of one. */
static void mcp_http_answer(struct mcp_server *server, const char *text)
{
	pthread_mutex_lock(&server->lock);
	if (server->answer_count < MOST_ANSWERS) {
		struct buf copy = {0};
		buf_puts(&copy, text);
		mcp_http_queue_answer(server, copy);
	}
	pthread_mutex_unlock(&server->lock);
}

static void mcp_http_send_answers(struct mcp_server *server, const struct mcp_wait *wait)
{
	while (!mcp_is_over(wait)) {
		pthread_mutex_lock(&server->lock);
		size_t count = server->answer_count;
		unsigned session = server->session;
		struct buf text = count ? server->answers[0] : (struct buf){0};
		if (count)
			memmove(server->answers, server->answers + 1, (count - 1) * sizeof(text));
		server->answer_count -= count > 0;
		pthread_mutex_unlock(&server->lock);
		if (!count)
			return;
		char why[MCP_WHY_SIZE];
		struct mcp_wait own = *wait;
		int64_t most = clock_monotonic_ms() + CONNECT_MS;
		own.deadline_ms = most < own.deadline_ms ? most : own.deadline_ms;
		bool cut = mcp_http_send(server, buf_str(&text), NULL, &own, why) != MCP_SENT &&
		    mcp_is_over(wait);
		pthread_mutex_lock(&server->lock);
		/* it was the time of this call that ended, and the answer may be another's */
		bool keep = cut && server->session == session;
		if (keep)
			mcp_http_queue_answer(server, text);
		pthread_mutex_unlock(&server->lock);
		if (!keep)
			buf_release(&text);
	}
}

/* ---- Listening */

static void *mcp_http_listen_on(void *arg)
{
	struct mcp_server *server = arg;
	struct exchange x;
	unsigned failures = 0;
	exchange_init(&x, server, NULL, NULL);
	do {
		mcp_http_perform(&x, NULL);
		mcp_http_heard(server);
		bool heard = x.response.status == 200 && x.is_stream;
		/* 405: it has nothing to say unasked */
		if (!heard && !mcp_http_is_passing(&x))
			break;
		failures = heard ? 0 : failures + 1;
	} while (mcp_http_rest(&x, failures ? mcp_retry_ms(failures) : x.retry_ms));
	exchange_release(&x);
	return NULL;
}

void mcp_http_listen(struct mcp_server *server)
{
	int64_t until = clock_monotonic_ms() + LISTEN_MS;
	server->heard = false;
	server->has_listener = mcp_thread(&server->listener, mcp_http_listen_on, server);
	if (!server->has_listener) {
		log_warning("mcp %s: no thread to listen with", server->settings.name);
		return;
	}
	/* what the server says before that is lost, and it may ask something about the first
	 * call */
	pthread_mutex_lock(&server->lock);
	while (!server->heard && !server->closing && clock_monotonic_ms() < until)
		mcp_pause(server, until);
	pthread_mutex_unlock(&server->lock);
}

static void mcp_http_close(struct mcp_server *server)
{
	struct header_list headers;
	struct http_response response = {0};
	if (server->has_listener)
		pthread_join(server->listener, NULL);
	server->has_listener = false;
	headers_init(&headers, server, NULL);
	char *authorization = server->oauth ? mcp_oauth_known(server->oauth) : NULL;
	header_add(&headers, "Authorization", authorization);
	struct http_request request = {.method = "DELETE",
	    .url = server->settings.url,
	    .headers = headers.items,
	    .header_count = headers.count,
	    .deadline_ms = clock_monotonic_ms() + GOODBYE_MS};
	if (headers.session_id) /* without an id there is nothing to end at the server */
		http_call(&request, &response);
	http_response_release(&response);
	headers_release(&headers);
	secret_free(authorization);
	pthread_mutex_lock(&server->lock);
	free(server->session_id);
	server->session_id = NULL;
	pthread_mutex_unlock(&server->lock);
}

const struct mcp_transport mcp_over_http = {.send = mcp_http_send,
    .answer = mcp_http_answer,
    .send_answers = mcp_http_send_answers,
    .close = mcp_http_close};
