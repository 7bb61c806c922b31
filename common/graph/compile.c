/* SPDX-License-Identifier: ISC */
/* The check of a graph that was built, and what follows from it: edges by index, defaults filled
 * in. */
#include "base/memory.h"
#include "config/config.h"
#include "graph/graph.h"
#include "graph/live/live.h"

#include <stdlib.h>
#include <string.h>

const char *const graph_fixed_fields[GRAPH_FIXED_FIELDS] = {
    "context", "context_summary", "execution_meta"};

/* The types of state fields, their values where none is declared, and what they accept. */
static const struct {
	const char *name;
	const char *initial;
} field_types[] = {{"string", "\"\""}, {"integer", "0"}, {"number", "0"}, {"boolean", "false"},
    {"array", "[]"}, {"object", "{}"}, {"any", "null"}};

static void compile_problem(ag_graph *graph, const char *what, const char *name, const char *text)
{
	problems_add(&graph->problems, "%s: %s '%s': %s", graph->name, what, name, text);
}

bool graph_reducer_fits(const struct field *field)
{
	switch (field->reducer) {
	case AG_REPLACE:
		return true;
	case AG_APPEND:
		return strcmp(field->type, "array") == 0;
	case AG_ADD:
		return strcmp(field->type, "number") == 0 || strcmp(field->type, "integer") == 0;
	case AG_MERGE:
		return strcmp(field->type, "object") == 0;
	}
	return false;
}

static void compile_field(ag_graph *graph, struct field *field)
{
	const char *initial = NULL;
	for (size_t i = 0; i < sizeof(field_types) / sizeof(field_types[0]); i++) {
		if (strcmp(field_types[i].name, field->type) == 0)
			initial = field_types[i].initial;
	}
	if (!initial) {
		compile_problem(graph, "state field", field->name,
		    "expected a type of string, integer, number, boolean, array, object, any");
		return;
	}
	for (size_t i = 0; i < GRAPH_FIXED_FIELDS; i++) {
		if (strcmp(graph_fixed_fields[i], field->name) == 0)
			compile_problem(graph, "state field", field->name,
			    "every graph has this field already");
	}
	if (graph_field_get(graph, field->name) != field)
		compile_problem(graph, "state field", field->name, "it is declared twice");
	if (!graph_reducer_fits(field))
		compile_problem(graph, "state field", field->name,
		    "its reducer does not fit its type " GRAPH_REDUCERS_FIT);
	if (!field->initial)
		field->initial = cJSON_Parse(initial);
	else if (!graph_field_accepts(field, field->initial))
		compile_problem(
		    graph, "state field", field->name, "its default is not of its type");
}

static void compile_edge(ag_graph *graph, struct edge *edge)
{
	int from = graph_node_index(graph, edge->from);
	bool is_start = strcmp(edge->from, AG_START) == 0;
	const struct edge **slot = is_start ? &graph->start : NULL;
	for (size_t i = 0; i < edge->target_count; i++) {
		edge->targets[i] = graph_node_index(graph, edge->names[i]);
		if (edge->targets[i] == GRAPH_UNSET)
			compile_problem(graph, "edge to", edge->names[i], "there is no such node");
	}
	if (edge->join) {
		edge->joins = graph_node_index(graph, edge->join);
		if (edge->joins == GRAPH_UNSET)
			compile_problem(graph, "join", edge->join, "there is no such node");
	}
	if (from >= 0)
		slot = &graph->nodes[from].edge;
	if (!slot)
		compile_problem(graph, "edge from", edge->from, "there is no such node");
	else if (*slot)
		compile_problem(
		    graph, "edge from", edge->from, "a second one: expected exactly one edge");
	else
		*slot = edge;
}

/* Makes the edges into subgraphs, and the list of all nodes, now that the nodes do not move any
 * more. */
static void compile_inside(ag_graph *graph)
{
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct node *node = &graph->nodes[i];
		struct subgraph *sub = node->sub;
		size_t inner = sub ? sub->graph->all_count : 0;
		graph->all =
		    xrealloc(graph->all, (graph->all_count + inner + 1) * sizeof(*graph->all));
		graph->all[graph->all_count++] = node;
		for (size_t k = 0; k < inner; k++)
			graph->all[graph->all_count++] = sub->graph->all[k];
		if (sub)
			sub->enter =
			    (struct edge){.from = node->name, .joins = GRAPH_END, .into = node};
	}
}

static void compile_mark_reached(const ag_graph *graph, const struct edge *edge, bool *reached);

static void compile_mark_node(const ag_graph *graph, int target, bool *reached)
{
	if (target < 0 || reached[target])
		return;
	reached[target] = true;
	compile_mark_reached(graph, graph->nodes[target].edge, reached);
	compile_mark_node(graph, graph->nodes[target].on_error, reached);
}

