/* SPDX-License-Identifier: ISC */
/* The headers `traceparent` and `tracestate` (W3C Trace Context, level 1): which trace and span a
 * request belongs to, and what other tracing systems say of it, which is only passed on. */
#ifndef AGENTGRAPH_BASE_HTTP_TRACEPARENT_H
#define AGENTGRAPH_BASE_HTTP_TRACEPARENT_H

#include "base/http/http.h"

#include <stdbool.h>

#define TRACE_ID_SIZE 33 /* 32 lower-case hexadecimal digits and NUL */
#define SPAN_ID_SIZE 17
#define TRACEPARENT_SIZE 56

#define TRACE_HEADERS 2

/* Values of the two headers; NULL where there is none. */
struct trace_headers {
	const char *parent, *state;
};

/* Those of a request as far as they are to be heeded: none with a parent that is invalid, and no
 * state of more than 512 bytes or with bytes that are not printable. */
struct trace_headers trace_headers_valid(const struct trace_headers *given);

/* Writes those that there are; returns how many.  Without a parent there are none. */
size_t trace_headers_put(const struct trace_headers *trace, struct http_header out[TRACE_HEADERS]);

struct trace_context {
	char trace_id[TRACE_ID_SIZE];
	char span_id[SPAN_ID_SIZE];
	bool sampled;
};

/*
 * Reads the header's value.  False for what the recommendation calls invalid: upper case, wrong
 * lengths, ids of zeroes, version ff, anything behind the flags of version 00.  Of later versions
 * the known part is read.
 */
bool traceparent_parse(const char *text, struct trace_context *context);

/* Writes the header's value, version 00; returns out. */
char *traceparent_format(const struct trace_context *context, char out[TRACEPARENT_SIZE]);

/* New random ids. */
void trace_id_new(char out[TRACE_ID_SIZE]);
void span_id_new(char out[SPAN_ID_SIZE]);

#endif
