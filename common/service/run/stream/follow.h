/* SPDX-License-Identifier: ISC */
/* Who may follow a run or wait for its end, and from where on
 * (doc/protocol-runs.md#streams-that-can-be-taken-up-again). */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_FOLLOW_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_FOLLOW_H

#include "service/run/run_input.h"
#include "service/service.h"
#include "storage/runs.h"

/* As it came, percent-decoded; NULL when absent. */
struct follow_query {
	const char *after, *granularity;
	const char *last_event_id; /* a header, which counts where after is absent */
};

struct follow_place {
	struct run_record record;
	int64_t after;
	enum granularity granularity;
	bool at_end; /* the terminator is not behind that any more */
};

/* False with the error set: the query, the thread, the run, its chunks were not kept. */
bool run_follow(struct call *call, const char *thread_id, const char *run_id,
    const struct follow_query *query, struct follow_place *place);

/* The seconds that the result may be waited for; NULL are none.  False with the error set. */
bool run_wait_read(struct call *call, const char *text, double *seconds);

#endif
