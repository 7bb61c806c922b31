/* SPDX-License-Identifier: ISC */
/* The edges of documents. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "graph/document/document.h"

#include <stdlib.h>
#include <string.h>

struct edge_object {
	const char *from, *join, *map, *otherwise;
	int64_t limit;
	const cJSON *to, *choices;
};

DOCUMENT_SHAPE(edge, FIELD(edge_object, from, .kind = &field_text, .required = true),
    FIELD(edge_object, to, .kind = &field_json, .types = TYPE_STRING | TYPE_ARRAY),
    FIELD(edge_object, join, .kind = &field_text), FIELD(edge_object, map, .kind = &field_text),
    FIELD(edge_object, limit, .kind = &field_integer, .min = 1, .max = GRAPH_MAP_LIMIT),
    FIELD_AT("if", edge_object, choices, FIELD_ARRAY),
    FIELD_AT("else", edge_object, otherwise, .kind = &field_text));

struct edge_choice {
	const cJSON *when;
	const char *to;
	struct rule *rule;
};

DOCUMENT_SHAPE(choice, FIELD(edge_choice, when, FIELD_OBJECT, .required = true),
    FIELD(edge_choice, to, .kind = &field_text, .required = true));

struct branch {
	struct edge_choice *choices;
	size_t count;
	const char *otherwise; /* lives in the document */
};

static void branch_free(void *data)
{
	struct branch *branch = data;
	for (size_t i = 0; i < branch->count; i++)
		rule_free(branch->choices[i].rule);
	free(branch->choices);
	free(branch);
}

/* The first rule that holds decides. */
static const char *branch_route(const ag_state *state, void *data)
{
	const struct branch *branch = data;
	for (size_t i = 0; i < branch->count; i++) {
		if (rule_holds(branch->choices[i].rule, state))
			return branch->choices[i].to;
	}
	return branch->otherwise;
}

/* Whether name, when given, is a node or the terminal that is allowed in this place. */
static bool edge_check_end(
    struct document *d, const struct place *at, const char *name, const char *terminal)
{
	if (!name || strcmp(name, terminal) == 0 || json_get(d->nodes, name))
		return name;
	document_problem(d, at, "there is no node '%s'; expected one, or %s", name, terminal);
	return false;
}

static void branch_read(
    struct document *d, const struct place *at, const char *from, const struct edge_object *edge)
{
	const struct place *in = PLACE_KEY(at, "if");
	size_t errors = d->graph->problems.errors;
	size_t size = (size_t)cJSON_GetArraySize(edge->choices);
	struct branch *branch = xcalloc(1, sizeof(*branch));
	const cJSON *item;
	ag_graph_on_free(d->graph, branch_free, branch);
	branch->choices = xcalloc(size + 1, sizeof(*branch->choices));
	branch->otherwise = edge->otherwise;
	edge_check_end(d, PLACE_KEY(at, "else"), branch->otherwise, AG_END);
	if (size == 0)
		document_problem(d, in, "expected at least one choice");
	cJSON_ArrayForEach(item, edge->choices) {
		struct edge_choice *choice = &branch->choices[branch->count];
		const struct place *place = PLACE_INDEX(in, branch->count++);
		document_read(d, place, item, &shape_choice, choice);
		if (choice->when)
			choice->rule = document_rule(d, PLACE_KEY(place, "when"), choice->when);
		edge_check_end(d, PLACE_KEY(place, "to"), choice->to, AG_END);
	}
	if (d->graph->problems.errors != errors || !branch->otherwise)
		return;
	const char **targets = xcalloc(size + 2, sizeof(*targets));
	for (size_t i = 0; i < size; i++)
		targets[i] = branch->choices[i].to;
	targets[size] = branch->otherwise;
	ag_graph_branch(d->graph, from, branch_route, branch, targets);
	free(targets);
}

