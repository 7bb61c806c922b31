/* SPDX-License-Identifier: ISC */
/* Which node belongs to which branch, and whether every branch leads to its join
 * and nowhere else. */
#include "base/memory.h"
#include "graph/graph.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Where the walk over the graph is: in a branch of a fork, or outside of all (fork NULL). */
struct regions_walk {
	ag_graph *graph;
	const struct edge *fork;
	size_t branch;
	bool *seen;   /* by node: the walk has been there */
	bool *joined; /* whether some way of the branch enters the join */
};

/* key is the member of the edge in a document with "/" before it, or "" for the edge as a whole. */
__attribute__((format(printf, 4, 5))) static void regions_problem(
    ag_graph *graph, const struct edge *edge, const char *key, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	if (edge->place)
		problems_add(&graph->problems, "%s%s: %s", edge->place, key, text);
	else
		problems_add(
		    &graph->problems, "%s: branches from '%s': %s", graph->name, edge->from, text);
	free(text);
}

/* Reports a node that two ways lead to, at the walk's fork or at that of the node. */
static void regions_clash(const struct regions_walk *w, const struct node *node)
{
	const struct edge *told = w->fork ? w->fork : node->fork;
	const char *here = w->fork ? w->fork->names[w->branch] : NULL;
	const char *there = node->fork ? node->fork->names[node->branch] : NULL;
	if (here && there && strcmp(here, there) != 0)
		regions_problem(w->graph, told, "",
		    "node '%s' is reached from the branches '%s' and '%s', expected it in one",
		    node->name, there, here);
	else
		regions_problem(w->graph, told, "",
		    "node '%s' is reached from the branch '%s' and from outside of it; expected "
		    "every way out of a branch to lead to its join '%s'",
		    node->name, here ? here : there, told->join);
}

static void regions_walk(const struct regions_walk *w, int place);

static void regions_walk_fork(const struct regions_walk *w, const struct edge *fork)
{
	for (size_t i = 0; i < fork->target_count; i++) {
		bool joined = false;
		const struct regions_walk inside = {.graph = w->graph,
		    .fork = fork,
		    .branch = i,
		    .seen = w->seen,
		    .joined = &joined};
		size_t errors = w->graph->problems.errors;
		regions_walk(&inside, fork->targets[i]);
		if (!joined && w->graph->problems.errors == errors)
			regions_problem(w->graph, fork, "",
			    "the branch '%s' never enters its join '%s'", fork->names[i],
			    fork->join);
	}
	regions_walk(w, fork->joins);
}

static void regions_walk_edge(const struct regions_walk *w, const struct edge *edge)
{
	if (edge && edge->join)
		regions_walk_fork(w, edge);
	for (size_t i = 0; edge && !edge->join && i < edge->target_count; i++)
		regions_walk(w, edge->targets[i]);
}

static void regions_walk(const struct regions_walk *w, int place)
{
	if (w->fork && place == w->fork->joins) {
		*w->joined = true;
		return;
	}
	if (place == GRAPH_END && w->fork)
		regions_problem(w->graph, w->fork, "",
		    "the branch '%s' reaches END; expected every way out of it to lead to its join "
		    "'%s'",
		    w->fork->names[w->branch], w->fork->join);
	if (place < 0)
		return;
	struct node *node = &w->graph->nodes[place];
	if (w->seen[place]) {
		if (node->fork != w->fork || node->branch != w->branch)
			regions_clash(w, node);
		return;
	}
	w->seen[place] = true;
	node->fork = w->fork;
	node->branch = w->branch;
	regions_walk_edge(w, node->edge);
	if (node->on_error != GRAPH_UNSET)
		regions_walk(w, node->on_error);
}

static void regions_check(ag_graph *graph, const struct edge *fork)
{
	const struct field *field = fork->map ? graph_field_get(graph, fork->map) : NULL;
	if (fork->map && (!field || strcmp(field->type, "array") != 0))
		regions_problem(graph, fork, "/map",
		    "expected a state field of type array, '%s' is %s", fork->map,
		    field ? field->type : "none");
	if (fork->target_count < 2 && !fork->map)
		regions_problem(graph, fork, "/to", "expected at least two branches");
	for (size_t i = 0; i < fork->target_count; i++) {
		if (fork->targets[i] < 0 || fork->targets[i] == fork->joins)
			regions_problem(graph, fork, "/to",
			    "expected each branch to begin with a node of its own");
		for (size_t j = 0; j < i; j++) {
			if (fork->targets[j] == fork->targets[i])
				regions_problem(graph, fork, "/to", "expected each branch once");
		}
	}
}

void graph_compile_regions(ag_graph *graph)
{
	size_t errors = graph->problems.errors;
	bool any = false;
	for (size_t i = 0; i < graph->edge_count; i++) {
		if (!graph->edges[i].join)
			continue;
		any = true;
		regions_check(graph, &graph->edges[i]);
		if (graph->live)
			regions_problem(
			    graph, &graph->edges[i], "", "a live graph has no branches");
	}
	if (!any || graph->problems.errors != errors)
		return;
	bool *seen = xcalloc(graph->node_count + 1, sizeof(*seen));
	const struct regions_walk all = {.graph = graph, .seen = seen};
	regions_walk_edge(&all, graph->start);
	free(seen);
}
