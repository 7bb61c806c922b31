/* SPDX-License-Identifier: ISC */
/* Making an HTTP call: libcurl's callbacks, and the limits of time. */
#include "base/http/http.h"

#include "base/http/http_curl.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_MAX_BODY ((size_t)16 << 20)
#define MAX_HEAD ((size_t)256 << 10)
#define STOP_MS 150 /* between two questions whether to stop */
#define MAX_WAIT_MS 60000

/* Ends the call from our side, unless it has ended already. */
static void http_end_call(struct http_call *c, enum http_end end, const char *reason)
{
	if (c->end != HTTP_DONE)
		return;
	c->end = end;
	snprintf(c->response->reason, sizeof(c->response->reason), "%s", reason);
}

/* ---- what libcurl calls ---- */

static int http_on_connected(void *arg, char *ip, char *local_ip, int port, int local_port)
{
	(void)ip, (void)local_ip, (void)port, (void)local_port;
	struct http_call *c = arg;
	if (c->connected && c->request->acts) { /* it was sent on a kept one before */
		http_end_call(c, HTTP_CLOSED, "the connection ended too early");
		return CURL_PREREQFUNC_ABORT;
	}
	c->connected = c->sent_at = clock_monotonic_ms();
	return CURL_PREREQFUNC_OK;
}

static size_t http_on_read(char *into, size_t size, size_t count, void *arg)
{
	struct http_call *c = arg;
	size_t left = c->request->body_len - c->given;
	size_t room = size * count < left ? size * count : left;
	size_t got = room > 0 ? c->request->read(into, room, c->request->arg) : 0;
	if (got == 0 ? room > 0 : got > room) {
		http_end_call(c, HTTP_REFUSED, "the body could not be read");
		return CURL_READFUNC_ABORT;
	}
	c->given += got;
	return got;
}

/* 0 for a line that is no status line. */
static int http_status_of(const char *line, size_t len)
{
	const char *blank =
	    len > 5 && memcmp(line, "HTTP/", 5) == 0 ? memchr(line, ' ', len) : NULL;
	int status = 0;
	for (const char *p = blank ? blank + 1 : line; blank && p < line + len; p++) {
		if (*p < '0' || *p > '9' || status > 99)
			break;
		status = status * 10 + (*p - '0');
	}
	return status;
}

/* The line is whole.  An interim answer (1xx) is followed by another head, which replaces it. */
static size_t http_on_header(char *line, size_t size, size_t count, void *arg)
{
	struct http_call *c = arg;
	size_t len = size * count;
	int status = http_status_of(line, len);
	if (status) {
		c->response->status = status;
		buf_reset(&c->response->head);
	}
	if (c->response->head.len + len > MAX_HEAD) {
		http_end_call(c, HTTP_TOO_LARGE, "the answer's head is too large");
		return 0;
	}
	buf_add(&c->response->head, line, len);
	if (c->response->status >= 200) /* else its first byte is still to come */
		c->heard_at = clock_monotonic_ms();
	return len;
}

/* False when on_head wants no more. */
static bool http_tell_head(struct http_call *c)
{
	if (c->head_told || c->response->status < 200)
		return true;
	c->head_told = true;
	if (!c->request->on_head || c->request->on_head(c->response->status, c->request->arg))
		return true;
	http_end_call(c, HTTP_REFUSED, "the answer was not wanted");
	return false;
}

/* The clock is read last: what the caller does with the data is not the server's silence. */
static size_t http_on_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_call *c = arg;
	const struct http_request *r = c->request;
	struct buf *body = &c->response->body;
	size_t len = size * count, most = r->max_body ? r->max_body : DEFAULT_MAX_BODY;
	bool wanted = http_tell_head(c);
	if (wanted && r->on_data) {
		wanted = r->on_data(data, len, r->arg);
		if (!wanted)
			http_end_call(c, HTTP_REFUSED, "the answer was not wanted");
	} else if (wanted) {
		wanted = len <= most && body->len <= most - len;
		if (wanted)
			buf_add(body, data, len);
		else
			http_end_call(c, HTTP_TOO_LARGE, "the answer is too large");
	}
	c->heard_at = clock_monotonic_ms();
	return wanted ? len : 0;
}

/* ---- clocks ---- */

/* Keeps the earlier of two times; true when it has passed. */
static bool http_passed(int64_t from, int64_t span, int64_t now, int64_t *next)
{
	if (span <= 0 || from == 0)
		return false;
	int64_t at = from > INT64_MAX - span ? INT64_MAX : from + span;
	if (at < *next)
		*next = at;
	return at <= now;
}

/* The four times.  Sets *next to when the earliest one is over. */
static void http_check_clocks(struct http_call *c, int64_t now, int64_t *next)
{
	const struct http_request *r = c->request;
	const char *late = NULL;
	if (!c->connected && http_passed(c->started, r->connect_ms, now, next))
		late = "no connection in time";
	if (c->connected && !c->heard_at && http_passed(c->sent_at, r->first_byte_ms, now, next))
		late = "no answer in time";
	if (http_passed(c->heard_at, r->idle_ms, now, next))
		late = "the answer stopped half-way";
	if (r->deadline_ms > 0 && r->deadline_ms < *next)
		*next = r->deadline_ms;
	if (r->deadline_ms > 0 && r->deadline_ms <= now)
		late = c->heard_at ? "the answer took too long" : "no answer in time";
	if (late)
		http_end_call(c, HTTP_TIMED_OUT, late);
}

