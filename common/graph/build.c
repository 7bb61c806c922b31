/* SPDX-License-Identifier: ISC */
/* The building calls of agentgraph.h.  They collect; graph_compile (compile.c) judges the whole. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "config/plugin.h"
#include "graph/graph.h"
#include "graph/live/live.h"
#include "graph/nodes/tools/node_tools.h"
#include "tool/schema.h"

#include <stdlib.h>
#include <string.h>

ag_graph *graph_new(const char *name)
{
	ag_graph *graph = xcalloc(1, sizeof(*graph));
	graph->name = xstrdup(name);
	graph->prefix = xstrdup("");
	return graph;
}

ag_graph *graph_new_inside(const ag_graph *graph, const char *node, const char *name)
{
	ag_graph *inner = graph_new(name);
	free(inner->prefix);
	inner->prefix = xasprintf("%s%s/", graph->prefix, node ? node : "");
	inner->outer = graph;
	return inner;
}

static void node_release(struct node *node)
{
	for (size_t i = 0; i < node->tool_count; i++) {
		struct tool *tool = &node->tools[i];
		free(tool->name);
		free(tool->description);
		schema_free(tool->schema);
		cJSON_Delete(tool->parameters);
		texts_free(tool->tags);
	}
	free(node->tools);
	node_free_servers(node);
	texts_free(node->approve);
	live_agent_free(node->live);
	if (node->sub)
		graph_free(node->sub->graph);
	free(node->sub);
	free(node->policy.on_error);
	texts_free(node->policy.cache.names);
	free(node->policy.cache.described);
	free(node->name);
}

void graph_free(ag_graph *graph)
{
	if (!graph)
		return;
	for (size_t i = graph->hook_count; i-- > 0;)
		graph->hooks[i].fn(graph->hooks[i].data);
	for (size_t i = 0; i < graph->node_count; i++)
		node_release(&graph->nodes[i]);
	for (size_t i = 0; i < graph->edge_count; i++) {
		struct edge *edge = &graph->edges[i];
		for (size_t target = 0; target < edge->target_count; target++)
			free(edge->names[target]);
		free(edge->names);
		free(edge->targets);
		free(edge->from);
		free(edge->place);
		free(edge->join);
		free(edge->map);
	}
	for (size_t i = 0; i < graph->field_count; i++) {
		struct field *field = &graph->fields[i];
		free(field->name);
		free(field->type);
		free(field->description);
		cJSON_Delete(field->initial);
	}
	free(graph->nodes);
	free(graph->all);
	free(graph->prefix);
	free(graph->edges);
	free(graph->fields);
	free(graph->hooks);
	free(graph->state_type);
	free(graph->store_user);
	problems_release(&graph->problems);
	plugin_close(graph->library);
	free(graph->name);
	free(graph);
}

/* Names are written into messages, edges and URLs: letters, digits, blank, and _ - . : only. */
static bool build_check_name(ag_graph *graph, const char *what, const char *name)
{
	if (graph_name_valid(name))
		return true;
	problems_add(&graph->problems, "%s: %s name '%.80s': expected 1 to " GRAPH_NAME_LETTERS,
	    graph->name, what, name ? name : "");
	return false;
}

static struct node *node_add(ag_graph *graph, const char *name)
{
	if (!build_check_name(graph, "node", name))
		return NULL;
	if (graph_node_index(graph, name) != GRAPH_UNSET || strcmp(name, AG_START) == 0) {
		problems_add(
		    &graph->problems, "%s: node '%s': the name is taken", graph->name, name);
		return NULL;
	}
	graph->nodes = xrealloc(graph->nodes, (graph->node_count + 1) * sizeof(*graph->nodes));
	struct node *node = &graph->nodes[graph->node_count++];
	*node =
	    (struct node){.name = xasprintf("%s%s", graph->prefix, name), .on_error = GRAPH_UNSET};
	return node;
}

void ag_graph_node(ag_graph *graph, const char *name, ag_node_fn fn, void *data)
{
	struct node *node = node_add(graph, name);
	if (!node)
		return;
	node->fn = fn;
	node->data = data;
	if (!fn)
		problems_add(
		    &graph->problems, "%s: node '%s': expected a function", graph->name, name);
}

