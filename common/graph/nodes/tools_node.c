/* SPDX-License-Identifier: ISC */
/* The tools node: runs the calls that a message asks for, one tool message for each. */
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/nodes/approval.h"
#include "graph/nodes/asking.h"
#include "graph/nodes/node_cache.h"
#include "graph/nodes/node_tools.h"
#include "graph/nodes/tool_calls.h"
#include "graph/run_internal.h"
#include "tool/schema.h"

#include <stdio.h>
#include <string.h>

/* The time of a tool is the smaller of its own and what the node has left; returns the end of the
 * latter. */
static int64_t limit_call(ag_run *run)
{
	int64_t node_deadline = run->frame.deadline;
	int64_t deadline = clock_monotonic_ms() + (int64_t)(run->setup.tool_timeout * 1000);
	if (deadline < node_deadline)
		run->frame.deadline = deadline;
	return node_deadline;
}

static ag_result check_and_call(
    ag_run *run, const struct tool *tool, const cJSON *args, cJSON **output)
{
	char why[SCHEMA_WHY_SIZE];
	if (!cJSON_IsObject(args))
		return ag_fail(run, "arguments: expected an object");
	if (tool->schema && !schema_accepts(tool->schema, args, "arguments", why))
		return ag_fail(run, "%s", why);
	int64_t node_deadline = limit_call(run);
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

/* The node's tools with the one of that name, as soon as its server is ready: others are not waited
 * for.  The tool, or NULL; tools is to be released. */
static const struct tool *await_tool(ag_run *run, const char *name, struct node_tools *tools)
{
	for (;;) {
		node_tools_get(run->frame.node, NULL, clock_monotonic_ms(), tools);
		const struct tool *tool = node_tools_find(tools, name);
		if (tool || !tools->starting || ag_time_left_ms(run) == 0 || ag_stop_requested(run))
			return tool;
		node_tools_release(tools);
		clock_sleep_ms(LOOK_AGAIN_MS);
	}
}

/* Calls a tool of the node's servers; the wait for one counts as the call's time. */
static ag_result call_of_server(ag_run *run, const char *name, const cJSON *args, cJSON **output)
{
	int64_t node_deadline = limit_call(run);
	struct node_tools tools;
	const struct tool *tool = await_tool(run, name, &tools);
	ag_result result;
	if (tool && tool->fn)
		result = check_and_call(run, tool, args, output);
	else
		result = ag_fail(run, "unknown tool: %s%s", name,
		    tools.unreached ? " (a server of tools is not available)" : "");
	node_tools_release(&tools);
	run->frame.deadline = node_deadline;
	return result;
}

static cJSON *call_result(const cJSON *output)
{
	cJSON *result = cJSON_CreateObject();
	cJSON *copy = output ? cJSON_Duplicate(output, true) : cJSON_CreateNull();
	cJSON_AddItemToObject(result, "output", copy);
	return result;
}

ag_result tools_node_call(ag_run *run, const char *name, const cJSON *args, cJSON **output)
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
		result = check_and_call(run, tool, args, output);
	else if (!tool && node->server_count)
		result = call_of_server(run, name, args, output);
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
		node_cache_put(run, node, key, call_result(*output));
	}
	return result;
}

ag_result tools_node_answer(ag_run *run, const cJSON *asking, const cJSON *block, cJSON **output)
{
	const char *id = json_str(block, "id");
	bool declined = approval_declined(run, id);
	const cJSON *changed = approval_arguments(run, id);
	/* what a model wrote for arguments that are no JSON object (model/chat.h) */
	const cJSON *invalid = json_get(json_get(asking, "metadata"), "invalid_arguments");
	if (changed) {
		ag_result result = tools_node_call(run, json_str(block, "name"), changed, output);
		if (result != AG_PAUSE)
			*output = approval_output(changed, *output);
		return result;
	}
	if (!declined && !json_str(invalid, id))
		return tools_node_call(
		    run, json_str(block, "name"), json_get(block, "args"), output);
	*output = cJSON_CreateString(
	    declined ? APPROVAL_DECLINED : "arguments: expected a valid JSON object");
	return AG_ERROR;
}

void node_add_result(ag_run *run, const cJSON *block, cJSON *output, ag_result result)
{
	char id[UUID_SIZE];
	node_add_message(run,
	    message_tool_result(
		id_make(run->setup.ids, id), json_str(block, "id"), output, result != AG_OK));
}

ag_result tools_node_run(ag_run *run)
{
	struct asking asking;
	asking_find(run, &asking);
	const cJSON *content = json_get(asking.message, "content"), *block;
	struct node_frame *frame = &run->frame;
	const cJSON **calls = arena_alloc(
	    run->setup.arena, (size_t)(cJSON_GetArraySize(content) + 1) * sizeof(*calls));
	size_t count = 0;
	cJSON_ArrayForEach(block, content) {
		if (!block_is_call(block) || asking_is_answered(&asking, json_str(block, "id")))
			continue;
		if (!block_is(block, "remote_tool_call")) {
			calls[count++] = block;
			continue;
		}
		if (!frame->waiting) {
			frame->waiting = arena_json(run->setup.arena, cJSON_CreateArray());
			frame->waiting_id = message_id(asking.message);
		}
		cJSON_AddItemToArray(frame->waiting, cJSON_Duplicate(block, true));
	}
	if (approval_ask(run, calls, count) != AG_OK)
		return AG_PAUSE;
	if (count > 1)
		return tool_calls_run(run, asking.message, calls, count);
	if (count == 1) {
		cJSON *output = NULL;
		ag_result result = tools_node_answer(run, asking.message, calls[0], &output);
		if (result == AG_PAUSE)
			return result;
		node_add_result(run, calls[0], output, result);
	}
	return AG_OK;
}
