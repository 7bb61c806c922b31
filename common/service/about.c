/* SPDX-License-Identifier: ISC */
/* The graph, its tools and its state schema as clients see them, and announced tools. */
#include "service/about.h"

#include "base/buf.h"
#include "base/fields.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/nodes/tools/node_tools.h"
#include "telemetry/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- GET /v1/graph ---- */

static cJSON *about_add_node(cJSON *nodes, const char *name)
{
	cJSON *node = cJSON_CreateObject();
	cJSON_AddStringToObject(node, "id", name);
	cJSON_AddStringToObject(node, "name", name);
	cJSON_AddItemToArray(nodes, node);
	return node;
}

/* Adds the node's kind, as its document has it, and its policies, as far as it has any. */
static void about_add_policy(cJSON *out, const struct node *node)
{
	const struct node_policy *policy = &node->policy;
	if (node->kind)
		cJSON_AddStringToObject(out, "kind", node->kind);
	if (policy->attempts) {
		cJSON *retry = cJSON_AddObjectToObject(out, "retry");
		json_add_int(retry, "attempts", policy->attempts);
		json_add(retry, "initial", json_new_double(policy->initial));
		json_add(retry, "factor", json_new_double(policy->factor));
		json_add(retry, "max", json_new_double(policy->max));
	}
	if (policy->cache.names) {
		cJSON *cache = cJSON_AddObjectToObject(out, "cache");
		cJSON *key = cJSON_AddArrayToObject(cache, "key");
		for (size_t i = 0; policy->cache.names[i]; i++)
			cJSON_AddItemToArray(key, cJSON_CreateString(policy->cache.names[i]));
		json_add(cache, "ttl", json_new_double(policy->cache.ttl));
	}
	if (policy->timeout > 0)
		json_add(out, "timeout", json_new_double(policy->timeout));
	if (policy->on_error) {
		/* by its path as well; END of a subgraph is shown as the node that it is */
		const char *to = policy->on_error, *slash = strrchr(node->name, '/');
		int prefix = slash ? (int)(slash - node->name) + 1 : 0;
		char *path = slash && strcmp(to, AG_END) == 0
		    ? xasprintf("%.*s", prefix - 1, node->name)
		    : xasprintf("%.*s%s", prefix, node->name, to);
		cJSON_AddStringToObject(out, "on_error", path);
		free(path);
	}
}

/* Adds one end of an edge.  START and END of a subgraph are shown as the node that the subgraph
 * is. */
static void about_add_end(
    cJSON *edge, const char *key, const ag_graph *graph, const char *name, const char *sub)
{
	bool outside = strcmp(name, AG_START) == 0 || strcmp(name, AG_END) == 0;
	if (outside && sub) {
		cJSON_AddStringToObject(edge, key, sub);
		return;
	}
	char *path = xasprintf("%s%s", outside ? "" : graph->prefix, name);
	cJSON_AddStringToObject(edge, key, path);
	free(path);
}

/* Adds the edges of the graph and then of its subgraphs; sub is the node that the graph is, or
 * NULL. */
static void about_add_edges(cJSON *edges, const ag_graph *graph, const char *sub)
{
	for (size_t i = 0; i < graph->edge_count; i++) {
		const struct edge *edge = &graph->edges[i];
		for (size_t t = 0; t < edge->target_count; t++) {
			size_t first = 0; /* several rules of one edge may lead to one place */
			while (edge->targets[first] != edge->targets[t])
				first++;
			if (first < t)
				continue;
			char id[24];
			cJSON *item = cJSON_CreateObject();
			snprintf(id, sizeof(id), "e%d", cJSON_GetArraySize(edges));
			cJSON_AddStringToObject(item, "id", id);
			about_add_end(item, "source", graph, edge->from, sub);
			about_add_end(item, "target", graph, edge->names[t], sub);
			if (edge->join)
				about_add_end(item, "join", graph, edge->join, sub);
			if (edge->map)
				cJSON_AddStringToObject(item, "map", edge->map);
			if (edge->limit)
				json_add_int(item, "limit", edge->limit);
			cJSON_AddItemToArray(edges, item);
		}
	}
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		if (node->sub)
			about_add_edges(edges, node->sub->graph, node->name);
	}
}

