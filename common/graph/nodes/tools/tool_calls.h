/* SPDX-License-Identifier: ISC */
/*
 * The calls of one message: one by itself (tool_answer.c), and several side by side, on threads of
 * their own (tool_calls.c), whose words are in the order of the calls (tool_turn.c).
 *
 * Each call is given a run of its own to speak to, which is the node's run in all but what a call
 * may change.  What calls say (pieces, messages, updates) reaches the node in the order of the
 * calls, whatever their speed: the first call that has not ended yet speaks at once, the others are
 * kept until it is their turn.  So what a client sees, and what is stored, is what calls one after
 * another would have given.
 *
 * So are interrupts: a call that asks a person waits until those before it have ended, and takes
 * the next answer.  When a call pauses the run, calls that have not begun do not begin, and those
 * that run are waited for; when the run is resumed, all are made again.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_TOOLS_TOOL_CALLS_H
#define AGENTGRAPH_GRAPH_NODES_TOOLS_TOOL_CALLS_H

#include "base/log/log.h"
#include "graph/run_internal.h"

#include <pthread.h>

/* ---- One call */

/* Calls the tool of that name of the run's node.  *output, which is NULL before, is then its
 * result, or what the model sees of its failure; NULL on AG_PAUSE. */
ag_result tool_answer(ag_run *run, const char *name, const cJSON *args, cJSON **output);

/* The same for a tool_call block of the message asking, as a person allowed or changed it
 * (approval.h). */
ag_result tool_answer_block(ag_run *run, const cJSON *asking, const cJSON *block, cJSON **output);

/* Adds the tool message with the call's output (taken over) to what the node makes. */
void tool_answer_add(ag_run *run, const cJSON *block, cJSON *output, ag_result result);

/* ---- Several */

/* Runs the calls, an array of tool_call blocks, and adds a tool message for each; AG_PAUSE when one
 * of them paused.  asking is the message that they stand in. */
ag_result tool_calls_run(ag_run *run, const cJSON *asking, const cJSON *const *calls, size_t count);

/* ---- What they say */

struct tool_calls;

struct tool_call {
	struct tool_calls *calls;
	const cJSON *block;
	ag_run view;   /* what the tool is given */
	cJSON *kept;   /* what it said before its turn: an array of objects with one member */
	cJSON *output; /* taken when it has ended */
	ag_result result;
	bool ended;
};

struct tool_calls {
	ag_run *run;
	const cJSON *asking;
	struct log_ids ids;
	pthread_mutex_t lock;
	pthread_cond_t turned; /* turn or paused changed */
	/* guarded by lock, and so is what calls have kept */
	struct tool_call *items;
	size_t count;
	size_t next; /* the first call that has not begun */
	size_t turn; /* the first call that has not ended; it alone changes run */
	bool paused;
};

/* What the functions of agentgraph.h do on a run that was made for a call (run->call).  Items are
 * taken over unless it says borrowed. */
void tool_call_piece(struct tool_call *call, const cJSON *piece);  /* borrowed */
void tool_call_streams(struct tool_call *call);                    /* notes that it says pieces */
void tool_call_custom(struct tool_call *call, const cJSON *event); /* borrowed */
void tool_call_message(struct tool_call *call, cJSON *message);
void tool_call_update(struct tool_call *call, const char *field, cJSON *value);

/* Waits for the call's turn to ask; the node's run, or NULL when a call before it has paused. */
ag_run *tool_call_turn(struct tool_call *call);

/* Hands what the call has kept to the node, now that it is its turn; the lock is held. */
void tool_call_say_kept(struct tool_call *call);

#endif
