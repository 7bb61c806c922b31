/* SPDX-License-Identifier: ISC */
/*
 * Tools that are executables.
 *
 * The arguments arrive as one JSON object on standard input; what the executable writes is the
 * result: JSON when it is that, else text.  A status other than 0 makes an error result of the last
 * line on standard error.
 */
#ifndef AGENTGRAPH_TOOL_EXEC_H
#define AGENTGRAPH_TOOL_EXEC_H

#include "agentgraph.h"

#define EXEC_TOOL_TIMEOUT_MS 300000    /* the default, and the most (doc/protocol-runs.md#invoke) */
#define EXEC_TOOL_MAX_OUTPUT (1 << 20) /* the default: a result is read by a model */

/* The function of such a tool (ag_tool_fn); data is its struct command. */
ag_result exec_tool(ag_run *run, const cJSON *args, cJSON **output, void *data);

#endif
