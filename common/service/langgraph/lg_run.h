/* SPDX-License-Identifier: ISC */
/* Runs by LangGraph's protocol (doc/protocol-langgraph.md#runs), and coming back to one. */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_RUN_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_RUN_H

#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_values.h"
#include "service/run/runs.h"
#include "service/run/stream/follow.h"
#include "service/run/turn.h"

/* A run that somebody waits for, from its body to its end. */
struct lg_run {
	struct turn turn;
	struct lg_input in;
	const char *location; /* path of the run, below /lg */
	cJSON *failure;       /* set by lg_run_wait if the run failed: the whole answer */
};

/* Reads the body and takes the thread.  thread_id NULL: the run has no thread, and leaves nothing
 * behind.  False with call->error set, and nothing to close. */
bool lg_run_open(struct call *call, const char *thread_id, const cJSON *body, struct lg_run *run);
void lg_run_close(struct lg_run *run);

/* Runs the graph; *reply has the values in the end, unless run->failure is set.  False with
 * call->error set when the run was refused. */
bool lg_run_wait(struct lg_run *run, struct lg_reply *reply);

/* Runs the graph, with events to sink; false with call->error set, and nothing sent, when the run
 * was refused. */
bool lg_run_stream(struct lg_run *run, struct chunk_sink *sink);

/* Routes about runs of a thread, as in langgraph.h; lists take what records_of_thread takes. */
struct record_query;
cJSON *lg_run_create(struct call *call, const char *thread_id, const cJSON *body);
cJSON *lg_runs_list(struct call *call, const char *thread_id, struct record_query *query);
cJSON *lg_run_read(struct call *call, const char *thread_id, const char *run_id);
bool lg_run_remove(struct call *call, const char *thread_id, const char *run_id);
/* action: NULL, "interrupt" or "rollback". */
bool lg_run_cancel(
    struct call *call, const char *thread_id, const char *run_id, const char *action);

/* Cancels those of several runs of a thread that exist. */
bool lg_runs_cancel(struct call *call, const cJSON *body, const char *action);

/* The path of a run, below /lg; in the arena. */
const char *lg_run_location(struct call *call, const char *thread_id, const char *run_id);

/* ---- lg_follow.c: taking up a stream again, and waiting for the end of a run
 * (doc/protocol-langgraph.md#resumable-streams) */

/* The query as it came; NULL when absent. */
struct lg_follow_query {
	const char *last_event_id;
	const char *const *modes;
	size_t mode_count;
};

struct lg_follow {
	struct run_record record;
	int64_t after; /* chunks up to this one are left out */
	int64_t skip;  /* events up to this one of the next chunk are left out, too */
	unsigned modes;
};

/* Reads the query and finds the run; false with the error set when one of them is wrong, or the
 * run's chunks are not kept. */
bool lg_run_follow(struct call *call, const char *thread_id, const char *run_id,
    const struct lg_follow_query *query, struct lg_follow *follow);

/* Reads what a run has led to.  *active is true while it goes on; else *reply has the values of its
 * thread or, if the run failed, *failure is the whole answer.  False with the error set. */
bool lg_run_join(struct call *call, const char *thread_id, const char *run_id, bool *active,
    cJSON **failure, struct lg_reply *reply);

#endif
