/* SPDX-License-Identifier: ISC */
/* Streams that are taken up again, and ends that are waited for, by LangGraph's protocol
 * (doc/protocol-langgraph.md#streams-that-are-taken-up-again). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_FOLLOW_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_FOLLOW_H

#include "service/langgraph/lg_values.h"
#include "service/run/follow.h"

/* As it came; NULL when absent. */
struct lg_follow_query {
	const char *last_event_id;
	const char *const *modes;
	size_t mode_count;
};

struct lg_follow {
	struct run_record record;
	int64_t after; /* chunks up to this one are left out */
	int64_t skip;  /* and of the next one events up to this */
	unsigned modes;
};

/* False with the error set: the query, the thread, the run, its chunks were not kept. */
bool lg_run_follow(struct call *call, const char *thread_id, const char *run_id,
    const struct lg_follow_query *query, struct lg_follow *follow);

/* What a run has led to: *active becomes true while it goes on; else the reply is the values of its
 * thread, or, where it failed, *failure is the whole answer.  False with the error set. */
bool lg_run_join(struct call *call, const char *thread_id, const char *run_id, bool *active,
    cJSON **failure, struct lg_reply *reply);

#endif
