/* SPDX-License-Identifier: ISC */
/*
 * Questions of MCP servers (elicitation), as pauses of the run.
 *
 * A call that is asked something pauses the run, with the reason "elicitation" and the data
 * {question, response_schema, server, tool}, and is given up.  When the run goes on the call is
 * made again, and the answer is given to the server when it asks again.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_ELICIT_H
#define AGENTGRAPH_GRAPH_NODES_ELICIT_H

#include "agentgraph.h"

#include <stdbool.h>

/* A call of a server's tool. */
struct elicit {
	ag_run *run;
	const char *server, *tool;
	bool paused; /* the run pauses for a question of it */
};

/* The ask of struct mcp_call, with a struct elicit. */
bool elicit_ask(const cJSON *question, cJSON **answer, void *elicit);

/* What a server is told of what a person answered, a new tree: {"action": "accept", "content": …},
 * or cancel for null and decline for false where no boolean is asked for.  An object is the
 * content, or has an action itself; anything else is the only member that is asked for. */
cJSON *elicit_result(const cJSON *answer, const cJSON *schema);

#endif
