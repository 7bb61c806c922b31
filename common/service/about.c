/* SPDX-License-Identifier: ISC */
/* The graph, its tools and its state schema as clients see them, and announced tools. */
#include "service/about.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "graph/node_tools.h"
#include "telemetry/telemetry.h"

#include <stdio.h>
#include <string.h>

/* ---- GET /v1/graph ---- */

static void add_node(cJSON *nodes, const char *name)
{
	cJSON *node = cJSON_CreateObject();
	cJSON_AddStringToObject(node, "id", name);
	cJSON_AddStringToObject(node, "name", name);
	cJSON_AddItemToArray(nodes, node);
}

static cJSON *nodes_json(const ag_graph *graph)
{
	cJSON *nodes = cJSON_CreateArray();
	add_node(nodes, AG_START);
	for (size_t i = 0; i < graph->node_count; i++)
		add_node(nodes, graph->nodes[i].name);
	add_node(nodes, AG_END);
	return nodes;
}

static void add_edge(cJSON *edges, const char *source, const char *target)
{
	char id[24];
	cJSON *item = cJSON_CreateObject();
	snprintf(id, sizeof(id), "e%d", cJSON_GetArraySize(edges));
	cJSON_AddStringToObject(item, "id", id);
	cJSON_AddStringToObject(item, "source", source);
	cJSON_AddStringToObject(item, "target", target);
	cJSON_AddItemToArray(edges, item);
}

/* Several rules of one edge may lead to one place. */
static bool about_is_listed(const struct edge *edge, size_t target)
{
	for (size_t i = 0; i < target; i++) {
		if (edge->targets[i] == edge->targets[target])
			return true;
	}
	return false;
}

static cJSON *edges_json(const ag_graph *graph)
{
	cJSON *edges = cJSON_CreateArray();
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct edge *edge = &graph->edges[i];
		for (size_t t = 0; t < edge->target_count; t++) {
			if (!about_is_listed(edge, t))
				add_edge(edges, edge->from, edge->names[t]);
		}
	}
	return edges;
}

/* Names of the nodes with an interrupt, or null when the graph declares none. */
static cJSON *interrupts_json(const ag_graph *graph, bool before)
{
	cJSON *names = cJSON_CreateArray();
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		if (before ? node->interrupt_before : node->interrupt_after)
			cJSON_AddItemToArray(names, cJSON_CreateString(node->name));
	}
	if (names->child)
		return names;
	cJSON_Delete(names);
	return cJSON_CreateNull();
}

static void add_state_fields(cJSON *info, const ag_graph *graph)
{
	cJSON *names = cJSON_AddArrayToObject(info, "state_fields");
	for (size_t i = 0; i < GRAPH_FIXED_FIELDS; i++)
		cJSON_AddItemToArray(names, cJSON_CreateString(graph_fixed_fields[i]));
	for (size_t i = 0; i < graph->field_count; i++)
		cJSON_AddItemToArray(names, cJSON_CreateString(graph->fields[i].name));
}

static cJSON *info_json(const struct service *service, int nodes, int edges)
{
	const ag_graph *graph = service->graph;
	bool snowflake = service->ids.layout != NULL;
	cJSON *info = cJSON_CreateObject();
	json_add_int(info, "node_count", nodes);
	json_add_int(info, "edge_count", edges);
	cJSON_AddBoolToObject(info, "is_realtime", graph->live != NULL);
	cJSON_AddTrueToObject(info, "checkpointer");
	cJSON_AddStringToObject(info, "checkpointer_type", service->storage->ops->type);
	cJSON_AddBoolToObject(
	    info, "publisher", service->telemetry && telemetry_exports(service->telemetry));
	cJSON_AddBoolToObject(info, "store", service->memories != NULL);
	cJSON_AddItemToObject(info, "interrupt_before", interrupts_json(graph, true));
	cJSON_AddItemToObject(info, "interrupt_after", interrupts_json(graph, false));
	cJSON_AddNullToObject(info, "context_type");
	cJSON_AddStringToObject(info, "id_generator", snowflake ? "snowflake" : "uuid7");
	cJSON_AddStringToObject(info, "id_type", snowflake ? "BIGINT" : "string");
	cJSON_AddStringToObject(info, "state_type", graph->state_type);
	add_state_fields(info, graph);
	return info;
}

cJSON *graph_info(struct call *call)
{
	const ag_graph *graph = call->service->graph;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON *nodes = nodes_json(graph), *edges = edges_json(graph);
	cJSON_AddItemToObject(data, "info",
	    info_json(call->service, cJSON_GetArraySize(nodes), cJSON_GetArraySize(edges)));
	cJSON_AddItemToObject(data, "nodes", nodes);
	cJSON_AddItemToObject(data, "edges", edges);
	return data;
}

/* ---- GET /v1/graph/tools ---- */

#define SERVERS_WAIT_MS 9000 /* of the ten seconds that an answer may take */

static const char *source_name(enum tool_source source)
{
	switch (source) {
	case TOOL_LOCAL:
		return "local";
	case TOOL_MCP:
		return "mcp";
	case TOOL_REMOTE:
		return "remote";
	}
	return "local";
}

static cJSON *about_tool_json(const struct tool *tool)
{
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "name", tool->name);
	cJSON_AddStringToObject(out, "description", tool->description);
	cJSON_AddStringToObject(out, "source", source_name(tool->source));
	cJSON_AddItemToObject(out, "parameters", cJSON_Duplicate(tool->parameters, true));
	return out;
}