static void compile_mark_reached(const ag_graph *graph, const struct edge *edge, bool *reached)
{
	for (size_t i = 0; edge && i < edge->target_count; i++)
		compile_mark_node(graph, edge->targets[i], reached);
	if (edge && edge->join)
		compile_mark_node(graph, edge->joins, reached);
}

static void compile_check_reach(ag_graph *graph)
{
	bool *reached = xcalloc(graph->node_count + 1, sizeof(*reached));
	compile_mark_reached(graph, graph->start, reached);
	for (size_t i = 0; i < graph->node_count; i++) {
		/* a live agent calls its tools itself: no edge need lead to them, or leave them */
		if (graph->live && &graph->nodes[i] == graph->live->live->tools)
			continue;
		if (!reached[i])
			compile_problem(graph, "node", graph->nodes[i].name, "no edge leads to it");
		if (!graph->nodes[i].edge)
			compile_problem(
			    graph, "node", graph->nodes[i].name, "expected an edge that leaves it");
	}
	free(reached);
}

static bool edge_can_end(const ag_graph *graph, const struct edge *edge, bool *seen);

static bool node_can_end(const ag_graph *graph, int target, bool *seen)
{
	if (target < 0 || seen[target])
		return target == GRAPH_END;
	seen[target] = true;
	return edge_can_end(graph, graph->nodes[target].edge, seen) ||
	    node_can_end(graph, graph->nodes[target].on_error, seen);
}

/* Whether a run that is where the edge begins can get to END. */
static bool edge_can_end(const ag_graph *graph, const struct edge *edge, bool *seen)
{
	for (size_t i = 0; edge && i < edge->target_count; i++) {
		if (node_can_end(graph, edge->targets[i], seen))
			return true;
	}
	return edge && edge->join && node_can_end(graph, edge->joins, seen);
}

bool graph_compile(ag_graph *graph)
{
	for (size_t i = 0; i < graph->field_count; i++)
		compile_field(graph, &graph->fields[i]);
	for (size_t i = 0; i < graph->edge_count; i++)
		compile_edge(graph, &graph->edges[i]);
	for (size_t i = 0; i < graph->node_count; i++) {
		struct node *node = &graph->nodes[i];
		const char *name = node->policy.on_error;
		if (name)
			node->on_error = graph_node_index(graph, name);
		if (name && node->on_error == GRAPH_UNSET)
			problems_add(&graph->problems,
			    "%s: node '%s': on_error: there is no node '%s'", graph->name,
			    node->name, name);
	}
	if (graph->node_count == 0)
		compile_problem(graph, "graph", graph->name, "expected at least one node");
	if (!graph->start)
		compile_problem(graph, "node", AG_START, "expected an edge that leaves it");
	live_compile(graph);
	if (graph->problems.errors == 0)
		graph_compile_regions(graph);
	compile_inside(graph);
	compile_check_reach(graph);
	if (graph->problems.errors == 0 && graph->start && !graph->live) {
		bool *seen = xcalloc(graph->node_count + 1, sizeof(*seen));
		/* a pause ends runs too, so this is not always a mistake */
		if (!edge_can_end(graph, graph->start, seen))
			problems_warn(&graph->problems,
			    "%s: no way leads to END, so every run goes on until it exceeds its "
			    "recursion limit or pauses",
			    graph->name);
		free(seen);
	}
	if (!graph->state_type)
		graph->state_type = xstrdup(graph->field_count ? "State" : "AgentState");
	return graph->problems.errors == 0;
}

void graph_add_remote_tools(ag_graph *graph, const struct config *config, struct problems *problems)
{
	const char *file = config->path ? config->path : "agentgraph.json";
	for (size_t i = 0; i < config->remote_tool_count; i++) {
		const struct remote_tool *remote = &config->remote_tools[i];
		const struct node *node = graph_node_find(graph, remote->node);
		size_t n = 0;
		while (n < graph->all_count && !graph_tool_get(graph->all[n], remote->name))
			n++;
		if (!node || !node->is_tools) {
			problems_add(problems,
			    "%s: remote_tools: '%s': expected node to be a tools node of the graph, "
			    "'%s' is not",
			    file, remote->name, remote->node);
		} else if (n < graph->all_count) {
			problems_add(problems,
			    "%s: remote_tools: '%s': expected another name, a tool of the graph "
			    "has this one",
			    file, remote->name);
		} else { /* nothing else has begun to read the graph */
			struct tool *tool =
			    graph_tool_add((struct node *)node, remote->name, remote->description);
			tool->source = TOOL_REMOTE;
			tool->parameters = cJSON_Duplicate(remote->parameters, true);
		}
	}
}
