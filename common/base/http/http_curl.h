/* SPDX-License-Identifier: ISC */
/*
 * The inside of the HTTP client, for its own files: libcurl's functions, found when the first
 * request is made; a pool of handles that keep connections; and a call under way.
 *
 * A handle belongs to one call at a time.  It has its own multi, whose connections outlive the
 * call.  Of the handles in the pool, the one is preferred whose latest call was to the same origin.
 * A process that is forked without exec starts with an empty pool and leaves its parent's handles
 * alone.
 */
#ifndef AGENTGRAPH_BASE_HTTP_HTTP_CURL_H
#define AGENTGRAPH_BASE_HTTP_HTTP_CURL_H

#include "base/http/http.h"

#include <curl/curl.h>

struct http_curl {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_version_info) *version_info;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_setopt) *multi_setopt;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_perform) *multi_perform;
	__typeof__(curl_multi_poll) *multi_poll;
	__typeof__(curl_multi_info_read) *multi_info_read;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_getdate) *getdate;
	const char *ca_file, *ca_directory; /* for new connections; NULL: none */
};

/* The functions, or NULL with *why set to what is wrong with libcurl here. */
const struct http_curl *http_curl(const char **why);

struct http_handle {
	CURLM *multi;
	CURL *easy;
	char *origin; /* "https://host:port" of the latest call, or NULL */
	char message[CURL_ERROR_SIZE];
	int64_t idle_since;
	struct http_handle *next;
};

/* A handle for a call to url, with no options set; NULL when libcurl gives none. */
struct http_handle *http_handle_take(const struct http_curl *curl, const char *url);

/* Keeps a handle for the next call.  Its easy must not be in a multi any more. */
void http_handle_give(const struct http_curl *curl, struct http_handle *h);

struct http_call {
	const struct http_request *request;
	struct http_response *response;
	const struct http_curl *curl;
	struct http_handle *handle;
	struct curl_slist *headers;
	enum http_end end; /* why we end the call; HTTP_DONE: we do not */
	size_t given;      /* bytes of the body that `read` gave */
	curl_off_t sent;   /* bytes of the body that went out */
	bool head_told;    /* on_head was called */

	/* By clock_monotonic_ms; 0: not yet. */
	int64_t started, connected, sent_at, heard_at, asked_at;
};

/* Sets libcurl's options for the request, except callbacks.  HTTP_DONE, or how the call must end,
 * with *why. */
enum http_end http_call_set_up(struct http_call *c, const char **why);

#endif