static void http_ask_stop(struct http_call *c, int64_t now, int64_t *next)
{
	if (!c->request->stop)
		return;
	if (now - c->asked_at >= STOP_MS) {
		c->asked_at = now;
		if (c->request->stop(c->request->arg))
			http_end_call(c, HTTP_STOPPED, "stopped");
	}
	if (c->asked_at + STOP_MS < *next)
		*next = c->asked_at + STOP_MS;
}

/* ---- the call ---- */

static bool http_never_connected(CURLcode code)
{
	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_PROXY:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return true;
	default:
		return false;
	}
}

/* Ends the call as libcurl says, unless it has ended already. */
static void http_take_code(struct http_call *c, CURLcode code)
{
	enum http_end end = HTTP_CLOSED;
	if (code == CURLE_OK && http_tell_head(c))
		return;
	if (code == CURLE_OK)
		end = HTTP_DONE;
	else if (code == CURLE_OPERATION_TIMEDOUT)
		end = HTTP_TIMED_OUT;
	else if (!c->connected &&
	    (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT))
		end = HTTP_BAD_REQUEST;
	else if (!c->connected || http_never_connected(code))
		end = HTTP_NO_CONNECT;
	const char *text =
	    c->handle->message[0] ? c->handle->message : c->curl->easy_strerror(code);
	if (end == HTTP_TIMED_OUT)
		text = "no connection in time"; /* as http_check_clocks, which may come second */
	http_end_call(c, end, text);
	process_clean(c->response->reason);
}

/* True when libcurl has ended the transfer, and so the call has ended. */
static bool http_take_end(struct http_call *c)
{
	int left;
	for (CURLMsg *m; (m = c->curl->multi_info_read(c->handle->multi, &left));) {
		if (m->msg != CURLMSG_DONE)
			continue;
		http_take_code(c, m->data.result);
		return true;
	}
	return false;
}

/* Whether there is nothing to do at once; who wants to hear of that has heard of it then. */
static bool http_would_wait(struct http_call *c)
{
	int ready = 0;
	if (!c->request->on_idle)
		return true;
	c->curl->multi_poll(c->handle->multi, NULL, 0, 0, &ready);
	if (ready == 0)
		c->request->on_idle(c->request->arg);
	return ready == 0;
}

static void http_drive(struct http_call *c)
{
	int running;
	while (c->end == HTTP_DONE) {
		if (c->curl->multi_perform(c->handle->multi, &running) != CURLM_OK)
			http_end_call(c, HTTP_UNAVAILABLE, "libcurl failed");
		if (http_take_end(c))
			return;
		int64_t now = clock_monotonic_ms(), next = INT64_MAX;
		/* while a body goes out, the first byte of the answer is not due yet */
		curl_off_t sent = 0;
		c->curl->easy_getinfo(c->handle->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
		if (sent != c->sent)
			c->sent_at = now;
		c->sent = sent;
		http_check_clocks(c, now, &next);
		http_ask_stop(c, now, &next);
		int64_t wait = next < now ? 0 : next - now;
		if (c->end == HTTP_DONE && http_would_wait(c))
			c->curl->multi_poll(c->handle->multi, NULL, 0,
			    wait > MAX_WAIT_MS ? MAX_WAIT_MS : (int)wait, NULL);
	}
}

static void http_transfer(struct http_call *c)
{
	const char *why;
	enum http_end end = http_call_set_up(c, &why);
	if (end != HTTP_DONE) {
		http_end_call(c, end, why);
		return;
	}
	CURL *easy = c->handle->easy;
	c->curl->easy_setopt(easy, CURLOPT_PREREQFUNCTION, http_on_connected);
	c->curl->easy_setopt(easy, CURLOPT_PREREQDATA, c);
	c->curl->easy_setopt(easy, CURLOPT_READFUNCTION, http_on_read);
	c->curl->easy_setopt(easy, CURLOPT_READDATA, c);
	c->curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, http_on_header);
	c->curl->easy_setopt(easy, CURLOPT_HEADERDATA, c);
	c->curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, http_on_body);
	c->curl->easy_setopt(easy, CURLOPT_WRITEDATA, c);
	c->curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, c->handle->message);
	c->started = clock_monotonic_ms();
	if (c->curl->multi_add_handle(c->handle->multi, easy) != CURLM_OK) {
		http_end_call(c, HTTP_UNAVAILABLE, "libcurl failed");
		return;
	}
	http_drive(c);
	/* libcurl would keep a connection of HTTP/2, which may be dead */
	if (c->end != HTTP_DONE)
		c->curl->easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	c->curl->multi_remove_handle(c->handle->multi, easy);
}

enum http_end http_call(const struct http_request *request, struct http_response *response)
{
	struct http_call c = {.request = request, .response = response};
	const char *why;
	sigset_t before;
	c.curl = http_curl(&why);
	c.handle = c.curl ? http_handle_take(c.curl, request->url) : NULL;
	if (!c.handle) {
		http_end_call(&c, HTTP_UNAVAILABLE, c.curl ? "libcurl failed" : why);
		return response->end = c.end;
	}
	/* OpenSSL writes to sockets whose other end may be closed */
	sigpipe_block(&before);
	http_transfer(&c);
	http_handle_give(c.curl, c.handle);
	if (c.end != HTTP_DONE && response->status < 200)
		response->status = 0; /* that was none of the answer */
	sigpipe_restore(&before);
	c.curl->slist_free_all(c.headers);
	return response->end = c.end;
}
