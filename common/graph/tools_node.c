/* The tools node: runs the calls that the last message asks for, one tool message for each. */
#include "base/clock.h"
#include "base/json.h"
#include "graph/message.h"
#include "graph/run_internal.h"

#include <stdio.h>
#include <string.h>

/* The latest message that asks for tools; what came after it may be answers. */
static const cJSON *asking_message(ag_run *run)
{
	const cJSON *last = ag_last_message(&run->state);
	if (!last || message_has_calls(last))
		return last;
	const cJSON *context = ag_context(&run->state), *message, *found = NULL;
	cJSON_ArrayForEach(message, context) {
		if (message_has_calls(message))
			found = message;
	}
	return found;
}

/* Whether a tool message after asking already answers the call: a client may have answered before a
 * pause. */
static bool is_answered(ag_run *run, const char *call_id)
{
	const cJSON *message, *block;
	cJSON_ArrayForEach(message, run->messages.array) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *id = json_str(block, "call_id");
			if (id && strcmp(id, call_id) == 0)
				return true;
		}
	}
	return false;
}

static void wait_for_client(ag_run *run, const cJSON *message, const cJSON *call)
{
	if (!run->frame.waiting) {
		run->frame.waiting = arena_json(run->setup.arena, cJSON_CreateArray());
		run->frame.waiting_id = message_id(message);
	}
	cJSON_AddItemToArray(run->frame.waiting, cJSON_Duplicate(call, true));
}

/* What the model sees of a tool that failed: its output, or why. */
static cJSON *failure_output(ag_run *run, cJSON *output)
{
	if (output)
		return output;
	const char *why = run->frame.failure;
	return cJSON_CreateString(why ? why : "the tool failed");
}

/* The time of a tool is the smaller of its own and what the node has left. */
static ag_result call_tool(ag_run *run, const struct tool *tool, const cJSON *args, cJSON **output)
{
	int64_t node_deadline = run->frame.deadline;
	int64_t deadline = clock_monotonic_ms() + (int64_t)(run->setup.tool_timeout * 1000);
	run->frame.failure = NULL;
	if (deadline < node_deadline)
		run->frame.deadline = deadline;
	ag_result result = tool->fn(run, args, output, tool->data);
	bool late = clock_monotonic_ms() >= run->frame.deadline;
	run->frame.deadline = node_deadline;
	if (result == AG_PAUSE || !late)
		return result;
	cJSON_Delete(*output);
	*output = NULL;
	return ag_fail(run, "tool %s timed out", tool->name);
}

static ag_result run_call(ag_run *run, const cJSON *call)
{
	const char *name = json_str(call, "name");
	const struct tool *tool = graph_tool_get(run->frame.node, name);
	char id[UUID_SIZE];
	cJSON *output = NULL;
	ag_result result = tool && tool->fn ? call_tool(run, tool, json_get(call, "args"), &output)
					    : ag_fail(run, "unknown tool: %s", name);
	if (result == AG_PAUSE) {
		cJSON_Delete(output);
		return result;
	}
	if (result != AG_OK)
		output = failure_output(run, output);
	run->frame.failure = NULL;
	return node_add_message(run,
	    message_tool_result(
		id_make(run->setup.ids, id), json_str(call, "id"), output, result != AG_OK));
}

ag_result tools_node_run(ag_run *run)
{
	const cJSON *message = asking_message(run), *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block) || is_answered(run, json_str(block, "id")))
			continue;
		if (block_is(block, "remote_tool_call"))
			wait_for_client(run, message, block);
		else if (run_call(run, block) == AG_PAUSE)
			return AG_PAUSE;
	}
	return AG_OK;
}
