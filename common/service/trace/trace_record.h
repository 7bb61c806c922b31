/* SPDX-License-Identifier: ISC */
/* Records of a run: one for each chunk that it would stream at the granularity `full`. */
#ifndef AGENTGRAPH_SERVICE_TRACE_TRACE_RECORD_H
#define AGENTGRAPH_SERVICE_TRACE_TRACE_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "storage/traces.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Names and types of one record that are kept. */
#define RECORD_WORDS 64

/* The calls that a run has seen, so that a result can be named. */
struct call_names {
	struct arena *arena;
	const cJSON **calls; /* blocks */
	size_t count, size;
};

/* The call block of that id, or NULL. */
const cJSON *call_names_find(const struct call_names *names, const char *call_id);

/*
 * Appends one record with a comma.  node may be NULL.  status is that of an update, message that of
 * a message; else both are NULL.  Times are offsets in microseconds.  A message's calls become
 * known to names, its usage and calls go to totals.
 */
struct trace_event {
	const char *type; /* message, updates, state, error, result */
	const char *node;
	int64_t offset;
	const char *status;
	const cJSON *message;
	bool piece; /* of a message: a delta */
};
void trace_record(struct buf *out, const struct trace_event *event, struct call_names *names,
    struct trace_totals *totals);

#endif
