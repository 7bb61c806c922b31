/* SPDX-License-Identifier: ISC */
/* Looking things up in a graph: names, nodes, fields, tools. */
#include "graph/graph.h"

#include "base/json/json.h"

#include <string.h>

bool graph_name_valid(const char *name)
{
	size_t len = name ? strlen(name) : 0;
	return len > 0 && len <= GRAPH_NAME_MAX &&
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.: ") ==
	    len;
}

int graph_node_index(const ag_graph *graph, const char *name)
{
	if (strcmp(name, AG_END) == 0)
		return GRAPH_END;
	for (size_t i = 0; i < graph->node_count; i++) {
		const char *known = graph->nodes[i].name;
		if (strcmp(known + strlen(graph->prefix), name) == 0 || strcmp(known, name) == 0)
			return (int)i;
	}
	return GRAPH_UNSET;
}

const struct node *graph_node_find(const ag_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->all_count; i++) {
		if (strcmp(graph->all[i]->name, name) == 0)
			return graph->all[i];
	}
	return NULL;
}

const struct edge *graph_region_edge(const ag_graph *graph, int place)
{
	if (GRAPH_IS_FORK(place))
		return GRAPH_FORK_EDGE(graph, place);
	return place >= 0 && graph->nodes[place].sub ? &graph->nodes[place].sub->enter : NULL;
}

const char *graph_node_name(const ag_graph *graph, int index)
{
	return index < 0 ? AG_END : graph->nodes[index].name;
}

const char *graph_first_name(const ag_graph *graph, int place)
{
	return graph_node_name(
	    graph, GRAPH_IS_FORK(place) ? GRAPH_FORK_EDGE(graph, place)->targets[0] : place);
}

const struct field *graph_field_get(const ag_graph *graph, const char *name)
{
	for (size_t i = 0; i < graph->field_count; i++) {
		if (strcmp(graph->fields[i].name, name) == 0)
			return &graph->fields[i];
	}
	return NULL;
}

const struct tool *graph_tool_get(const struct node *node, const char *name)
{
	for (size_t i = 0; i < node->tool_count; i++) {
		if (strcmp(node->tools[i].name, name) == 0)
			return &node->tools[i];
	}
	return NULL;
}

bool graph_field_accepts(const struct field *field, const cJSON *value)
{
	int64_t integer;
	if (cJSON_IsNull(value) || strcmp(field->type, "any") == 0)
		return true;
	if (strcmp(field->type, "integer") == 0)
		return json_integer(value, &integer);
	return strcmp(field->type, json_type_name(value)) == 0;
}
