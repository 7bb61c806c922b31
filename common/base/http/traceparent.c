/* SPDX-License-Identifier: ISC */
/* Reading and writing the headers, and new ids for traces and spans. */
#include "base/http/traceparent.h"

#include "base/id.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789abcdef"
#define STATE_MAX 512

/* Whether text begins with n lower-case hexadecimal digits. */
static bool traceparent_is_hex(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!text[i] || !strchr(DIGITS, text[i]))
			return false;
	return true;
}

static bool traceparent_is_zero(const char *text, size_t n)
{
	return strspn(text, "0") >= n;
}

bool traceparent_parse(const char *text, struct trace_context *context)
{
	*context = (struct trace_context){0};
	/* where the parts begin: version, trace id, span id, flags */
	if (!text || !traceparent_is_hex(text, 2) || text[2] != '-' ||
	    !traceparent_is_hex(text + 3, 32) || text[35] != '-' ||
	    !traceparent_is_hex(text + 36, 16) || text[52] != '-' ||
	    !traceparent_is_hex(text + 53, 2) || strncmp(text, "ff", 2) == 0)
		return false;
	bool known = strncmp(text, "00", 2) == 0;
	if (text[55] && (known || text[55] != '-'))
		return false;
	if (traceparent_is_zero(text + 3, 32) || traceparent_is_zero(text + 36, 16))
		return false;
	memcpy(context->trace_id, text + 3, TRACE_ID_SIZE - 1);
	memcpy(context->span_id, text + 36, SPAN_ID_SIZE - 1);
	context->sampled = (strchr(DIGITS, text[54]) - DIGITS) & 1;
	return true;
}

char *traceparent_format(const struct trace_context *context, char out[TRACEPARENT_SIZE])
{
	snprintf(out, TRACEPARENT_SIZE, "00-%s-%s-0%d", context->trace_id, context->span_id,
	    context->sampled);
	return out;
}

struct trace_headers trace_headers_valid(const struct trace_headers *given)
{
	struct trace_headers trace = {0};
	struct trace_context ignored;
	const char *state = given->state ? given->state : "";
	size_t len = 0;
	if (!traceparent_parse(given->parent, &ignored))
		return trace;
	trace.parent = given->parent;
	while (state[len] >= ' ' && state[len] <= '~')
		len++;
	if (len > 0 && len <= STATE_MAX && !state[len])
		trace.state = state;
	return trace;
}

size_t trace_headers_put(const struct trace_headers *trace, struct http_header out[TRACE_HEADERS])
{
	size_t count = 0;
	if (trace->parent)
		out[count++] = (struct http_header){"traceparent", trace->parent};
	if (count && trace->state)
		out[count++] = (struct http_header){"tracestate", trace->state};
	return count;
}

/* Makes a random id; an id of zeroes only is not valid, so another one is made. */
static void traceparent_new_id(char *out, size_t bytes)
{
	unsigned char random[16];
	do {
		random_bytes(random, bytes);
		for (size_t i = 0; i < bytes; i++) {
			out[2 * i] = DIGITS[random[i] >> 4];
			out[2 * i + 1] = DIGITS[random[i] & 15];
		}
		out[2 * bytes] = '\0';
	} while (traceparent_is_zero(out, 2 * bytes));
}

void trace_id_new(char out[TRACE_ID_SIZE])
{
	traceparent_new_id(out, 16);
}

void span_id_new(char out[SPAN_ID_SIZE])
{
	traceparent_new_id(out, 8);
}
