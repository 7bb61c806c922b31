/* SPDX-License-Identifier: ISC */
/* The tools node: runs the calls that a message asks for, one tool message for each. */
#include "base/json/json.h"
#include "graph/message/message.h"
#include "graph/nodes/tools/approval.h"
#include "graph/nodes/tools/asking.h"
#include "graph/nodes/tools/tool_calls.h"
#include "graph/run_internal.h"

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
		ag_result result = tool_answer_block(run, asking.message, calls[0], &output);
		if (result == AG_PAUSE)
			return result;
		tool_answer_add(run, calls[0], output, result);
	}
	return AG_OK;
}
