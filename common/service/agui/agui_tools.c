/* SPDX-License-Identifier: ISC */
/* Checking the tools offered, and adding those whose names the graph leaves free. */
#include "service/agui/agui_input.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "graph/node_tools.h"

#include <string.h>

#define TOOLS_MAX 64
#define NAME_MAX_LENGTH 64
#define DESCRIPTION_MAX 4096  /* characters */
#define SCHEMA_MAX 16384      /* bytes of compact JSON */
#define SERVERS_WAIT_MS 10000 /* for tool servers of the graph that are starting */

static bool name_valid(const char *name)
{
	static const char allowed[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t len = strlen(name);
	return len >= 1 && len <= NAME_MAX_LENGTH && strspn(name, allowed) == len;
}

static size_t count_characters(const char *text)
{
	size_t count = 0;
	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

static bool parameters_fit(const cJSON *parameters)
{
	if (!parameters)
		return true;
	char *text = json_print(parameters);
	bool fits = strlen(text) <= SCHEMA_MAX;
	cJSON_free(text);
	return fits;
}

static bool is_repeated(const cJSON *tools, const cJSON *tool)
{
	const char *name = json_str(tool, "name");
	for (const cJSON *other = tools->child; other != tool; other = other->next) {
		if (strcmp(json_str(other, "name"), name) == 0)
			return true;
	}
	return false;
}

static bool agui_tools_check_tool(struct call *call, const cJSON *tools, const cJSON *tool, int i)
{
	const char *name = json_str(tool, "name"), *description = json_str(tool, "description");
	const char *at = arena_printf(call->arena, "body.tools[%d]", i);
	if (!name_valid(name))
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Invalid client tool name '%s': use 1-64 letters, digits, '_' or '-'", name);
	if (is_repeated(tools, tool))
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Duplicate client tool name '%s'", name);
	if (description && count_characters(description) > DESCRIPTION_MAX)
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Client tool '%s': description exceeds %d characters", name, DESCRIPTION_MAX);
	if (!parameters_fit(json_opt(tool, "parameters")))
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Client tool '%s': parameters exceed %d bytes", name, SCHEMA_MAX);
	return true;
}

static bool agui_tools_check_tools(struct call *call, const cJSON *tools)
{
	const cJSON *tool;
	bool ok = true;
	int i = 0;
	if (cJSON_GetArraySize(tools) > TOOLS_MAX)
		return error_field(&call->error, ERR_VALIDATION, "body.tools", "value_error",
		    "At most %d client tools are allowed per run", TOOLS_MAX);
	cJSON_ArrayForEach(tool, tools)
		ok = agui_tools_check_tool(call, tools, tool, i++) && ok;
	return ok;
}

/* Somewhere the calls must go: a graph without a tools node cannot wait for their results. */
static bool graph_has_tools_node(const ag_graph *graph)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].is_tools)
			return true;
	}
	return false;
}

/* Notes which of tools (in their order) have the name of a tool that the node has. */
static void find_taken(const struct node *node, const cJSON *tools, bool *taken)
{
	struct node_tools own;
	const cJSON *item;
	size_t i = 0;
	node_tools_get(node, NULL, clock_monotonic_ms() + SERVERS_WAIT_MS, &own);
	cJSON_ArrayForEach(item, tools) {
		if (node_tools_find(&own, json_str(item, "name")))
			taken[i] = true;
		i++;
	}
	node_tools_release(&own);
}

static void agui_tools_offer(struct call *call, const cJSON *item, struct tool *tool)
{
	const char *description = json_str(item, "description");
	cJSON *parameters = json_opt(item, "parameters");
	*tool = (struct tool){
	    .name = arena_strdup(call->arena, json_str(item, "name")),
	    .description = arena_strdup(call->arena, description ? description : ""),
	    .source = TOOL_REMOTE,
	};
	tool->parameters = arena_json(call->arena,
	    graph_tool_parameters(parameters ? cJSON_Duplicate(parameters, true) : NULL));
}

static void offer_free(struct call *call, const cJSON *tools, struct client_tools *offered)
{
	const ag_graph *graph = call->service->graph;
	struct tool *items = arena_alloc(call->arena, TOOLS_MAX * sizeof(*items));
	bool taken[TOOLS_MAX] = {false};
	const cJSON *item;
	size_t i = 0;
	for (size_t n = 0; n < graph->node_count; n++) {
		if (graph->nodes[n].is_tools)
			find_taken(&graph->nodes[n], tools, taken);
	}
	cJSON_ArrayForEach(item, tools) {
		if (taken[i++])
			log_info("client tool '%s' is ignored: the graph has a tool of that name",
			    json_str(item, "name"));
		else
			agui_tools_offer(call, item, &items[offered->count++]);
	}
	offered->items = items;
}

bool agui_tools_read(struct call *call, const cJSON *tools, struct client_tools *offered)
{
	*offered = (struct client_tools){0};
	if (!agui_tools_check_tools(call, tools))
		return false;
	if (cJSON_GetArraySize(tools) > 0 && call->service->config->ag_ui_allow_client_tools &&
	    graph_has_tools_node(call->service->graph))
		offer_free(call, tools, offered);
	return true;
}
