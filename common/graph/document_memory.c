/* SPDX-License-Identifier: ISC */
/* What documents say of the memory store: recall of model nodes, and the tool. */
#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"
#include "graph/memory_tool.h"

#include <stdlib.h>
#include <string.h>

#define RECALL_LIMIT 5

/* Who needs the store is told when there is none; the first is enough. */
static void note_user(struct document *d, const char *node)
{
	if (!d->graph->store_user)
		d->graph->store_user = xstrdup(node);
}

/* ---- recall */

/* A member that is one of the words, which end with NULL, and what it is called in the body. */
struct word {
	const char *key, *as;
	const char *const *words;
	const char *fallback; /* or NULL */
};

static void read_word(struct document *d, const struct place *at, const cJSON *item,
    const struct word *rule, cJSON *body)
{
	const char *word = json_str(item, rule->key);
	struct buf known = {0};
	bool found = !word;
	for (size_t i = 0; rule->words[i]; i++) {
		buf_printf(&known, "%s%s", i ? ", " : "", rule->words[i]);
		found = found || strcmp(rule->words[i], word) == 0;
	}
	if (!found)
		document_problem(d, PLACE_KEY(at, rule->key), "expected one of %s, found '%s'",
		    buf_str(&known), word);
	buf_release(&known);
	if (word || rule->fallback)
		json_add_str(body, rule->as, word ? word : rule->fallback);
}

static void document_memory_read_number(struct document *d, const struct place *at,
    const cJSON *item, const char *key, const struct range *range, cJSON *body)
{
	double value = document_number(d, at, item, key, range);
	if (json_get(item, key) || range->fallback > 0)
		cJSON_AddItemToObject(body, key, json_new_double(value));
}

cJSON *document_recall(struct document *d, const struct place *at, const cJSON *item)
{
	static const char *const strategies[] = {
	    "similarity", "temporal", "relevance", "hybrid", "graph_traversal", NULL};
	static const char *const types[] = {"episodic", "semantic", "procedural", "entity",
	    "relationship", "declarative", "custom", NULL};
	static const struct word strategy = {
	    "strategy", "retrieval_strategy", strategies, "hybrid"};
	static const struct word type = {"memory_type", "memory_type", types, NULL};
	static const struct range limit = {1, 100, RECALL_LIMIT}, score = {0, 1, 0},
				  tokens = {1, 16000, 0};
	const cJSON *filters = document_object(item, "filters");
	if (!item)
		return NULL;
	cJSON *body = cJSON_CreateObject();
	document_check(d, at, item, &shape_recall);
	note_user(d, at->up->key);
	document_memory_read_number(d, at, item, "limit", &limit, body);
	document_memory_read_number(d, at, item, "score_threshold", &score, body);
	document_memory_read_number(d, at, item, "max_tokens", &tokens, body);
	read_word(d, at, item, &strategy, body);
	read_word(d, at, item, &type, body);
	if (json_str(item, "category"))
		json_add_str(body, "category", json_str(item, "category"));
	document_check_json(d, PLACE_KEY(at, "filters"), filters);
	if (filters)
		cJSON_AddItemToObject(body, "filters", cJSON_Duplicate(filters, true));
	return body;
}

/* ---- the tool */

static void read_action(
    struct document *d, const struct place *at, const cJSON *item, struct memory_tool *tool)
{
	if (!document_is(d, at, item, TYPE_STRING))
		return;
	for (int i = 0; i < MEMORY_ACTIONS; i++) {
		if (strcmp(memory_actions[i], item->valuestring) != 0)
			continue;
		tool->may[i] = true;
		return;
	}
	document_problem(d, at,
	    "expected one of search, list, remember, update, forget, found '%s'",
	    item->valuestring);
}

/* All of them where the document does not say. */
static void read_actions(
    struct document *d, const struct place *at, const cJSON *array, struct memory_tool *tool)
{
	const cJSON *item;
	size_t i = 0;
	for (int k = 0; k < MEMORY_ACTIONS; k++)
		tool->may[k] = !array;
	cJSON_ArrayForEach(item, array) {
		read_action(d, PLACE_INDEX(at, i), item, tool);
		i++;
	}
	if (array && !array->child)
		document_problem(d, at, "expected at least one action");
}

void document_memory_tool(
    struct document *d, const struct place *at, const char *node, const cJSON *item)
{
	static const struct range limit = {1, 100, MEMORY_TOOL_LIMIT};
	struct memory_tool *tool = xcalloc(1, sizeof(*tool));
	const char *name = json_str(item, "name"), *description = json_str(item, "description");
	size_t errors = d->graph->problems.errors;
	ag_graph_on_free(d->graph, free, tool);
	document_check(d, at, item, &shape_memory_tool);
	document_tool_name(d, PLACE_KEY(at, "name"), node, name ? name : MEMORY_TOOL_NAME);
	read_actions(d, PLACE_KEY(at, "actions"), document_array(item, "actions"), tool);
	tool->limit = (int)document_number(d, at, item, "limit", &limit);
	note_user(d, node);
	if (d->graph->problems.errors != errors)
		return;
	char *about = description ? xstrdup(description) : memory_tool_description(tool);
	char *parameters = memory_tool_parameters(tool);
	ag_graph_tool(
	    d->graph, node, name ? name : MEMORY_TOOL_NAME, about, parameters, memory_tool, tool);
	free(parameters);
	free(about);
}
