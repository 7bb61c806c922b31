/* SPDX-License-Identifier: ISC */
/* What a trace makes of a run: records, one for each chunk that the run would stream with
 * granularity full, and spans (telemetry/report.h). */
#ifndef AGENTGRAPH_SERVICE_TRACE_TRACE_RECORD_H
#define AGENTGRAPH_SERVICE_TRACE_TRACE_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "storage/trace/traces.h"
#include "telemetry/report.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The tool calls of a run so far, so that a result can be given its tool's name. */
struct call_names {
	struct arena *arena;
	const cJSON **calls; /* blocks */
	size_t count, size;
};

/* The block of the call with this id, or NULL. */
const cJSON *call_names_find(const struct call_names *names, const char *call_id);

/*
 * Appends one record and a comma.  node may be NULL.  status is for an update, message for a
 * message; else both are NULL.  Times are offsets in microseconds.  The calls of a message are
 * added to names; its usage and calls are counted in totals.
 */
struct trace_event {
	const char *type; /* message, updates, state, error, result */
	const char *node;
	int64_t offset;
	const char *status;
	const cJSON *message;
	bool piece; /* the message is a delta */
};
void trace_record(struct buf *out, const struct trace_event *event, struct call_names *names,
    struct trace_totals *totals);

/* ---- trace_spans.c: collecting spans while the run goes on */

/* A sequence of events: those of the run, or of one of its branches. */
struct trace_lane {
	struct trace_lane *next;
	const char *branch; /* NULL: outside of branches */
	struct span *node;  /* the open node's span, or NULL */
	int64_t latest;     /* time of the event before */
};

struct trace_spans {
	struct arena *arena;
	struct span **items;
	size_t count, size;
	size_t left_out;                 /* spans beyond those that a run may have */
	struct trace_lane *lanes, *lane; /* all lanes, and that of the present event */
	int64_t input_tokens, output_tokens;
};

/* Begins with the run's own span. */
void spans_begin(struct trace_spans *spans, struct arena *arena, int64_t now);

/* What follows happens in this branch, NULL: in none. */
void spans_turn_to(struct trace_spans *spans, const char *branch, int64_t now);

/* Events of the run, at the time now. */
void spans_node_starts(struct trace_spans *spans, const char *node, int step, int64_t now);
void spans_message(
    struct trace_spans *spans, const cJSON *message, const struct call_names *names, int64_t now);
/* An attempt of a node failed.  It is copied, and belongs to the open node, or to the run where the
 * node is a graph. */
void spans_attempt(struct trace_spans *spans, const struct span_attempt *attempt);

/* error is why the node failed, or NULL. */
void spans_node_ends(struct trace_spans *spans, const char *error, int64_t now);

/* Closes what is open; error is why the run failed, or NULL. */
void spans_end(struct trace_spans *spans, const char *error, int64_t now);

#endif
