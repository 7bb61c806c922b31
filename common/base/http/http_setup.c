/* SPDX-License-Identifier: ISC */
/* The settings of a call. */
#include "base/http/http_curl.h"
#include "base/http/http_head.h"
#include "base/memory.h"

#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static curl_socket_t http_open_socket(
    void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)arg, (void)purpose;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void http_setup_long(struct http_call *c, CURLoption option, long value)
{
	c->curl->easy_setopt(c->handle->easy, option, value);
}

static bool http_setup_pointer(struct http_call *c, CURLoption option, const void *value)
{
	return c->curl->easy_setopt(c->handle->easy, option, value) == CURLE_OK;
}

/* Whether a value is printable, so that it cannot add a header or a request. */
static bool http_setup_is_line(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			return false;
	return true;
}

static bool http_setup_add_line(struct http_call *c, const char *line)
{
	struct curl_slist *longer = c->curl->slist_append(c->headers, line);
	if (longer)
		c->headers = longer;
	return longer != NULL;
}

/* Sets the request's headers, and none that libcurl would add by itself.  libcurl takes "Name:" as
 * the wish to send no such header, and "Name;" for an empty value. */
static bool http_setup_headers(struct http_call *c)
{
	const struct http_request *request = c->request;
	bool added = http_setup_add_line(c, "Expect:"), has_type = false;
	for (size_t i = 0; added && i < request->header_count; i++) {
		const char *name = request->headers[i].name, *value = request->headers[i].value;
		if (!http_is_token(name) || !http_setup_is_line(value))
			return false;
		bool blank = value[strspn(value, " \t")] == '\0';
		char *line = blank ? xasprintf("%s;", name) : xasprintf("%s: %s", name, value);
		added = http_setup_add_line(c, line);
		secret_free(line); /* it may hold a key */
		has_type = has_type || strcasecmp(name, "Content-Type") == 0;
	}
	if (added && !has_type)
		added = http_setup_add_line(c, "Content-Type:");
	return added && http_setup_pointer(c, CURLOPT_HTTPHEADER, c->headers);
}

static bool http_setup_method(struct http_call *c)
{
	const struct http_request *request = c->request;
	CURL *easy = c->handle->easy;
	curl_off_t len = (curl_off_t)request->body_len;
	bool body = request->body || request->read;
	const char *method = request->method ? request->method : body ? "POST" : "GET";
	if (strcmp(method, "HEAD") == 0) {
		http_setup_long(c, CURLOPT_NOBODY, 1);
	} else if (!request->body && request->read) {
		http_setup_long(c, CURLOPT_UPLOAD, 1);
		c->curl->easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, len);
	} else if (body || strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0) {
		c->curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, body ? len : 0);
		http_setup_pointer(c, CURLOPT_POSTFIELDS, body ? request->body : "");
	}
	return http_is_token(method) && http_setup_pointer(c, CURLOPT_CUSTOMREQUEST, method);
}

enum http_end http_call_set_up(struct http_call *c, const char **why)
{
	int64_t connect_ms = c->request->connect_ms;
	if (!http_setup_is_line(c->request->url) ||
	    !http_setup_pointer(c, CURLOPT_URL, c->request->url)) {
		*why = "the URL is not valid";
		return HTTP_BAD_REQUEST;
	}
	if (!http_setup_headers(c) || !http_setup_method(c)) {
		*why = "the method or a header is not valid";
		return HTTP_BAD_REQUEST;
	}
	http_setup_long(c, CURLOPT_NOSIGNAL, 1);
	c->curl->easy_setopt(c->handle->easy, CURLOPT_OPENSOCKETFUNCTION, http_open_socket);
	/* a call that ends does not wait for a resolver that is still at work; that thread ends by
	 * itself */
	http_setup_long(c, CURLOPT_QUICK_EXIT, 1);
	http_setup_long(c, CURLOPT_TCP_KEEPALIVE, 1);
	http_setup_long(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
	http_setup_long(c, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
	http_setup_long(c, CURLOPT_CONNECTTIMEOUT_MS,
	    connect_ms > 0 && connect_ms < INT_MAX ? (long)connect_ms : INT_MAX);
	if (!http_setup_pointer(c, CURLOPT_PROTOCOLS_STR, "http,https") ||
	    !http_setup_pointer(c, CURLOPT_CAINFO, c->curl->ca_file) ||
	    !http_setup_pointer(c, CURLOPT_CAPATH, c->curl->ca_directory) ||
	    !http_setup_pointer(c, CURLOPT_USERAGENT, "agentgraph/" AGENTGRAPH_VERSION)) {
		*why = "libcurl lacks a setting";
		return HTTP_UNAVAILABLE;
	}
	return HTTP_DONE;
}
