/* SPDX-License-Identifier: ISC */
/*
 * The HTTP client: the one place that knows libcurl.
 *
 * libcurl is loaded when the first request is made, so a process that makes none does not pay for
 * it.  A call blocks its thread and takes no signals.  Connections are kept and used again by later
 * calls of any thread of the process, but never by a forked child.  Where a kept connection turns
 * out to be dead before any byte of an answer came, the request is sent again on a new one, unless
 * it may not be done twice.
 *
 * Redirects are not followed; only http and https are spoken, HTTP/2 over TLS alone; no cookies are
 * kept; certificates are verified with those of the system, or of SSL_CERT_FILE and SSL_CERT_DIR;
 * proxies are those of the environment (https_proxy, no_proxy).  The inside is in http_curl.h.
 */
#ifndef AGENTGRAPH_BASE_HTTP_HTTP_H
#define AGENTGRAPH_BASE_HTTP_HTTP_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_header {
	const char *name, *value;
};

/* A request.  All of it is borrowed for the time of the call; a time of 0 means no limit. */
struct http_request {
	const char *method; /* NULL: GET, or POST with a body */
	const char *url;
	const struct http_header *headers;
	size_t header_count;
	const void *body;
	size_t body_len;

	/* Gives the body, where body is NULL and this is not: fills in up to size bytes and returns
	 * how many, until body_len bytes are given.  0 before that, or SIZE_MAX, ends the call:
	 * HTTP_REFUSED. */
	size_t (*read)(char *into, size_t size, void *arg);

	int64_t connect_ms;    /* to connect, TLS included */
	int64_t first_byte_ms; /* from then, or from when the body last moved, to the answer */
	int64_t idle_ms;     /* between two bytes of the answer, not counting the time in on_data */
	int64_t deadline_ms; /* for the whole call, by clock_monotonic_ms */
	size_t max_body;     /* bytes of the answer that are kept; 0: 16 MiB */
	bool acts;           /* not to be sent again where nobody knows whether it was done */

	/* Called when the answer's head is complete.  False ends the call: HTTP_REFUSED.  May be
	 * NULL. */
	bool (*on_head)(int status, void *arg);

	/* Called with each piece of the answer's body as it arrives; the body is then not kept.
	 * False ends the call: HTTP_REFUSED.  NULL: the body is kept in the response. */
	bool (*on_data)(const char *data, size_t len, void *arg);

	/* Called before waiting for the server, when all that has come was handed on.  May be
	 * NULL. */
	void (*on_idle)(void *arg);

	/* Asked several times a second; true ends the call: HTTP_STOPPED.  May be NULL. */
	bool (*stop)(void *arg);
	void *arg;
};

enum http_end {
	HTTP_DONE,        /* a whole answer, whatever its status */
	HTTP_NO_CONNECT,  /* name, connection or TLS failed: nothing was sent */
	HTTP_CLOSED,      /* the connection ended too early */
	HTTP_TIMED_OUT,   /* one of the four times was exceeded */
	HTTP_TOO_LARGE,   /* more than max_body */
	HTTP_REFUSED,     /* read, on_head or on_data said so */
	HTTP_STOPPED,     /* stop said so */
	HTTP_BAD_REQUEST, /* the URL or another setting is no good */
	HTTP_UNAVAILABLE  /* libcurl could not be loaded */
};

struct http_response {
	enum http_end end;
	int status;       /* of the answer; 0 before its head */
	struct buf head;  /* the answer's header lines */
	struct buf body;  /* where on_data is NULL; for on_data: empty */
	char reason[256]; /* why it is not HTTP_DONE, one sentence part without secrets */
};

/* Why it is not HTTP_DONE, for others than the log: reason can name hosts, addresses and ports,
 * this does not. */
const char *http_failure(const struct http_response *response);

/* Makes the request; returns response->end.  response is all-zero before, and is to be released. */
enum http_end http_call(const struct http_request *request, struct http_response *response);
void http_response_release(struct http_response *response);

/* The value of a header of the answer, malloc'd and trimmed; the last one with this name, in any
 * case.  NULL when there is none. */
char *http_response_header(const struct http_response *response, const char *name);

/* Milliseconds that Retry-After asks for, seconds or date; -1 when it asks for nothing. */
int64_t http_retry_after_ms(const struct http_response *response);

/* Closes the connections that are kept and not in use. */
void http_close_kept(void);

#endif
