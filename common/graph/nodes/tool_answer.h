/* SPDX-License-Identifier: ISC */
/* One call of a tool of a tools node, and what becomes of its answer. */
#ifndef AGENTGRAPH_GRAPH_NODES_TOOL_ANSWER_H
#define AGENTGRAPH_GRAPH_NODES_TOOL_ANSWER_H

#include "graph/run_internal.h"

/* Calls the tool of that name of the run's node.  *output, which is NULL before, is then its
 * result, or what the model sees of its failure; NULL on AG_PAUSE. */
ag_result tool_answer(ag_run *run, const char *name, const cJSON *args, cJSON **output);

/* The same for a tool_call block of the message asking. */
ag_result tool_answer_block(ag_run *run, const cJSON *asking, const cJSON *block, cJSON **output);

/* Adds the tool message with the call's output (taken over) to what the node makes. */
void tool_answer_add(ag_run *run, const cJSON *block, cJSON *output, ag_result result);

#endif