/* Names of the nodes with an interrupt, or null when the graph declares none. */
static cJSON *about_interrupts(const ag_graph *graph, bool before)
{
	cJSON *names = cJSON_CreateArray();
	for (size_t i = 0; i < graph->all_count; i++) {
		const struct node *node = graph->all[i];
		if (before ? node->interrupt_before : node->interrupt_after)
			cJSON_AddItemToArray(names, cJSON_CreateString(node->name));
	}
	if (names->child)
		return names;
	cJSON_Delete(names);
	return cJSON_CreateNull();
}

cJSON *graph_info(struct call *call)
{
	const struct service *service = call->service;
	const ag_graph *graph = service->graph;
	bool snowflake = service->ids.layout != NULL;
	cJSON *data = arena_json(call->arena, cJSON_CreateObject());
	cJSON *info = cJSON_AddObjectToObject(data, "info");
	cJSON *nodes = cJSON_AddArrayToObject(data, "nodes");
	cJSON *edges = cJSON_AddArrayToObject(data, "edges");
	about_add_node(nodes, AG_START);
	for (size_t i = 0; i < graph->all_count; i++)
		about_add_policy(about_add_node(nodes, graph->all[i]->name), graph->all[i]);
	about_add_node(nodes, AG_END);
	about_add_edges(edges, graph, NULL);
	json_add_int(info, "node_count", cJSON_GetArraySize(nodes));
	json_add_int(info, "edge_count", cJSON_GetArraySize(edges));
	cJSON_AddBoolToObject(info, "is_realtime", graph->live != NULL);
	cJSON_AddTrueToObject(info, "checkpointer");
	cJSON_AddStringToObject(info, "checkpointer_type", service->storage->engine->name);
	cJSON_AddBoolToObject(
	    info, "publisher", service->telemetry && telemetry_exports(service->telemetry));
	cJSON_AddBoolToObject(info, "store", service->memories != NULL);
	cJSON_AddItemToObject(info, "interrupt_before", about_interrupts(graph, true));
	cJSON_AddItemToObject(info, "interrupt_after", about_interrupts(graph, false));
	cJSON_AddNullToObject(info, "context_type");
	cJSON_AddStringToObject(info, "id_generator", snowflake ? "snowflake" : "uuid7");
	cJSON_AddStringToObject(info, "id_type", snowflake ? "BIGINT" : "string");
	cJSON_AddStringToObject(info, "state_type", graph->state_type);
	cJSON *fields = cJSON_AddArrayToObject(info, "state_fields");
	for (size_t i = 0; i < GRAPH_FIXED_FIELDS; i++)
		cJSON_AddItemToArray(fields, cJSON_CreateString(graph_fixed_fields[i]));
	for (size_t i = 0; i < graph->field_count; i++)
		cJSON_AddItemToArray(fields, cJSON_CreateString(graph->fields[i].name));
	return data;
}

/* ---- GET /v1/graph/tools ---- */

#define SERVERS_WAIT_MS 9000 /* of the ten seconds that an answer may take */

static const char *about_source_name(enum tool_source source)
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

/* Adds the node's tools and returns their number; none when one of its servers fails
 * (doc/protocol-runs.md#tools). */
