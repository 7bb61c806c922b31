/* SPDX-License-Identifier: ISC */
/* The spans of a run, collected while it goes on (telemetry/report.h). */
#ifndef AGENTGRAPH_SERVICE_TRACE_TRACE_SPANS_H
#define AGENTGRAPH_SERVICE_TRACE_TRACE_SPANS_H

#include "base/arena.h"
#include "service/trace/trace_record.h"
#include "telemetry/report.h"

struct trace_spans {
	struct arena *arena;
	struct span **items;
	size_t count, size;
	struct span *node; /* the open one, or NULL */
	int64_t latest;    /* time of what came before */
	int64_t input_tokens, output_tokens;
};

/* Begins with the run's own span. */
void spans_begin(struct trace_spans *spans, struct arena *arena, int64_t now);

/* What happens in the run, at the time now. */
void spans_node_starts(struct trace_spans *spans, const char *node, int step, int64_t now);
void spans_message(
    struct trace_spans *spans, const cJSON *message, const struct call_names *names, int64_t now);
void spans_node_ends(struct trace_spans *spans, int64_t now);

/* Closes what is open; error is what ended the run, or NULL. */
void spans_end(struct trace_spans *spans, const char *error, int64_t now);

#endif
