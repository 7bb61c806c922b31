/* One call in the making, for http.c and http_setup.c. */
#ifndef AGENTGRAPH_BASE_HTTP_CALL_H
#define AGENTGRAPH_BASE_HTTP_CALL_H

#include "base/http.h"
#include "base/http_curl.h"

struct http_call {
	const struct http_request *request;
	struct http_response *response;
	const struct http_curl *curl;
	struct http_handle *handle;
	struct curl_slist *headers;
	enum http_end end; /* what ended the call from our side; HTTP_DONE: nothing yet */
	size_t given;      /* bytes of the body that `read` gave */
	curl_off_t sent;   /* bytes of the body that went out */
	bool head_told;    /* on_head was asked */

	/* By clock_monotonic_ms; 0: not yet. */
	int64_t started, connected, sent_at, heard_at, asked_at;
};

/* CURLOPT_READFUNCTION: the next piece of a body that is read. */
size_t http_call_read(char *into, size_t size, size_t count, void *call);

/* Tells libcurl what is asked for.  On false the call has ended. */
bool http_call_set_up(struct http_call *c);

/* Ends the call from our side, unless it has ended already. */
void http_call_end(struct http_call *c, enum http_end end, const char *reason);

#endif
