/* SPDX-License-Identifier: ISC */
/*
 * The calls of one message, side by side.
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
#ifndef AGENTGRAPH_GRAPH_NODES_TOOL_CALLS_H
#define AGENTGRAPH_GRAPH_NODES_TOOL_CALLS_H

#include "graph/run_internal.h"

#define TOOL_CALLS_AT_ONCE 8

/* Runs the calls, an array of tool_call blocks, and adds a tool message for each; AG_PAUSE when one
 * of them paused.  asking is the message that they stand in. */
ag_result tool_calls_run(ag_run *run, const cJSON *asking, const cJSON *const *calls, size_t count);

/* What the functions of agentgraph.h do with a run that is a call's (run->call).  Items are taken
 * over. */
void tool_call_piece(struct tool_call *call, const cJSON *piece);  /* borrowed */
void tool_call_streams(struct tool_call *call);                    /* it says pieces */
void tool_call_custom(struct tool_call *call, const cJSON *event); /* borrowed */
void tool_call_message(struct tool_call *call, cJSON *message);
void tool_call_update(struct tool_call *call, const char *field, cJSON *value);

/* Waits for the call's turn to ask; the node's run, or NULL when a call before it has paused. */
ag_run *tool_call_turn(struct tool_call *call);

#endif
