/* SPDX-License-Identifier: ISC */
/* One call of a tool: its arguments, its time, and what the model is told of it. */
#include "graph/nodes/tools/tool_calls.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/nodes/node_cache.h"
#include "graph/nodes/tools/approval.h"
#include "graph/nodes/tools/node_tools.h"
#include "tool/schema.h"

/* The time of a tool is the smaller of its own and what the node has left; returns the end of the
 * latter. */
static int64_t tool_answer_limit(ag_run *run)
{
	int64_t node_deadline = run->frame.deadline;
	int64_t deadline = clock_monotonic_ms() + (int64_t)(run->setup.tool_timeout * 1000);
	if (deadline < node_deadline)
		run->frame.deadline = deadline;
	return node_deadline;
}

static ag_result tool_answer_checked(
    ag_run *run, const struct tool *tool, const cJSON *args, cJSON **output)
{
	char why[SCHEMA_WHY_SIZE];
	if (!cJSON_IsObject(args))
		return ag_fail(run, "arguments: expected an object");
	if (tool->schema && !schema_accepts(tool->schema, args, "arguments", why))
		return ag_fail(run, "%s", why);
	int64_t node_deadline = tool_answer_limit(run);
	run->frame.failure = NULL;
	ag_result result = tool->fn(run, args, output, tool->data);
	*output = json_adopt(*output);
	bool late = clock_monotonic_ms() >= run->frame.deadline;
	run->frame.deadline = node_deadline;
	if (result == AG_PAUSE || !late)
		return result;
	cJSON_Delete(*output);
	*output = NULL;
	return ag_fail(run, "tool %s timed out", tool->name);
}

#define LOOK_AGAIN_MS 50

/* Calls a tool of the node's servers; the wait for one counts as the call's time. */
static ag_result tool_answer_of_server(
    ag_run *run, const char *name, const cJSON *args, cJSON **output)
{
	int64_t node_deadline = tool_answer_limit(run);
	struct node_tools tools;
	const struct tool *tool;
	ag_result result;
	/* the tool is there as soon as its server is ready: others are not waited for */
	for (;;) {
		node_tools_get(run->frame.node, NULL, clock_monotonic_ms(), &tools);
		tool = node_tools_find(&tools, name);
		if (tool || !tools.starting || ag_time_left_ms(run) == 0 || ag_stop_requested(run))
			break;
		node_tools_release(&tools);
		clock_sleep_ms(LOOK_AGAIN_MS);
	}
	if (tool && tool->fn)
		result = tool_answer_checked(run, tool, args, output);
	else
		result = ag_fail(run, "unknown tool: %s%s", name,
		    tools.unreached ? " (a server of tools is not available)" : "");
	node_tools_release(&tools);
	run->frame.deadline = node_deadline;
	return result;
}

ag_result tool_answer(ag_run *run, const char *name, const cJSON *args, cJSON **output)
{
	const struct node *node = run->frame.node;
	const struct tool *tool = graph_tool_get(node, name);
	const char *key = node_cache_key(run, node, name, args);
	cJSON *kept = node_cache_find(run, key);
	ag_result result;
	run->frame.cached = kept;
	run->frame.acts = false;
	if (kept) {
		*output = cJSON_DetachItemFromObjectCaseSensitive(kept, "output");
		cJSON_Delete(kept);
		return AG_OK;
	}
	if (tool && tool->fn)
		result = tool_answer_checked(run, tool, args, output);
	else if (!tool && node->server_count)
		result = tool_answer_of_server(run, name, args, output);
	else
		result = ag_fail(run, "unknown tool: %s", name);
	const char *why = run->frame.failure;
	run->frame.failure = NULL;
	if (result == AG_PAUSE) {
		cJSON_Delete(*output);
		*output = NULL;
	} else if (result != AG_OK && !*output) {
		*output = cJSON_CreateString(why ? why : "the tool failed");
	} else if (result == AG_OK && key && !run->frame.acts) {
		cJSON *left = cJSON_CreateObject();
		json_add_or_null(left, "output", cJSON_Duplicate(*output, true));
		node_cache_put(run, node, key, left);
	}
	return result;
}

ag_result tool_answer_block(ag_run *run, const cJSON *asking, const cJSON *block, cJSON **output)
{
	const char *id = json_str(block, "id");
	bool declined = approval_declined(run, id);
	const cJSON *changed = approval_arguments(run, id);
	/* what a model wrote for arguments that are no JSON object (model/chat.h) */
	const cJSON *invalid = json_get(json_get(asking, "metadata"), "invalid_arguments");
	if (changed) {
		ag_result result = tool_answer(run, json_str(block, "name"), changed, output);
		if (result != AG_PAUSE)
			*output = approval_output(changed, *output);
		return result;
	}
	if (!declined && !json_str(invalid, id))
		return tool_answer(run, json_str(block, "name"), json_get(block, "args"), output);
	*output = cJSON_CreateString(
	    declined ? "The user declined this call." : "arguments: expected a valid JSON object");
	return AG_ERROR;
}

void tool_answer_add(ag_run *run, const cJSON *block, cJSON *output, ag_result result)
{
	char id[UUID_SIZE];
	run_add_message(run,
	    message_tool_result(
		id_make(run->setup.ids, id), json_str(block, "id"), output, result != AG_OK));
}
