/* SPDX-License-Identifier: ISC */
/* The header `traceparent` (W3C Trace Context, level 1):
 * which trace and span a request belongs to. */
#ifndef AGENTGRAPH_BASE_HTTP_TRACEPARENT_H
#define AGENTGRAPH_BASE_HTTP_TRACEPARENT_H

#include <stdbool.h>

#define TRACE_ID_SIZE 33 /* 32 lower-case hexadecimal digits and NUL */
#define SPAN_ID_SIZE 17
#define TRACEPARENT_SIZE 56

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