void ag_graph_tools(ag_graph *graph, const char *name)
{
	struct node *node = node_add(graph, name);
	if (node)
		node->is_tools = true;
}

void graph_add_subgraph(ag_graph *graph, const char *name, const struct subgraph *sub)
{
	struct node *node = node_add(graph, name);
	if (!node) {
		graph_free(sub->graph);
		return;
	}
	node->kind = "graph";
	node->sub = xcalloc(1, sizeof(*sub));
	*node->sub = *sub;
	graph->described = 31 * graph->described + sub->graph->described;
}

void ag_graph_live(ag_graph *graph, const char *name, const struct ag_live *live)
{
	struct node *node = node_add(graph, name);
	if (node)
		node->live = live_agent_new(graph, name, live);
}

cJSON *graph_tool_parameters(cJSON *parameters)
{
	if (!parameters)
		parameters = cJSON_CreateObject();
	if (!json_opt(parameters, "type"))
		json_set(parameters, "type", cJSON_CreateString("object"));
	if (!json_opt(parameters, "properties"))
		json_set(parameters, "properties", cJSON_CreateObject());
	if (!json_opt(parameters, "required"))
		json_set(parameters, "required", cJSON_CreateArray());
	return parameters;
}

/* A tools node that was declared before, or NULL with a problem noted. */
static struct node *build_tools_node(ag_graph *graph, const char *name, const char *tool)
{
	int i = name ? graph_node_index(graph, name) : GRAPH_UNSET;
	if (i >= 0 && graph->nodes[i].is_tools)
		return &graph->nodes[i];
	problems_add(&graph->problems, "%s: tool '%s': expected a tools node, '%s' is none",
	    graph->name, tool, name ? name : "");
	return NULL;
}

struct tool *graph_tool_add(struct node *node, const char *name, const char *description)
{
	node->tools = xrealloc(node->tools, (node->tool_count + 1) * sizeof(*node->tools));
	struct tool *tool = &node->tools[node->tool_count++];
	*tool = (struct tool){.name = xstrdup(name),
	    .description = utf8_mend(description ? description : ""),
	    .source = TOOL_LOCAL};
	return tool;
}

void ag_graph_tool(ag_graph *graph, const char *node_name, const char *name,
    const char *description, const char *parameters, ag_tool_fn fn, void *data)
{
	cJSON *schema = NULL;
	if (!build_check_name(graph, "tool", name))
		return;
	struct node *node = build_tools_node(graph, node_name, name);
	if (!node)
		return;
	if (graph_tool_get(node, name))
		problems_add(
		    &graph->problems, "%s: tool '%s': the name is taken", graph->name, name);
	if (!fn)
		problems_add(
		    &graph->problems, "%s: tool '%s': expected a function", graph->name, name);
	if (parameters) {
		schema = json_parse(parameters, strlen(parameters), JSON_REQUEST_DEPTH, NULL);
		const cJSON *type = json_opt(schema, "type");
		if (!cJSON_IsObject(schema) || (type && !json_str_is(schema, "type", "object")))
			problems_add(&graph->problems,
			    "%s: tool '%s': expected parameters to be a JSON Schema of type object",
			    graph->name, name);
	}
	struct tool *tool = graph_tool_add(node, name, description);
	tool->parameters = graph_tool_parameters(cJSON_IsObject(schema) ? schema : NULL);
	if (schema != tool->parameters)
		cJSON_Delete(schema);
	char *where = xasprintf("%s: tool '%s': parameters", graph->name, name);
	tool->schema = schema_compile(tool->parameters, where, &graph->problems);
	free(where);
	tool->fn = fn;
	tool->data = data;
}

void ag_graph_tool_tags(
    ag_graph *graph, const char *node_name, const char *name, const char *const tags[])
{
	struct node *node = build_tools_node(graph, node_name, name ? name : "");
	for (size_t i = 0; node && i < node->tool_count; i++) {
		struct tool *tool = &node->tools[i];
		if (!name || strcmp(tool->name, name) != 0)
			continue;
		texts_free(tool->tags);
		tool->tags = texts_copy(tags);
		return;
	}
	if (node)
		problems_add(&graph->problems, "%s: tags of tool '%s': there is no such tool",
		    graph->name, name ? name : "");
}

