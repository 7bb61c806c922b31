/* SPDX-License-Identifier: ISC */
/* Looking at an answer. */
#include "base/http/http.h"
#include "base/http/http_curl.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_SECONDS 1000000000 /* some thirty years */

void http_response_release(struct http_response *response)
{
	buf_release(&response->head);
	buf_release(&response->body);
	*response = (struct http_response){0};
}

const char *http_failure(const struct http_response *response)
{
	switch (response->end) {
	case HTTP_NO_CONNECT:
		return "the server cannot be reached";
	case HTTP_CLOSED:
		return "the connection ended too early";
	case HTTP_BAD_REQUEST:
	case HTTP_UNAVAILABLE:
		return "it cannot be made";
	case HTTP_TIMED_OUT:
	case HTTP_DONE:
	case HTTP_TOO_LARGE:
	case HTTP_REFUSED:
	case HTTP_STOPPED:
		break;
	}
	return response->reason;
}

char *http_response_header(const struct http_response *response, const char *name)
{
	size_t len = strlen(name);
	const char *value = NULL, *end = NULL;
	const char *line = buf_str(&response->head), *after = line + response->head.len;
	while (line < after) {
		const char *newline = memchr(line, '\n', (size_t)(after - line));
		const char *next = newline ? newline + 1 : after;
		if ((size_t)(next - line) > len && line[len] == ':' &&
		    strncasecmp(line, name, len) == 0) {
			value = line + len + 1;
			end = next;
		}
		line = next;
	}
	if (!value)
		return NULL;
	value += strspn(value, " \t"); /* up to the line's end at most */
	while (end > value && strchr(" \t\r\n", end[-1]))
		end--;
	return xstrndup(value, (size_t)(end - value));
}

static int64_t http_response_until_date(const char *text)
{
	const char *why;
	const struct http_curl *curl = http_curl(&why);
	time_t at = curl ? curl->getdate(text, NULL) : -1;
	if (at == -1)
		return -1;
	int64_t seconds = (int64_t)at - clock_now() / 1000000;
	if (seconds > MAX_SECONDS)
		return (int64_t)MAX_SECONDS * 1000;
	int64_t ms = (int64_t)at * 1000 - clock_now() / 1000;
	return ms > 0 ? ms : 0;
}

int64_t http_retry_after_ms(const struct http_response *response)
{
	char *text = http_response_header(response, "Retry-After");
	int64_t ms = -1;
	if (text && *text && text[strspn(text, "0123456789")] == '\0') {
		long long seconds = strtoll(text, NULL, 10);
		ms = (seconds < MAX_SECONDS ? seconds : MAX_SECONDS) * 1000;
	} else if (text && *text) {
		ms = http_response_until_date(text);
	}
	free(text);
	return ms;
}
