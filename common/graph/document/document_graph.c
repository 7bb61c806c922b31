/* SPDX-License-Identifier: ISC */
/* Nodes that are graphs themselves: where these are described, and what they are given and give. */
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct subgraph_object {
	const char *graph;
	enum { MESSAGES_SHARED, MESSAGES_OWN } messages;
	const cJSON *input, *output;
};

static const struct choice subgraph_messages[] = {
    {"shared", MESSAGES_SHARED}, {"own", MESSAGES_OWN}, {NULL, 0}};

#define SUBGRAPH_ROWS                                                                              \
	FIELD(subgraph_object, input, FIELD_OBJECT), FIELD(subgraph_object, output, FIELD_OBJECT), \
	    FIELD(subgraph_object, messages, .kind = &field_choice, .choices = subgraph_messages)

DOCUMENT_NODE_SHAPE(graph, document_policy_rows,
    FIELD(subgraph_object, graph, .kind = &field_text, .required = true), SUBGRAPH_ROWS);

/* The options of ag_graph_subgraph. */
static const struct document_shape shape_options = {
    "subgraph", {(const struct field_row[]){SUBGRAPH_ROWS, FIELDS_END}}};

/* Adds the node, unless there were mistakes; inner is taken over. */
static void subgraph_add(struct document *d, const struct place *at, const char *name,
    ag_graph *inner, const struct subgraph_object *given)
{
	size_t errors = d->graph->problems.errors;
	/* its templates see the state of inner, its mistakes are reported where d is */
	struct document inside = *d;
	inside.graph = inner;
	if (inner->problems.errors == 0 && graph_compile(inner)) {
		if (inner->live)
			document_problem(d, at, "a live graph cannot be a node");
		document_check_fields(d, PLACE_KEY(at, "input"), given->input, inner,
		    "the graph inside has no state field of that name");
		document_check_fields(&inside, PLACE_KEY(at, "output"), given->output, d->graph,
		    "the graph around it has no state field of that name");
	}
	if (inner->store_user && !d->graph->store_user)
		d->graph->store_user = xstrdup(inner->store_user);
	/* Reports the mistakes of the graph inside, each once: it may be the graph of several
	 * nodes. */
	for (size_t i = 0; i < inner->problems.count; i++) {
		const struct problem *p = &inner->problems.items[i];
		bool known = false;
		for (size_t k = 0; k < d->graph->problems.count && !known; k++)
			known = strcmp(d->graph->problems.items[k].text, p->text) == 0;
		if (!known)
			(p->warning ? problems_warn : problems_add)(
			    &d->graph->problems, "%s", p->text);
	}
	if (d->graph->problems.errors != errors)
		graph_free(inner);
	else
		graph_add_subgraph(d->graph, name,
		    &(const struct subgraph){.graph = inner,
			.input = given->input,
			.output = given->output,
			.own = given->messages == MESSAGES_OWN});
}

/* "a -> b -> a" where the graph called key in file is one of those around the node, by whichever
 * path their documents are named, or NULL; malloc'd. */
static char *subgraph_circle(const struct document *d, const struct stat *file, const char *key)
{
	char *way = xstrdup(key);
	struct stat own;
	for (; d; d = d->outer) {
		char *longer = xasprintf("%s -> %s", d->key, way);
		free(way);
		way = longer;
		if (strcmp(d->key, key) == 0 && stat(d->file, &own) == 0 &&
		    own.st_dev == file->st_dev && own.st_ino == file->st_ino)
			return way;
	}
	free(way);
	return NULL;
}

void document_subgraph(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct subgraph_object given = {.messages = MESSAGES_SHARED};
	const struct place *place = PLACE_KEY(at, "graph");
	document_read(d, at, item, &shape_graph, &given);
	if (!given.graph)
		return;
	const char *colon = strrchr(given.graph, ':'), *key = colon ? colon + 1 : given.graph;
	/* another document is named from where this one is */
	const char *slash = *given.graph == '/' ? NULL : strrchr(d->file, '/');
	int dir = slash ? (int)(slash - d->file) + 1 : 0;
	char *file = colon
	    ? xasprintf("%.*s%.*s", dir, d->file, (int)(colon - given.graph), given.graph)
	    : xstrdup(d->file);
	struct stat about;
	bool there = stat(file, &about) == 0;
	char *circle = there ? subgraph_circle(d, &about, key) : NULL;
	if (!there || !S_ISREG(about.st_mode)) {
		document_problem(d, place, "expected a document: %s: %s", file,
		    there ? "it is no file" : strerror(errno));
	} else if (circle) {
		document_problem(
		    d, place, "expected a graph that does not contain itself: %s", circle);
	} else {
		struct problems missing = {0};
		ag_graph *inner = graph_new_inside(d->graph, name, given.graph);
		d->open(inner, file, key, &missing, d);
		for (size_t i = 0; i < missing.count; i++)
			document_problem(d, place, "%s", missing.items[i].text);
		if (missing.count)
			graph_free(inner);
		else
			subgraph_add(d, at, name, inner, &given);
		problems_release(&missing);
	}
	free(circle);
	free(file);
}

void ag_graph_subgraph(ag_graph *graph, const char *name, ag_graph_fn *build, const char *options)
{
	struct document d = {.graph = graph, .file = graph->name, .key = "", .dir = "."};
	const struct place whole = {NULL, name ? name : "", 0};
	struct subgraph_object given = {.messages = MESSAGES_SHARED};
	size_t errors = graph->problems.errors;
	/* the graph that build is at work on, if that is this one or one around it */
	const ag_graph *same = graph;
	while (same && same->build != build)
		same = same->outer;
	cJSON *tree =
	    options ? json_parse(options, strlen(options), JSON_REQUEST_DEPTH, NULL) : NULL;
	if (tree)
		ag_graph_on_free(graph, document_delete, tree);
	if (options && !cJSON_IsObject(tree))
		document_problem(&d, &whole, "expected the options as a JSON object");
	else if (!build)
		document_problem(&d, &whole, "expected a function that builds the graph");
	else if (same)
		document_problem(&d, &whole, "expected a graph that does not contain itself");
	if (d.graph->problems.errors != errors)
		return;
	if (tree)
		document_read(&d, &whole, tree, &shape_options, &given);
	ag_graph *inner = graph_new_inside(graph, name, graph->name);
	inner->build = build;
	if (build(inner) != 0)
		document_problem(&d, &whole, "its function refused to build the graph");
	subgraph_add(&d, &whole, name, inner, &given);
}
