/* SPDX-License-Identifier: ISC */
/* Who may follow a run or wait for its end, and from where on
 * (doc/protocol-runs.md#resumable-streams). */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_FOLLOW_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_FOLLOW_H

#include "service/run/run_input.h"
#include "service/service.h"
#include "storage/runs.h"

/* Query parameters as they came, percent-decoded; NULL when absent. */
struct follow_query {
	const char *after, *granularity;
	const char *last_event_id; /* a header, used where after is absent */
};

/* The run to follow, and where the reader begins: behind the chunk with the seq after. */
struct follow_place {
	struct run_record record;
	int64_t after;
	enum granularity granularity;
	bool at_end; /* the terminator is not above after, so nothing more comes */
};

/* Reads the query and finds the run.  False with the error set when one of them is wrong, or the
 * run's chunks are not kept. */
bool run_follow(struct call *call, const char *thread_id, const char *run_id,
    const struct follow_query *query, struct follow_place *place);

/* Reads for how many seconds to wait for a result; NULL: 0.  False with the error set. */
bool run_wait_read(struct call *call, const char *text, double *seconds);

#endif
