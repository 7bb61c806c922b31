/* SPDX-License-Identifier: ISC */
/* The edges of documents. */
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"

#include <stdlib.h>
#include <string.h>

struct choice {
	struct rule *when;
	const char *to; /* lives in the document */
};

struct branch {
	struct choice *choices;
	size_t count;
	const char *otherwise; /* lives in the document */
};

static void branch_free(void *data)
{
	struct branch *branch = data;
	for (size_t i = 0; i < branch->count; i++)
		rule_free(branch->choices[i].when);
	free(branch->choices);
	free(branch);
}

/* The first rule that holds decides. */
static const char *branch_route(const ag_state *state, void *data)
{
	const struct branch *branch = data;
	for (size_t i = 0; i < branch->count; i++) {
		if (rule_holds(branch->choices[i].when, state))
			return branch->choices[i].to;
	}
	return branch->otherwise;
}

/* Whether name, when given, is a node or the terminal that is allowed in this place. */
static bool check_end(
    struct document *d, const struct place *at, const char *name, const char *terminal)
{
	if (!name || strcmp(name, terminal) == 0 || json_get(d->nodes, name))
		return name;
	document_problem(d, at, "there is no node '%s'; expected one, or %s", name, terminal);
	return false;
}

static void document_edge_read_choice(
    struct document *d, const struct place *at, const cJSON *item, struct choice *choice)
{
	if (!document_check(d, at, item, &shape_choice))
		return;
	const cJSON *when = document_object(item, "when");
	if (when)
		choice->when = document_rule(d, PLACE_KEY(at, "when"), when);
	choice->to = json_str(item, "to");
	check_end(d, PLACE_KEY(at, "to"), choice->to, AG_END);
}

static void read_choices(
    struct document *d, const struct place *at, const cJSON *items, struct branch *branch)
{
	const cJSON *item;
	branch->choices = xcalloc((size_t)cJSON_GetArraySize(items) + 1, sizeof(struct choice));
	if (!items->child)
		document_problem(d, at, "expected at least one choice");
	cJSON_ArrayForEach(item, items) {
		document_edge_read_choice(
		    d, PLACE_INDEX(at, branch->count), item, &branch->choices[branch->count]);
		branch->count++;
	}
}

static void add_branch(struct document *d, const char *from, struct branch *branch)
{
	const char **targets = xcalloc(branch->count + 2, sizeof(*targets));
	for (size_t i = 0; i < branch->count; i++)
		targets[i] = branch->choices[i].to;
	targets[branch->count] = branch->otherwise;
	ag_graph_branch(d->graph, from, branch_route, branch, targets);
	free(targets);
}

static void read_branch(
    struct document *d, const struct place *at, const char *from, const cJSON *item)
{
	size_t errors = d->graph->problems.errors;
	struct branch *branch = xcalloc(1, sizeof(*branch));
	ag_graph_on_free(d->graph, branch_free, branch);
	branch->otherwise = json_str(item, "else");
	if (!json_get(item, "else"))
		document_problem(d, at, "expected the key 'else' beside 'if'");
	check_end(d, PLACE_KEY(at, "else"), branch->otherwise, AG_END);
	read_choices(d, PLACE_KEY(at, "if"), document_array(item, "if"), branch);
	if (d->graph->problems.errors == errors)
		add_branch(d, from, branch);
}

static void read_fixed(
    struct document *d, const struct place *at, const char *from, const cJSON *item)
{
	const char *to = json_str(item, "to");
	if (json_get(item, "else"))
		document_problem(d, PLACE_KEY(at, "else"), "expected only beside 'if'");
	if (check_end(d, PLACE_KEY(at, "to"), to, AG_END))
		ag_graph_edge(d->graph, from, to);
}

static void read_edge(struct document *d, const struct place *at, const cJSON *item)
{
	if (!document_check(d, at, item, &shape_edge))
		return;
	const char *from = json_str(item, "from");
	bool fixed = json_get(item, "to"), conditional = json_get(item, "if");
	check_end(d, PLACE_KEY(at, "from"), from, AG_START);
	if (fixed == conditional)
		document_problem(d, at, "expected either 'to', or 'if' with 'else'");
	else if (conditional && document_array(item, "if"))
		read_branch(d, at, from ? from : "", item);
	else if (fixed)
		read_fixed(d, at, from ? from : "", item);
}

/* How many edges leave that node. */
static size_t edges_from(const cJSON *edges, const char *name)
{
	size_t count = 0;
	const cJSON *edge;
	cJSON_ArrayForEach(edge, edges) {
		const char *from = json_str(edge, "from");
		if (from && strcmp(from, name) == 0)
			count++;
	}
	return count;
}

static void check_leaves(
    struct document *d, const struct place *at, const cJSON *edges, const char *name)
{
	size_t count = edges_from(edges, name);
	if (count != 1)
		document_problem(
		    d, at, "expected exactly one edge from '%s', found %zu", name, count);
}

void document_edges(struct document *d, const struct place *at, const cJSON *edges)
{
	const cJSON *item;
	size_t i = 0;
	cJSON_ArrayForEach(item, edges) {
		read_edge(d, PLACE_INDEX(at, i), item);
		i++;
	}
	check_leaves(d, at, edges, AG_START);
	cJSON_ArrayForEach(item, d->nodes) {
		if (!document_is_live_tools(d, item->string))
			check_leaves(d, at, edges, item->string);
	}
}