static size_t about_add_tools_node(cJSON *nodes, const struct node *node, int64_t deadline_ms)
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
	for (size_t i = 0; i < count; i++) {
		const struct tool *tool = &tools.items[i];
		cJSON *item = cJSON_CreateObject();
		cJSON_AddStringToObject(item, "name", tool->name);
		cJSON_AddStringToObject(item, "description", tool->description);
		cJSON_AddStringToObject(item, "source", about_source_name(tool->source));
		cJSON_AddItemToObject(item, "parameters", cJSON_Duplicate(tool->parameters, true));
		cJSON_AddItemToArray(list, item);
	}
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
	for (size_t i = 0; i < graph->all_count; i++)
		node_tools_wake(graph->all[i]); /* so that their servers start side by side */
	for (size_t i = 0; i < graph->all_count; i++) {
		if (graph->all[i]->is_tools)
			tools += about_add_tools_node(nodes, graph->all[i], deadline);
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

/* A tool that a client says it has. */
struct announced {
	const char *name, *node;
};

#define TEXT .kind = &field_text, .required = true
/* what else an entry says is that of remote_tools already */
#define REPEATED \
	FIELD_ONLY("description", .kind = &field_text), FIELD_ONLY("parameters", FIELD_OBJECT)
static const struct field_row announced_rows[] = {FIELD(announced, name, TEXT),
    FIELD_AT("node_name", announced, node, TEXT), REPEATED, FIELDS_END};
static const struct field_row short_rows[] = {
    FIELD(announced, name, TEXT), FIELD(announced, node, TEXT), REPEATED, FIELDS_END};

/* The entries, ended by one without a name; NULL with every mistake set. */
static struct announced *announced_read(struct call *call, const cJSON *tools)
{
	const cJSON *item;
	int i = 0;
	if (!cJSON_IsArray(tools)) {
		error_wrong(&call->error, "body.tools", tools ? "type_error" : "missing",
		    "must be an array");
		return NULL;
	}
	size_t size = (size_t)cJSON_GetArraySize(tools) + 1;
	struct announced *out = arena_alloc(call->arena, size * sizeof(*out));
	cJSON_ArrayForEach(item, tools) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			break; /* more would not be reported */
		const char *at = arena_printf(call->arena, "body.tools[%d]", i);
		bool is_short = !json_opt(item, "node_name") && json_opt(item, "node");
		fields_read_entry(
		    &call->error, at, item, is_short ? short_rows : announced_rows, &out[i++]);
	}
	return error_is_set(&call->error) ? NULL : out;
}

cJSON *graph_setup(struct call *call, const cJSON *body)
{
	const struct announced *tools = announced_read(call, json_opt(body, "tools"));
	if (!tools)
		return NULL;
	int declared = 0;
	/* nodes of the declared tools; names of the other tools */
	struct buf nodes = {0}, rest = {0};
	cJSON *seen = arena_json(call->arena, cJSON_CreateArray());
	for (const struct announced *tool = tools; tool->name; tool++) {
		const struct node *node = graph_node_find(call->service->graph, tool->node);
		const struct tool *found = node ? graph_tool_get(node, tool->name) : NULL;
		if (!found || found->source != TOOL_REMOTE) {
			buf_printf(&rest, "%s%s", rest.len ? ", " : "; not declared: ", tool->name);
			continue;
		}
		declared++;
		if (json_has_str(seen, tool->node))
			continue;
		cJSON_AddItemToArray(seen, cJSON_CreateString(tool->node));
		buf_printf(&nodes, "%s%s", nodes.len ? ", " : "", tool->node);
	}
	cJSON *data = NULL;
	if (declared || !tools->name) {
		data = arena_json(call->arena, cJSON_CreateObject());
		cJSON_AddTrueToObject(data, "success");
		cJSON_AddStringToObject(data, "status", "success");
		cJSON_AddStringToObject(
		    data, "message", arena_printf(call->arena, "Registered %d tool(s)", declared));
		cJSON_AddStringToObject(data, "details",
		    arena_printf(call->arena, "Tools available on nodes: %s%s",
			declared ? buf_str(&nodes) : "none", buf_str(&rest)));
		json_add_int(data, "registered_tools", declared);
	} else {
		error_set(&call->error, ERR_INVALID_INPUT,
		    "Tool '%s' is not declared in remote_tools for node '%s'", tools->name,
		    tools->node);
	}
	buf_release(&nodes);
	buf_release(&rest);
	return data;
}
