/* SPDX-License-Identifier: ISC */
/* Failures worth another try, how long to wait first, and texts without keys. */
#include "model/retry.h"

#include "base/id.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_WAIT_MS 500
#define MAX_BACK_OFF_MS 10000
#define MAX_ASKED_MS 60000
#define SLICE_MS 100
/* How many times more is looked at than is kept of a text, because redacting shortens it. */
#define LOOKED_AT 16

static bool retry_says(const struct http_response *response, const char *word)
{
	char *said = http_response_header(response, "x-should-retry");
	bool is = said && strcmp(said, word) == 0;
	free(said);
	return is;
}

bool retry_refused(const struct http_response *response)
{
	return retry_says(response, "false");
}

bool retry_helps(const struct http_response *response)
{
	if (retry_refused(response))
		return false;
	switch (response->end) {
	case HTTP_DONE:
		return response->status == 408 || response->status == 425 ||
		    response->status == 429 || response->status >= 500 ||
		    (response->status / 100 != 2 && retry_says(response, "true"));
	case HTTP_NO_CONNECT:
	case HTTP_CLOSED:
	case HTTP_TIMED_OUT:
		return true;
	case HTTP_TOO_LARGE:
	case HTTP_REFUSED:
	case HTTP_STOPPED:
	case HTTP_BAD_REQUEST:
	case HTTP_UNAVAILABLE:
		return false;
	}
	return false;
}

int64_t retry_wait_ms(const struct http_response *response, unsigned tries, int64_t deadline_ms)
{
	int64_t wait = -1;
	if (response->end == HTTP_DONE) {
		/* what the answer asks for; OpenAI and Azure say it in milliseconds, too */
		char *text = http_response_header(response, "retry-after-ms");
		bool digits = text && *text && text[strspn(text, "0123456789")] == '\0';
		wait = digits && strlen(text) < 12 ? strtoll(text, NULL, 10)
						   : http_retry_after_ms(response);
		free(text);
	}
	if (wait < 0) {
		int64_t ms = FIRST_WAIT_MS << (tries > 6 ? 6 : tries ? tries - 1 : 0);
		uint32_t chance;
		random_bytes(&chance, sizeof(chance));
		ms = ms < MAX_BACK_OFF_MS ? ms : MAX_BACK_OFF_MS;
		wait = ms - (int64_t)(chance % (uint64_t)(ms / 2 + 1));
	}
	if (wait > MAX_ASKED_MS)
		return -1;
	return deadline_ms > 0 && clock_monotonic_ms() + wait >= deadline_ms ? -1 : wait;
}

bool retry_sleep(int64_t ms, bool (*stop)(void *arg), void *arg)
{
	int64_t until = clock_monotonic_ms() + ms;
	for (int64_t left = ms; left > 0; left = until - clock_monotonic_ms()) {
		if (stop && stop(arg))
			return false;
		clock_sleep_ms(left < SLICE_MS ? left : SLICE_MS);
	}
	return true;
}

void clean_text(struct buf *out, const char *text, const char *key, size_t max)
{
	char *copy = xstrdup(text);
	struct buf safe = {0};
	size_t secret = key ? strlen(key) : 0;
	for (char *at = copy; secret > 0 && (at = strstr(at, key)); at += secret)
		memset(at, '*', secret);
	for (char *p = copy; *p; p++)
		*p = strchr("\t\r\n", *p) ? ' ' : *p;
	process_clean(copy);
	bool cut = strlen(copy) > LOOKED_AT * max;
	if (cut)
		copy[utf8_cut(copy, LOOKED_AT * max)] = '\0';
	redact(&safe, copy);
	size_t len = safe.len > max ? utf8_cut(buf_str(&safe), max) : safe.len;
	buf_add(out, buf_str(&safe), len);
	if (cut || len < safe.len)
		buf_puts(out, "…");
	buf_release(&safe);
	free(copy);
}
