/* SPDX-License-Identifier: ISC */
/* One call of a tool by itself: a run that has a node, but no graph to walk. */
#include "base/os/clock.h"
#include "graph/nodes/tools/tool_calls.h"

bool run_tool(const struct run_setup *setup, const struct node *node, const char *name,
    const cJSON *args, cJSON **output)
{
	/* who speaks while a tool is called alone is heard by nobody */
	struct run_observer observer = {.event = run_ignore_event};
	struct run_setup alone = *setup;
	alone.run_id = "";
	alone.observer = &observer;
	ag_run *run = run_new(&alone);
	run->frame = (struct node_frame){
	    .node = node,
	    .seconds = setup->tool_timeout,
	    .deadline = clock_monotonic_ms() + (int64_t)(setup->tool_timeout * 1000),
	    .updates = arena_json(setup->arena, cJSON_CreateObject()),
	    .messages = arena_json(setup->arena, cJSON_CreateArray()),
	};
	*output = NULL;
	ag_result result = tool_answer(run, name, args, output);
	if (result == AG_PAUSE)
		*output = cJSON_CreateString("a live conversation cannot pause for an answer");
	return result == AG_OK;
}