/* Adds the branches of a fork, one for each element of the array `to`, or those of a map. */
static void edge_read_branches(
    struct document *d, const struct place *at, const char *from, const struct edge_object *edge)
{
	const struct place *in = PLACE_KEY(at, "to");
	size_t errors = d->graph->problems.errors, i = 0;
	const char *const *names = edge->map ? NULL : document_names(d, in, edge->to);
	for (; names && names[i]; i++)
		edge_check_end(d, PLACE_INDEX(in, i), names[i], AG_END);
	if (edge->map)
		edge_check_end(d, in, cJSON_GetStringValue(edge->to), AG_END);
	if (!edge->join)
		document_problem(d, at, "expected the key 'join' beside %s",
		    edge->map ? "'map'" : "an array 'to'");
	else
		edge_check_end(d, PLACE_KEY(at, "join"), edge->join, AG_END);
	if (d->graph->problems.errors == errors) {
		if (edge->map)
			ag_graph_map(d->graph, from, edge->map, edge->to->valuestring, edge->join,
			    (unsigned)edge->limit);
		else
			ag_graph_branches(d->graph, from, names, edge->join);
		d->graph->edges[d->graph->edge_count - 1].place = document_place(d, at);
	}
	texts_free(names);
}

/* Goes by which members are there; those of a wrong type were reported. */
static void edge_read(struct document *d, const struct place *at, const cJSON *item)
{
	struct edge_object edge = {0};
	if (!document_read(d, at, item, &shape_edge, &edge))
		return;
	const char *from = edge.from ? edge.from : "";
	bool fixed = json_get(item, "to"), conditional = json_get(item, "if");
	bool otherwise = json_get(item, "else"), several = cJSON_IsArray(edge.to);
	bool maps = json_get(item, "map");
	edge_check_end(d, PLACE_KEY(at, "from"), edge.from, AG_START);
	if (fixed == conditional)
		document_problem(d, at, "expected either 'to', or 'if' with 'else'");
	else if (conditional && !otherwise)
		document_problem(d, at, "expected the key 'else' beside 'if'");
	else if (fixed && otherwise)
		document_problem(d, PLACE_KEY(at, "else"), "expected only beside 'if'");
	if (json_get(item, "join") && !several && !maps)
		document_problem(d, PLACE_KEY(at, "join"),
		    "expected only beside an array 'to' of branches, or 'map'");
	if (maps && (conditional || several))
		document_problem(
		    d, PLACE_KEY(at, "map"), "expected only beside 'to' with the name of one node");
	if (json_get(item, "limit") && !maps)
		document_problem(d, PLACE_KEY(at, "limit"), "expected only beside 'map'");
	const char *to = cJSON_GetStringValue(edge.to);
	if (conditional && !fixed && edge.choices)
		branch_read(d, at, from, &edge);
	else if (fixed && !conditional && (several ? !maps : edge.map != NULL))
		edge_read_branches(d, at, from, &edge);
	else if (fixed && !conditional && edge_check_end(d, PLACE_KEY(at, "to"), to, AG_END))
		ag_graph_edge(d->graph, from, to);
}

static void edge_check_leaves(
    struct document *d, const struct place *at, const cJSON *edges, const char *name)
{
	size_t count = 0;
	const cJSON *edge;
	cJSON_ArrayForEach(edge, edges) {
		count += json_str_is(edge, "from", name);
	}
	if (count != 1)
		document_problem(
		    d, at, "expected exactly one edge from '%s', found %zu", name, count);
}

void document_edges(struct document *d, const struct place *at, const cJSON *edges)
{
	const cJSON *item;
	size_t i = 0;
	cJSON_ArrayForEach(item, edges) {
		edge_read(d, PLACE_INDEX(at, i), item);
		i++;
	}
	edge_check_leaves(d, at, edges, AG_START);
	cJSON_ArrayForEach(item, d->nodes) {
		if (!document_is_live_tools(d, item->string))
			edge_check_leaves(d, at, edges, item->string);
	}
}
