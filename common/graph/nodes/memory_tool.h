/* SPDX-License-Identifier: ISC */
/* The tool by which a model reads and writes the memories of the run's user. */
#ifndef AGENTGRAPH_GRAPH_NODES_MEMORY_TOOL_H
#define AGENTGRAPH_GRAPH_NODES_MEMORY_TOOL_H

#include "agentgraph.h"

#include <stdbool.h>
#include <stddef.h>

enum memory_action {
	MEMORY_SEARCH,
	MEMORY_LIST,
	MEMORY_REMEMBER,
	MEMORY_UPDATE,
	MEMORY_FORGET,
	MEMORY_ACTIONS
};

extern const char *const memory_actions[MEMORY_ACTIONS];

struct memory_tool {
	bool may[MEMORY_ACTIONS];
	int limit; /* memories that a search or a list gives at most */
};

#define MEMORY_TOOL_NAME "memory"
#define MEMORY_TOOL_LIMIT 10

/* What the model is told of it, malloc'd: by which actions it may. */
char *memory_tool_description(const struct memory_tool *tool);
char *memory_tool_parameters(const struct memory_tool *tool);

/* ag_tool_fn; data is a struct memory_tool. */
ag_result memory_tool(ag_run *run, const cJSON *args, cJSON **output, void *data);

#endif