static struct edge *edge_add(ag_graph *graph, const char *from, const char *const targets[])
{
	size_t count = 0;
	while (targets && targets[count])
		count++;
	graph->edges = xrealloc(graph->edges, (graph->edge_count + 1) * sizeof(*graph->edges));
	struct edge *edge = &graph->edges[graph->edge_count++];
	*edge = (struct edge){.from = xstrdup(from ? from : ""),
	    .names = xcalloc(count + 1, sizeof(char *)),
	    .targets = xcalloc(count + 1, sizeof(int)),
	    .target_count = count};
	for (size_t i = 0; i < count; i++)
		edge->names[i] = xstrdup(targets[i]);
	return edge;
}

void ag_graph_edge(ag_graph *graph, const char *from, const char *to)
{
	edge_add(graph, from, (const char *const[]){to ? to : "", NULL});
}

void ag_graph_branch(
    ag_graph *graph, const char *from, ag_route_fn fn, void *data, const char *const targets[])
{
	struct edge *edge = edge_add(graph, from, targets);
	edge->fn = fn;
	edge->data = data;
	if (!fn || edge->target_count == 0)
		problems_add(&graph->problems,
		    "%s: conditional edge from '%s': expected a function and at least one target",
		    graph->name, edge->from);
}

void ag_graph_branches(
    ag_graph *graph, const char *from, const char *const targets[], const char *join)
{
	struct edge *edge = edge_add(graph, from, targets);
	edge->join = xstrdup(join ? join : "");
}

void ag_graph_map(ag_graph *graph, const char *from, const char *field, const char *to,
    const char *join, unsigned limit)
{
	ag_graph_branches(graph, from, (const char *const[]){to ? to : "", NULL}, join);
	struct edge *edge = &graph->edges[graph->edge_count - 1];
	edge->map = xstrdup(field ? field : "");
	edge->limit = limit < GRAPH_MAP_LIMIT ? (int)limit : GRAPH_MAP_LIMIT;
}

void ag_graph_field(ag_graph *graph, const char *name, const char *type, ag_reducer reducer,
    const char *initial, const char *description)
{
	if (!build_check_name(graph, "state field", name))
		return;
	graph->fields = xrealloc(graph->fields, (graph->field_count + 1) * sizeof(*graph->fields));
	struct field *field = &graph->fields[graph->field_count++];
	*field = (struct field){.name = xstrdup(name),
	    .type = xstrdup(type ? type : ""),
	    .description = description ? utf8_mend(description) : NULL,
	    .reducer = reducer};
	if (!initial)
		return;
	field->initial = json_parse(initial, strlen(initial), JSON_REQUEST_DEPTH, NULL);
	if (!field->initial)
		problems_add(&graph->problems,
		    "%s: state field '%s': expected its default to be JSON", graph->name, name);
}

void ag_graph_state_type(ag_graph *graph, const char *name)
{
	if (!build_check_name(graph, "state type", name))
		return;
	free(graph->state_type);
	graph->state_type = utf8_mend(name);
}

static struct node *build_interrupt_node(ag_graph *graph, const char *name, const char *what)
{
	int i = name ? graph_node_index(graph, name) : GRAPH_UNSET;
	if (i >= 0)
		return &graph->nodes[i];
	problems_add(&graph->problems, "%s: %s: expected a node, '%s' is none", graph->name, what,
	    name ? name : "");
	return NULL;
}

void ag_graph_interrupt_before(ag_graph *graph, const char *name)
{
	struct node *node = build_interrupt_node(graph, name, "interrupt_before");
	if (node)
		node->interrupt_before = true;
}

void ag_graph_interrupt_after(ag_graph *graph, const char *name)
{
	struct node *node = build_interrupt_node(graph, name, "interrupt_after");
	if (node)
		node->interrupt_after = true;
}

void ag_graph_on_free(ag_graph *graph, void (*fn)(void *data), void *data)
{
	if (!fn) {
		problems_add(
		    &graph->problems, "%s: ag_graph_on_free: expected a function", graph->name);
		return;
	}
	graph->hooks = xrealloc(graph->hooks, (graph->hook_count + 1) * sizeof(*graph->hooks));
	graph->hooks[graph->hook_count++] = (struct graph_free_hook){fn, data};
}
