/* SPDX-License-Identifier: ISC */
/* The tool's schema, and each of its actions as a call to the memory store. */
#include "graph/nodes/nodes.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "graph/nodes/recall.h"

#include <stdlib.h>
#include <string.h>

const char *const memory_actions[MEMORY_ACTIONS] = {
    "search", "list", "remember", "update", "forget"};

/* What each action is, and what it needs. */
static const struct {
	const char *about;
	const char *needs[2];
} actions[MEMORY_ACTIONS] = {
    [MEMORY_SEARCH] = {"finds memories that fit query", {"query"}},
    [MEMORY_LIST] = {"gives the latest memories", {NULL}},
    [MEMORY_REMEMBER] = {"keeps content, one fact in a sentence, for later conversations",
	{"content"}},
    [MEMORY_UPDATE] = {"replaces the content of the memory with memory_id",
	{"memory_id", "content"}},
    [MEMORY_FORGET] = {"deletes the memory with memory_id", {"memory_id"}},
};

/* ---- What the model is told */

char *memory_tool_description(const struct memory_tool *tool)
{
	struct buf text = {0};
	buf_puts(&text, "What is known of the user from earlier conversations.");
	for (int i = 0; i < MEMORY_ACTIONS; i++)
		if (tool->may[i])
			buf_printf(&text, "  %s: %s.", memory_actions[i], actions[i].about);
	return buf_detach(&text);
}

static bool memory_tool_is_needed(const struct memory_tool *tool, const char *name)
{
	for (int i = 0; i < MEMORY_ACTIONS; i++)
		for (int k = 0; tool->may[i] && k < 2; k++)
			if (actions[i].needs[k] && strcmp(actions[i].needs[k], name) == 0)
				return true;
	return false;
}

char *memory_tool_parameters(const struct memory_tool *tool)
{
	static const char *const texts[] = {"query", "content", "memory_id"};
	cJSON *schema = json_typed("object");
	cJSON *properties = cJSON_AddObjectToObject(schema, "properties");
	cJSON *action = cJSON_AddObjectToObject(properties, "action");
	json_add_str(action, "type", "string");
	cJSON *names = cJSON_AddArrayToObject(action, "enum");
	for (int i = 0; i < MEMORY_ACTIONS; i++)
		if (tool->may[i])
			cJSON_AddItemToArray(names, cJSON_CreateString(memory_actions[i]));
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (memory_tool_is_needed(tool, texts[i]))
			json_add_str(
			    cJSON_AddObjectToObject(properties, texts[i]), "type", "string");
	cJSON_AddItemToArray(
	    cJSON_AddArrayToObject(schema, "required"), cJSON_CreateString("action"));
	char *text = json_print(schema);
	cJSON_Delete(schema);
	return text;
}

/* ---- Its work */

/* What a model needs of memories. */
static cJSON *memory_tool_brief(const cJSON *memories)
{
	static const char *const kept[] = {"memory_id", "timestamp", "score"};
	cJSON *out = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(out, "memories");
	const cJSON *memory;
	cJSON_ArrayForEach(memory, memories) {
		cJSON *brief = cJSON_CreateObject();
		char *text = memory_text(memory);
		json_add_str(brief, "content", text);
		free(text);
		for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
			const cJSON *value = json_opt(memory, kept[i]);
			if (value)
				json_add(brief, kept[i], cJSON_Duplicate(value, true));
		}
		cJSON_AddItemToArray(list, brief);
	}
	return out;
}

/* The members of args that the route wants, and limit where it has one. */
static cJSON *memory_tool_body(const cJSON *args, const char *member, int limit)
{
	cJSON *body = cJSON_CreateObject();
	if (member)
		json_add_str(body, member, json_str(args, member));
	if (limit)
		json_add_int(body, "limit", limit);
	return body;
}

static ag_result memory_tool_act(ag_run *run, const struct memory_tool *tool,
    enum memory_action action, const cJSON *args, cJSON **output)
{
	const char *id = json_str(args, "memory_id");
	const cJSON *answer = NULL;
	ag_result result = AG_ERROR;
	switch (action) {
	case MEMORY_SEARCH:
		result =
		    ag_store_search(run, memory_tool_body(args, "query", tool->limit), &answer);
		*output = result == AG_OK ? memory_tool_brief(json_get(answer, "results")) : NULL;
		return result;
	case MEMORY_LIST:
		result = ag_store_list(run, memory_tool_body(args, NULL, tool->limit), &answer);
		*output = result == AG_OK ? memory_tool_brief(json_get(answer, "memories")) : NULL;
		return result;
	case MEMORY_REMEMBER:
		result = ag_store_put(run, memory_tool_body(args, "content", 0), &answer);
		id = json_str(answer, "memory_id");
		break;
	case MEMORY_UPDATE:
		result = ag_store_update(run, id, memory_tool_body(args, "content", 0), &answer);
		break;
	case MEMORY_FORGET:
		result = ag_store_delete(run, id, NULL, &answer);
		break;
	case MEMORY_ACTIONS:
		break;
	}
	*output = NULL;
	if (result == AG_OK) {
		*output = cJSON_CreateObject();
		json_add_str(*output, "memory_id", id);
	}
	return result;
}

ag_result memory_tool(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const struct memory_tool *tool = data;
	const char *name = json_str(args, "action");
	int action = 0;
	while (action < MEMORY_ACTIONS && (!name || strcmp(memory_actions[action], name) != 0))
		action++;
	if (action == MEMORY_ACTIONS || !tool->may[action])
		return ag_fail(run, "arguments.action: there is no such action");
	for (int i = 0; i < 2; i++) {
		const char *needed = actions[action].needs[i];
		const char *value = needed ? json_str(args, needed) : NULL;
		if (needed && (!value || !value[strspn(value, " \t\r\n")]))
			return ag_fail(run, "arguments.%s: expected a text, for %s", needed, name);
	}
	return memory_tool_act(run, tool, (enum memory_action)action, args, output);
}
