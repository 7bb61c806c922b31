/* SPDX-License-Identifier: ISC */
/* Graphs that are described in JSON: the file, and what a graph has besides nodes and edges. */
#include "graph/document.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "config/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- The file */

static cJSON *document_read_file(ag_graph *graph, const char *path)
{
	enum json_fault fault;
	size_t len;
	char *text = text_file_read(path, &len);
	if (!text) {
		problems_add(&graph->problems, "%s: expected a readable JSON file: %s", path,
		    strerror(errno));
		return NULL;
	}
	cJSON *root = json_parse(text, len, JSON_REQUEST_DEPTH, &fault);
	if (!root) {
		char *more;
		size_t line = json_scan_explain(text, len, JSON_REQUEST_DEPTH, &more);
		problems_add(&graph->problems, "%s: line %zu: the file %s%s", path, line,
		    json_fault_text(fault), more);
		free(more);
	}
	char *key = root ? json_repeated_key(text, len, '/') : NULL;
	if (key)
		problems_add(
		    &graph->problems, "%s: /%s: expected the key once, found it twice", path, key);
	free(key);
	free(text);
	return root;
}

/* ---- State */

static const struct {
	const char *name;
	ag_reducer reducer;
} reducers[] = {
    {"replace", AG_REPLACE}, {"append", AG_APPEND}, {"add", AG_ADD}, {"merge", AG_MERGE}};

static ag_reducer read_reducer(struct document *d, const struct place *at, const cJSON *item)
{
	const char *name = json_str(item, "reducer");
	if (!name)
		return AG_REPLACE;
	for (size_t i = 0; i < sizeof(reducers) / sizeof(reducers[0]); i++) {
		if (strcmp(reducers[i].name, name) == 0)
			return reducers[i].reducer;
	}
	document_problem(d, PLACE_KEY(at, "reducer"),
	    "expected one of replace, append, add, merge, found '%s'", name);
	return AG_REPLACE;
}

static const char *const field_types[] = {
    "string", "integer", "number", "boolean", "array", "object", "any"};

static const char *document_read_type(struct document *d, const struct place *at, const cJSON *item)
{
	const char *type = json_str(item, "type");
	if (!type)
		return NULL; /* reported */
	for (size_t i = 0; i < sizeof(field_types) / sizeof(field_types[0]); i++) {
		if (strcmp(field_types[i], type) == 0)
			return type;
	}
	document_problem(d, PLACE_KEY(at, "type"),
	    "expected one of string, integer, number, boolean, array, object, any, found '%s'",
	    type);
	return NULL;
}

static bool document_reducer_fits(ag_reducer reducer, const char *type)
{
	switch (reducer) {
	case AG_REPLACE:
		return true;
	case AG_APPEND:
		return strcmp(type, "array") == 0;
	case AG_ADD:
		return strcmp(type, "number") == 0 || strcmp(type, "integer") == 0;
	case AG_MERGE:
		return strcmp(type, "object") == 0;
	}
	return false;
}

static void check_default(
    struct document *d, const struct place *at, const char *type, const cJSON *initial)
{
	const struct field field = {.type = (char *)type};
	if (initial && !graph_field_accepts(&field, initial))
		document_problem(
		    d, at, "expected a value of type %s, found %s", type, json_type_name(initial));
}

static void check_field_name(struct document *d, const struct place *at, const char *name)
{
	if (document_reserved(name))
		document_problem(
		    d, at, "expected another name: templates and programs use this one");
	else if (!graph_name_valid(name))
		document_problem(d, at,
		    "expected a field's name of 1 to %d letters, digits, blanks or _ - . :",
		    GRAPH_NAME_MAX);
}

/* A field with mistakes is added all the same, so that what uses it is not reported too. */
static void document_read_field(struct document *d, const struct place *at, const cJSON *item)
{
	check_field_name(d, at, item->string);
	bool is_object = document_check(d, at, item, &shape_field);
	const char *type = is_object ? document_read_type(d, at, item) : NULL;
	ag_reducer reducer = read_reducer(d, at, item);
	const cJSON *initial = json_get(item, "default");
	if (type && !document_reducer_fits(reducer, type))
		document_problem(d, PLACE_KEY(at, "reducer"),
		    "expected a reducer for type %s (append: array, add: number, merge: object)",
		    type);
	if (type)
		check_default(d, PLACE_KEY(at, "default"), type, initial);
	char *json = initial ? json_print(initial) : NULL;
	ag_graph_field(d->graph, item->string, type ? type : "any", reducer, json,
	    json_str(item, "description"));
	free(json);
}

