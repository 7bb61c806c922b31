/* SPDX-License-Identifier: ISC */
/* Checking the tools that a client offers, and taking those whose names the graph does not use. */
#include "service/run/client_tools.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "graph/nodes/tools/node_tools.h"

#include <string.h>

#define NAME_MAX_LENGTH 64
#define DESCRIPTION_MAX 4096  /* characters */
#define SCHEMA_MAX 16384      /* bytes of compact JSON */
#define SERVERS_WAIT_MS 10000 /* how long to wait for the graph's tool servers to start */

static bool client_tools_check_one(struct call *call, const cJSON *tools, const cJSON *tool, int i)
{
	const char *name = json_str(tool, "name"), *description = json_str(tool, "description");
	const char *at = arena_printf(call->arena, "body.tools[%d]", i);
	static const char allowed[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t len = strlen(name);
	if (len < 1 || len > NAME_MAX_LENGTH || strspn(name, allowed) != len)
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Invalid client tool name '%s': use 1-64 letters, digits, '_' or '-'", name);
	const cJSON *other = tools->child;
	while (other != tool && strcmp(json_str(other, "name"), name) != 0)
		other = other->next;
	if (other != tool)
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Duplicate client tool name '%s'", name);
	if (description && utf8_characters(description) > DESCRIPTION_MAX)
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Client tool '%s': description exceeds %d characters", name, DESCRIPTION_MAX);
	const cJSON *parameters = json_opt(tool, "parameters");
	char *text = parameters ? json_print(parameters) : NULL;
	bool fits = !text || strlen(text) <= SCHEMA_MAX;
	cJSON_free(text);
	if (!fits)
		return error_field(&call->error, ERR_VALIDATION, at, "value_error",
		    "Client tool '%s': parameters exceed %d bytes", name, SCHEMA_MAX);
	return true;
}

static bool client_tools_check(struct call *call, const cJSON *tools, int most)
{
	const cJSON *tool;
	bool ok = true;
	int i = 0;
	if (cJSON_GetArraySize(tools) > most)
		return error_field(&call->error, ERR_VALIDATION, "body.tools", "value_error",
		    "At most %d client tools are allowed per run", most);
	cJSON_ArrayForEach(tool, tools)
		ok = client_tools_check_one(call, tools, tool, i++) && ok;
	return ok;
}

/* Sets taken[i] where the i-th of tools has the name of a tool of the node. */
static void client_tools_find_taken(const struct node *node, const cJSON *tools, bool *taken)
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

bool client_tools_read(
    struct call *call, const cJSON *tools, int most, bool allowed, struct client_tools *offered)
{
	const ag_graph *graph = call->service->graph;
	const size_t count = (size_t)cJSON_GetArraySize(tools);
	bool waits = false;
	*offered = (struct client_tools){0};
	if (!client_tools_check(call, tools, most))
		return false;
	if (count == 0 || !allowed)
		return true;
	bool *taken = arena_alloc(call->arena, count * sizeof(*taken));
	for (size_t n = 0; n < graph->all_count; n++) {
		if (!graph->all[n]->is_tools)
			continue;
		waits = true;
		client_tools_find_taken(graph->all[n], tools, taken);
	}
	if (!waits)
		return true; /* without a tools node nothing can wait for the results */
	struct tool *items = arena_alloc(call->arena, count * sizeof(*items));
	const cJSON *item;
	size_t i = 0;
	cJSON_ArrayForEach(item, tools) {
		if (taken[i++]) {
			log_info("client tool '%s' is ignored: the graph has a tool of that name",
			    json_str(item, "name"));
			continue;
		}
		const char *description = json_str(item, "description");
		cJSON *parameters = json_opt(item, "parameters");
		struct tool *tool = &items[offered->count++];
		*tool = (struct tool){
		    .name = arena_strdup(call->arena, json_str(item, "name")),
		    .description = arena_strdup(call->arena, description ? description : ""),
		    .source = TOOL_REMOTE,
		};
		tool->parameters = arena_json(call->arena,
		    graph_tool_parameters(parameters ? cJSON_Duplicate(parameters, true) : NULL));
	}
	offered->items = items;
	return true;
}
