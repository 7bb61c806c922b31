/* SPDX-License-Identifier: ISC */
/*
 * The calls of one message, side by side, on threads of their own; what they say is in the order of
 * the calls (tool_turn.h).
 *
 * When a call pauses the run, calls that have not begun do not begin, and those that run are waited
 * for; when the run is resumed, all are made again.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_TOOL_CALLS_H
#define AGENTGRAPH_GRAPH_NODES_TOOL_CALLS_H

#include "graph/run.h"

#define TOOL_CALLS_AT_ONCE 8

/* Runs the calls, an array of tool_call blocks, and adds a tool message for each; AG_PAUSE when one
 * of them paused.  asking is the message that they stand in. */
ag_result tool_calls_run(ag_run *run, const cJSON *asking, const cJSON *const *calls, size_t count);

#endif