static void document_read_state(struct document *d, const struct place *at, const cJSON *state)
{
	const cJSON *field;
	if (!state)
		return;
	document_check(d, at, state, &shape_state);
	const char *type = json_str(state, "type");
	if (type && graph_name_valid(type))
		ag_graph_state_type(d->graph, type);
	else if (type)
		document_problem(d, PLACE_KEY(at, "type"),
		    "expected a name of 1 to %d letters, digits, blanks or _ - . :",
		    GRAPH_NAME_MAX);
	cJSON_ArrayForEach(field, document_object(state, "fields"))
		document_read_field(d, PLACE_KEY(PLACE_KEY(at, "fields"), field->string), field);
}

/* ---- The graph */

static void read_nodes(struct document *d, const struct place *at)
{
	const cJSON *node;
	if (d->nodes && !d->nodes->child)
		document_problem(d, at, "expected at least one node");
	cJSON_ArrayForEach(node, d->nodes)
		document_node(d, PLACE_KEY(at, node->string), node->string, node);
}

static void read_interrupts(struct document *d, const struct place *at, const cJSON *names,
    void (*add)(ag_graph *graph, const char *node))
{
	const cJSON *name;
	size_t i = 0;
	cJSON_ArrayForEach(name, names) {
		const struct place *place = PLACE_INDEX(at, i);
		i++;
		if (!document_is(d, place, name, TYPE_STRING))
			continue;
		if (!json_get(d->nodes, name->valuestring))
			document_problem(d, place, "there is no node '%s'", name->valuestring);
		else if (graph_node_index(d->graph, name->valuestring) >= 0)
			add(d->graph, name->valuestring);
	}
}

static void read_graph(struct document *d, const struct place *at, const cJSON *graph)
{
	if (!document_check(d, at, graph, &shape_graph))
		return;
	d->nodes = document_object(graph, "nodes");
	document_read_state(d, PLACE_KEY(at, "state"), document_object(graph, "state"));
	read_nodes(d, PLACE_KEY(at, "nodes"));
	if (document_array(graph, "edges"))
		document_edges(d, PLACE_KEY(at, "edges"), document_array(graph, "edges"));
	read_interrupts(d, PLACE_KEY(at, "interrupt_before"),
	    document_array(graph, "interrupt_before"), ag_graph_interrupt_before);
	read_interrupts(d, PLACE_KEY(at, "interrupt_after"),
	    document_array(graph, "interrupt_after"), ag_graph_interrupt_after);
}

static void no_such_graph(
    const char *file, const char *name, const cJSON *root, struct problems *problems)
{
	struct buf names = {0};
	const cJSON *member;
	cJSON_ArrayForEach(member, root) {
		if (member->string[0] != '$')
			buf_printf(&names, "%s%s", names.len ? ", " : "", member->string);
	}
	problems_add(problems, "%s: /%s: the document has no graph of that name%s%s", file, name,
	    names.len ? "; it has " : "", buf_str(&names));
	buf_release(&names);
}

static void delete_root(void *root)
{
	cJSON_Delete(root);
}

void graph_document(
    ag_graph *graph, const char *path, const char *attribute, struct problems *problems)
{
	cJSON *root = document_read_file(graph, path);
	if (!root)
		return;
	ag_graph_on_free(graph, delete_root, root); /* nodes and edges point into it */
	struct document d = {.graph = graph, .file = path, .dir = path_directory(path)};
	const struct place at = {NULL, attribute, 0};
	const cJSON *item = json_get(root, attribute);
	if (item)
		read_graph(&d, &at, item);
	else if (document_is(&d, NULL, root, TYPE_OBJECT))
		no_such_graph(path, attribute, root, problems);
	free(d.dir);
}
