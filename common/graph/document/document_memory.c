/* SPDX-License-Identifier: ISC */
/* What documents say of the memory store: recall of model nodes, and the tool. */
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"
#include "graph/nodes/nodes.h"

#include <stdlib.h>
#include <string.h>

#define RECALL_LIMIT 5

/* Notes a node that needs the store, to be named when there is none; the first is enough. */
static void document_memory_note_user(struct document *d, const char *node)
{
	if (!d->graph->store_user)
		d->graph->store_user = xstrdup(node);
}

/* ---- recall */

static const struct choice strategies[] = {{"similarity", 0}, {"temporal", 0}, {"relevance", 0},
    {"hybrid", 0}, {"graph_traversal", 0}, {NULL, 0}};
static const struct choice types[] = {{"episodic", 0}, {"semantic", 0}, {"procedural", 0},
    {"entity", 0}, {"relationship", 0}, {"declarative", 0}, {"custom", 0}, {NULL, 0}};

struct recall_object {
	double limit, score_threshold, max_tokens;
	const char *strategy, *memory_type, *category;
	const cJSON *filters;
};

DOCUMENT_SHAPE(recall, FIELD(recall_object, limit, .kind = &field_number, .min = 1, .max = 100),
    FIELD(recall_object, score_threshold, .kind = &field_number, .max = 1),
    FIELD(recall_object, strategy, .kind = &field_text, .choices = strategies),
    FIELD(recall_object, max_tokens, .kind = &field_number, .min = 1, .max = 16000),
    FIELD(recall_object, memory_type, .kind = &field_text, .choices = types),
    FIELD(recall_object, category, .kind = &field_text),
    FIELD(recall_object, filters, FIELD_OBJECT));

cJSON *document_recall(struct document *d, const struct place *at, const cJSON *item)
{
	struct recall_object given = {
	    .limit = RECALL_LIMIT, .score_threshold = -1, .strategy = "hybrid"};
	if (!item)
		return NULL;
	document_read(d, at, item, &shape_recall, &given);
	document_check_json(d, PLACE_KEY(at, "filters"), given.filters);
	document_memory_note_user(d, at->up->key);
	cJSON *body = cJSON_CreateObject();
	json_add(body, "limit", json_new_double(given.limit));
	if (given.score_threshold >= 0)
		json_add(body, "score_threshold", json_new_double(given.score_threshold));
	if (given.max_tokens > 0)
		json_add(body, "max_tokens", json_new_double(given.max_tokens));
	json_add_str(body, "retrieval_strategy", given.strategy);
	if (given.memory_type)
		json_add_str(body, "memory_type", given.memory_type);
	if (given.category)
		json_add_str(body, "category", given.category);
	if (given.filters)
		json_add(body, "filters", cJSON_Duplicate(given.filters, true));
	return body;
}

/* ---- the tool */

/* All of them where the document does not say. */
static void document_memory_read_actions(
    struct document *d, const struct place *at, const cJSON *array, struct memory_tool *tool)
{
	const cJSON *item;
	size_t i = 0;
	for (int k = 0; k < MEMORY_ACTIONS; k++)
		tool->may[k] = !array;
	if (array && !array->child)
		document_problem(d, at, "expected at least one action");
	cJSON_ArrayForEach(item, array) {
		const struct place *place = PLACE_INDEX(at, i);
		int k = 0;
		i++;
		if (!document_is(d, place, item, TYPE_STRING))
			continue;
		while (k < MEMORY_ACTIONS && strcmp(memory_actions[k], item->valuestring) != 0)
			k++;
		if (k < MEMORY_ACTIONS)
			tool->may[k] = true;
		else
			document_problem(d, place,
			    "expected one of search, list, remember, update, forget, found '%s'",
			    item->valuestring);
	}
}

struct memory_object {
	const char *name, *description;
	const cJSON *actions;
	size_t limit;
};

DOCUMENT_SHAPE(memory_tool, DOCUMENT_KIND, FIELD(memory_object, name, .kind = &field_text),
    FIELD(memory_object, description, .kind = &field_text),
    FIELD(memory_object, actions, FIELD_ARRAY),
    FIELD(memory_object, limit, .kind = &field_size, .min = 1, .max = 100));

void document_memory_tool(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	struct memory_tool *tool = xcalloc(1, sizeof(*tool));
	struct memory_object given = {.name = MEMORY_TOOL_NAME, .limit = MEMORY_TOOL_LIMIT};
	size_t errors = d->graph->problems.errors;
	ag_graph_on_free(d->graph, free, tool);
	document_read(d, at, item, &shape_memory_tool, &given);
	document_tool_name(d, PLACE_KEY(at, "name"), node, given.name);
	document_memory_read_actions(d, PLACE_KEY(at, "actions"), given.actions, tool);
	tool->limit = (int)given.limit;
	document_memory_note_user(d, node);
	if (d->graph->problems.errors != errors)
		return;
	char *about =
	    given.description ? xstrdup(given.description) : memory_tool_description(tool);
	char *parameters = memory_tool_parameters(tool);
	ag_graph_tool(d->graph, node, given.name, about, parameters, memory_tool, tool);
	free(parameters);
	free(about);
}