/* How many tools the node has: none when one of its servers fails (doc/protocol-runs.md#tools). */
static size_t add_tools_node(cJSON *nodes, const struct node *node, int64_t deadline_ms)
{
	struct node_tools tools;
	node_tools_get(node, NULL, deadline_ms, &tools);
	if (tools.unreached)
		log_warning(
		    "the tools of node %s are not listed: a server of them fails", node->name);
	size_t count = tools.unreached ? 0 : tools.count;
	cJSON *out = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "node_name", node->name);
	json_add_int(out, "tool_count", (int64_t)count);
	cJSON *list = cJSON_AddArrayToObject(out, "tools");
	for (size_t i = 0; i < count; i++)
		cJSON_AddItemToArray(list, about_tool_json(&tools.items[i]));
	cJSON_AddItemToArray(nodes, out);
	node_tools_release(&tools);
	return count;
}

cJSON *graph_tools(struct call *call)
{
	const ag_graph *graph = call->service->graph;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON *nodes = cJSON_CreateArray();
	int64_t deadline = clock_monotonic_ms() + SERVERS_WAIT_MS;
	size_t tools = 0;
	for (size_t i = 0; i < graph->node_count; i++)
		node_tools_wake(&graph->nodes[i]); /* they get ready side by side */
	for (size_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].is_tools)
			tools += add_tools_node(nodes, &graph->nodes[i], deadline);
	}
	json_add_int(data, "node_count", cJSON_GetArraySize(nodes));
	json_add_int(data, "tool_count", (int64_t)tools);
	cJSON_AddItemToObject(data, "nodes", nodes);
	return data;
}

cJSON *graph_schema(struct call *call)
{
	return arena_json(call->arena, schema_of(call->service->graph));
}

/* ---- POST /v1/graph/setup ---- */

static const cJSON *announced_node(const cJSON *tool)
{
	const cJSON *node = json_opt(tool, "node_name");
	return node ? node : json_opt(tool, "node");
}

static bool announced_text(struct call *call, int i, const char *name, const cJSON *value)
{
	const char *where = arena_printf(call->arena, "body.tools[%d].%s", i, name);
	return cJSON_IsString(value) ||
	    error_field(&call->error, ERR_VALIDATION, where, value ? "type_error" : "missing",
		"tools[%d].%s must be a string", i, name);
}

/* What is wrong with the form of the entries; all of it is told. */
static bool announced_check(struct call *call, const cJSON *tools)
{
	const cJSON *tool;
	int i = 0;
	if (!cJSON_IsArray(tools))
		return error_field(&call->error, ERR_VALIDATION, "body.tools",
		    tools ? "type_error" : "missing", "tools must be an array");
	cJSON_ArrayForEach(tool, tools) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			break; /* nobody would be told of more */
		announced_text(call, i, "name", json_opt(tool, "name"));
		announced_text(call, i++, "node_name", announced_node(tool));
	}
	return !error_is_set(&call->error);
}

static bool announced_declared(struct call *call, const char *name, const char *node)
{
	const ag_graph *graph = call->service->graph;
	int n = graph_node_index(graph, node);
	const struct tool *found = n >= 0 ? graph_tool_get(&graph->nodes[n], name) : NULL;
	return found && found->source == TOOL_REMOTE;
}

/* Appends ", name" unless the array seen has it already. */
static void list_once(struct buf *list, cJSON *seen, const char *name)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, seen) {
		if (strcmp(item->valuestring, name) == 0)
			return;
	}
	cJSON_AddItemToArray(seen, cJSON_CreateString(name));
	buf_printf(list, "%s%s", list->len ? ", " : "", name);
}

/* What the entries come to. */
struct announced {
	int count;        /* those that are declared */
	struct buf nodes; /* of these */
	struct buf rest;  /* the names of the others */
};

static void announced_count(struct call *call, const cJSON *tools, struct announced *a)
{
	cJSON *seen = arena_json(call->arena, cJSON_CreateArray());
	const cJSON *tool;
	cJSON_ArrayForEach(tool, tools) {
		const char *node = announced_node(tool)->valuestring;
		const char *name = json_str(tool, "name");
		if (announced_declared(call, name, node)) {
			a->count++;
			list_once(&a->nodes, seen, node);
		} else {
			buf_printf(&a->rest, "%s%s", a->rest.len ? ", " : "; not declared: ", name);
		}
	}
}

static cJSON *setup_data(struct call *call, const struct announced *a)
{
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON_AddTrueToObject(data, "success");
	cJSON_AddStringToObject(data, "status", "success");
	cJSON_AddStringToObject(
	    data, "message", arena_printf(call->arena, "Registered %d tool(s)", a->count));
	cJSON_AddStringToObject(data, "details",
	    arena_printf(call->arena, "Tools available on nodes: %s%s", buf_str(&a->nodes),
		buf_str(&a->rest)));
	json_add_int(data, "registered_tools", a->count);
	return data;
}

cJSON *graph_setup(struct call *call, const cJSON *body)
{
	const cJSON *tools = json_opt(body, "tools");
	struct announced a = {0};
	cJSON *data = NULL;
	if (!announced_check(call, tools))
		return NULL;
	announced_count(call, tools, &a);
	if (a.count || !tools->child)
		data = setup_data(call, &a);
	else
		error_set(&call->error, ERR_INVALID_INPUT,
		    "Tool '%s' is not declared in remote_tools for node '%s'",
		    json_str(tools->child, "name"), announced_node(tools->child)->valuestring);
	buf_release(&a.nodes);
	buf_release(&a.rest);
	return data;
}
