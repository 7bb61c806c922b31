/* Tool calls that a person allows before they are made. */
#ifndef AGENTGRAPH_GRAPH_APPROVAL_H
#define AGENTGRAPH_GRAPH_APPROVAL_H

#include "graph/run_internal.h"

#include <stdbool.h>
#include <stddef.h>

/* The reason of the pause, and what the model is told of a call that was refused. */
#define APPROVAL_REASON "tool_approval"
#define APPROVAL_DECLINED "The user declined this call."

/*
 * Asks for those of the calls, tool_call blocks, whose tools need it: the run pauses with {"calls":
 * [{id, name, args}]}.  AG_OK when the calls may go on: approval_declined then tells which of them
 * were refused.  true and {"approve": true} allow all, {"approve": [id, …]} those, anything else
 * none.
 */
ag_result approval_ask(ag_run *run, const cJSON *const *calls, size_t count);

/* Whether the call of that id was refused in this step. */
bool approval_declined(const ag_run *run, const char *call_id);

#endif
