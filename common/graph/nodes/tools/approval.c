/* SPDX-License-Identifier: ISC */
/* Asking a person about a tool call, and what becomes of one that was declined. */
#include "graph/nodes/tools/approval.h"

#include "base/json/json.h"
#include "base/texts.h"

#include <string.h>

static bool approval_allows(const cJSON *answer, const char *call_id)
{
	const cJSON *approve = cJSON_IsObject(answer) ? json_get(answer, "approve") : answer, *id;
	if (cJSON_IsTrue(approve))
		return true;
	if (!cJSON_IsObject(answer) || !cJSON_IsArray(approve))
		return false;
	cJSON_ArrayForEach(id, approve) {
		if (cJSON_IsString(id) && strcmp(id->valuestring, call_id) == 0)
			return true;
	}
	return false;
}

ag_result approval_ask(ag_run *run, const cJSON *const *calls, size_t count)
{
	static const char *const members[] = {"id", "name", "args"};
	const struct node *node = run->frame.node;
	cJSON *wanted = cJSON_CreateArray(), *call, *value;
	const cJSON *answer;
	for (size_t i = 0; i < count; i++) {
		const char *name = json_str(calls[i], "name");
		if (!node->approve_all && !texts_has(node->approve, name))
			continue;
		call = cJSON_CreateObject();
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
			json_add(call, members[k],
			    cJSON_Duplicate(json_get(calls[i], members[k]), true));
		cJSON_AddItemToArray(wanted, call);
	}
	arena_json(run->setup.arena, wanted);
	if (!wanted->child)
		return AG_OK;
	value = cJSON_CreateObject();
	cJSON_AddItemToObject(value, "calls", cJSON_Duplicate(wanted, true));
	ag_result result = ag_interrupt(run, "tool_approval", value, &answer);
	if (result != AG_OK)
		return result;
	run->frame.declined = arena_json(run->setup.arena, cJSON_CreateObject());
	run->frame.changed = arena_json(run->setup.arena, cJSON_CreateObject());
	cJSON_ArrayForEach(call, wanted) {
		const char *id = json_str(call, "id");
		const cJSON *args = json_get(json_get(answer, "arguments"), id);
		if (!approval_allows(answer, id))
			json_set(run->frame.declined, id, cJSON_CreateTrue());
		else if (args && !json_equal(args, json_get(call, "args")))
			json_set(run->frame.changed, id, cJSON_Duplicate(args, true));
	}
	return AG_OK;
}

bool approval_declined(const ag_run *run, const char *call_id)
{
	return json_get(run->frame.declined, call_id) != NULL;
}

const cJSON *approval_arguments(const ag_run *run, const char *call_id)
{
	return json_get(run->frame.changed, call_id);
}

cJSON *approval_output(const cJSON *arguments, cJSON *output)
{
	cJSON *told = cJSON_CreateObject();
	cJSON_AddStringToObject(told, "note", "The user changed the arguments of this call.");
	cJSON_AddItemToObject(told, "arguments", cJSON_Duplicate(arguments, true));
	json_add_or_null(told, "output", output);
	return told;
}
