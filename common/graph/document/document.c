/* SPDX-License-Identifier: ISC */
/* Graphs that are described in JSON: the file, and what a graph has besides nodes and edges. */
#include "graph/document/document.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/json/json_scan.h"
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
		size_t line = json_scan_explain(text, len, &more);
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

struct state_object {
	const char *type;
	const cJSON *fields;
};

DOCUMENT_SHAPE(state,
    FIELD(state_object, type, .kind = &field_text, .valid = graph_name_valid,
	.expected = "a name of 1 to " GRAPH_NAME_LETTERS),
    FIELD(state_object, fields, FIELD_OBJECT));

struct field_object {
	const char *type, *description;
	ag_reducer reducer;
	const cJSON *initial;
};

static const struct choice field_types[] = {{"string", 0}, {"integer", 0}, {"number", 0},
    {"boolean", 0}, {"array", 0}, {"object", 0}, {"any", 0}, {NULL, 0}};
static const struct choice reducers[] = {{"replace", AG_REPLACE}, {"append", AG_APPEND},
    {"add", AG_ADD}, {"merge", AG_MERGE}, {NULL, 0}};

DOCUMENT_SHAPE(field,
    FIELD(field_object, type, .kind = &field_text, .choices = field_types, .required = true),
    FIELD(field_object, reducer, .kind = &field_choice, .choices = reducers),
    FIELD_AT("default", field_object, initial, .kind = &field_json),
    FIELD(field_object, description, .kind = &field_text));

/* A field with mistakes is added all the same, so that what uses it is not reported too. */
static void document_read_field(struct document *d, const struct place *at, const cJSON *item)
{
	struct field_object given = {.reducer = AG_REPLACE};
	if (document_reserved(item->string))
		document_problem(
		    d, at, "expected another name: templates and programs use this one");
	else if (!graph_name_valid(item->string))
		document_problem(d, at, "expected a field's name of 1 to " GRAPH_NAME_LETTERS);
	document_read(d, at, item, &shape_field, &given);
	const struct field field = {.type = (char *)given.type, .reducer = given.reducer};
	if (given.type && !graph_reducer_fits(&field))
		document_problem(d, PLACE_KEY(at, "reducer"),
		    "expected a reducer for type %s " GRAPH_REDUCERS_FIT, given.type);
	if (given.type && given.initial && !graph_field_accepts(&field, given.initial))
		document_problem(d, PLACE_KEY(at, "default"),
		    "expected a value of type %s, found %s", given.type,
		    json_type_name(given.initial));
	char *json = given.initial ? json_print(given.initial) : NULL;
	ag_graph_field(d->graph, item->string, given.type ? given.type : "any", given.reducer, json,
	    given.description);
	free(json);
}

/* ---- The graph */

static void document_read_interrupts(struct document *d, const struct place *at, const cJSON *names,
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

struct graph_object {
	const cJSON *state, *nodes, *edges, *interrupt_before, *interrupt_after;
};

DOCUMENT_SHAPE(whole, FIELD_ONLY("description", .types = TYPE_STRING),
    FIELD(graph_object, state, FIELD_OBJECT),
    FIELD(graph_object, nodes, FIELD_OBJECT, .required = true),
    FIELD(graph_object, edges, FIELD_ARRAY, .required = true),
    FIELD(graph_object, interrupt_before, FIELD_ARRAY),
    FIELD(graph_object, interrupt_after, FIELD_ARRAY));

static void document_read_graph(struct document *d, const struct place *at, const cJSON *graph)
{
	struct graph_object given = {0};
	struct state_object state = {0};
	const struct place *nodes = PLACE_KEY(at, "nodes"), *below = PLACE_KEY(at, "state");
	const cJSON *node, *field;
	if (!document_read(d, at, graph, &shape_whole, &given))
		return;
	d->nodes = given.nodes;
	if (given.state)
		document_read(d, below, given.state, &shape_state, &state);
	if (state.type)
		ag_graph_state_type(d->graph, state.type);
	cJSON_ArrayForEach(field, state.fields)
		document_read_field(d, PLACE_KEY(PLACE_KEY(below, "fields"), field->string), field);
	if (d->nodes && !d->nodes->child)
		document_problem(d, nodes, "expected at least one node");
	cJSON_ArrayForEach(node, d->nodes)
		document_node(d, PLACE_KEY(nodes, node->string), node->string, node);
	if (given.edges)
		document_edges(d, PLACE_KEY(at, "edges"), given.edges);
	document_read_interrupts(d, PLACE_KEY(at, "interrupt_before"), given.interrupt_before,
	    ag_graph_interrupt_before);
	document_read_interrupts(
	    d, PLACE_KEY(at, "interrupt_after"), given.interrupt_after, ag_graph_interrupt_after);
}

const struct document_shape *const document_shapes[] = {&shape_whole, &shape_graph, &shape_state,
    &shape_field, &shape_edge, &shape_choice, &shape_rule, &shape_text_rule, &shape_reply,
    &shape_a2a, &shape_exec, &shape_interrupt, &shape_tools, &shape_exec_tool, &shape_http_tool,
    &shape_http, &shape_mcp_tools, &shape_mcp, &shape_oauth, &shape_live, &shape_model,
    &shape_context, &shape_prompt_file, &shape_recall, &shape_memory_tool, &shape_retry,
    &shape_cache, NULL};

static void document_open(ag_graph *graph, const char *path, const char *attribute,
    struct problems *problems, const struct document *outer)
{
	cJSON *root = document_read_file(graph, path);
	if (!root)
		return;
	ag_graph_on_free(graph, document_delete, root); /* nodes and edges point into it */
	struct document d = {.graph = graph,
	    .file = path,
	    .key = attribute,
	    .outer = outer,
	    .open = document_open,
	    .dir = path_directory(path)};
	const struct place at = {NULL, attribute, 0};
	const cJSON *item = json_get(root, attribute);
	if (item) {
		char *text = json_print(item);
		graph->described = hash_text(HASH_START, text);
		cJSON_free(text);
		document_read_graph(&d, &at, item);
	} else if (document_is(&d, NULL, root, TYPE_OBJECT)) {
		struct buf names = {0};
		const cJSON *member;
		cJSON_ArrayForEach(member, root) {
			if (member->string[0] != '$')
				buf_printf(&names, "%s%s", names.len ? ", " : "", member->string);
		}
		problems_add(problems, "%s: /%s: the document has no graph of that name%s%s", path,
		    attribute, names.len ? "; it has " : "", buf_str(&names));
		buf_release(&names);
	}
	free(d.dir);
}

void graph_document(
    ag_graph *graph, const char *path, const char *attribute, struct problems *problems)
{
	document_open(graph, path, attribute, problems, NULL);
}
