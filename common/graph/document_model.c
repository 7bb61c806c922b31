/* SPDX-License-Identifier: ISC */
/* Model nodes: what documents, and plug-ins by ag_graph_model, say of them. */
#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"
#include "config/text_file.h"
#include "graph/document.h"
#include "graph/model_node.h"
#include "tool/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model ---- */

struct spot {
	struct document *document;
	const struct place *at;
};

static bool is_setting(const char *key)
{
	const char *const *known = chat_model_keys;
	while (*known && strcmp(*known, key) != 0)
		known++;
	return *known;
}

/* path is "fallbacks/1/timeouts". */
static void report_at(
    struct document *d, const struct place *at, const char *path, const char *text)
{
	if (!*path) {
		document_problem(d, at, "%s", text);
		return;
	}
	size_t len = strcspn(path, "/");
	char *key = xstrndup(path, len);
	report_at(d, PLACE_KEY(at, key), path + len + (path[len] == '/'), text);
	free(key);
}

static void document_model_report(const char *path, const char *text, void *arg)
{
	const struct spot *spot = arg;
	report_at(spot->document, spot->at, path, text);
}

/* Those members that are the model's own, and of their types; the others were reported. */
static cJSON *settings_in(const cJSON *item)
{
	cJSON *settings = cJSON_CreateObject();
	for (const struct document_key *key = shape_model.keys; key->name; key++) {
		const cJSON *value = json_get(item, key->name);
		if (value && is_setting(key->name) && document_fits(value, key->types))
			cJSON_AddItemReferenceToObject(settings, key->name, (cJSON *)value);
	}
	return settings;
}

/* A schema that cannot be understood would be found out by the first answer. */
static void document_model_check_format(
    struct document *d, const struct place *at, const cJSON *settings)
{
	const cJSON *schema = json_opt(json_opt(settings, "response_format"), "schema");
	struct problems problems = {0};
	if (!cJSON_IsObject(schema))
		return;
	schema_free(schema_compile(schema, "schema", &problems));
	for (size_t i = 0; i < problems.count; i++)
		if (!problems.items[i].warning)
			document_problem(
			    d, PLACE_KEY(at, "response_format"), "%s", problems.items[i].text);
	problems_release(&problems);
}

struct chat_model *document_chat(struct document *d, const struct place *at, const cJSON *settings)
{
	struct spot spot = {d, at};
	const struct chat_reporter reporter = {document_model_report, &spot};
	const cJSON *fallback;
	size_t i = 0;
	document_model_check_format(d, at, settings);
	cJSON_ArrayForEach(fallback, document_array(settings, "fallbacks")) {
		document_model_check_format(
		    d, PLACE_INDEX(PLACE_KEY(at, "fallbacks"), i), fallback);
		i++;
	}
	return chat_model_new(settings, NULL, &reporter);
}

/* A model that is not named was reported already; what else is wrong is told all the same. */
static struct chat_model *read_chat(struct document *d, const struct place *at, const cJSON *item)
{
	cJSON *settings = settings_in(item);
	bool named = json_get(settings, "model");
	if (!named)
		json_add_str(settings, "model", "?");
	struct chat_model *model = document_chat(d, at, settings);
	cJSON_Delete(settings);
	if (named)
		return model;
	chat_model_free(model);
	return NULL;
}

/* ---- the prompt ---- */

/* Lines of an array as one text. */
static char *lines_text(struct document *d, const struct place *at, const cJSON *lines)
{
	struct buf text = {0};
	const cJSON *line;
	size_t i = 0;
	cJSON_ArrayForEach(line, lines) {
		if (document_is(d, PLACE_INDEX(at, i), line, TYPE_STRING))
			buf_printf(&text, "%s%s", i ? "\n" : "", line->valuestring);
		i++;
	}
	return buf_detach(&text);
}

static char *file_text(struct document *d, const struct place *at, const cJSON *item)
{
	size_t len;
	const char *name = json_str(item, "file");
	document_check(d, at, item, &shape_prompt_file);
	if (!name)
		return NULL;
	char *path = path_absolute(d->dir, name), *text = text_file_read(path, &len);
	if (!text)
		document_problem(
		    d, PLACE_KEY(at, "file"), "cannot read %s: %s", path, strerror(errno));
	else if (text_bad_line(text, len))
		document_problem(d, PLACE_KEY(at, "file"), "%s: line %zu is not UTF-8", path,
		    text_bad_line(text, len));
	free(path);
	return text;
}

static struct template *read_prompt(struct document *d, const struct place *at, const cJSON *prompt)
{
	char *text = NULL;
	if (!prompt)
		return NULL;
	if (cJSON_IsArray(prompt))
		text = lines_text(d, at, prompt);
	else if (cJSON_IsObject(prompt))
		text = file_text(d, at, prompt);
	else if (cJSON_IsString(prompt))
		text = xstrdup(prompt->valuestring);
	struct template *template = text ? document_template(d, at, text, false) : NULL;
	free(text);
	return template;
}

/* ---- tools ---- */

static bool is_tools_node(const struct document *d, const char *name)
{
	const char *kind = json_str(json_get(d->nodes, name), "kind");
	int i = graph_node_index(d->graph, name);
	return (kind && strcmp(kind, "tools") == 0) || (i >= 0 && d->graph->nodes[i].is_tools);
}

static void document_model_read_choice(
    struct document *d, const struct place *at, const char *choice, struct model_node *node)
{
	if (!choice || strcmp(choice, "auto") == 0) {
		node->choice = CHAT_TOOLS_AUTO;
		return;
	}
	if (!node->tools)
		document_problem(d, at, "expected the key 'tools' as well");
	if (strcmp(choice, "none") == 0) {
		node->choice = CHAT_TOOLS_NONE;
	} else if (strcmp(choice, "required") == 0) {
		node->choice = CHAT_TOOLS_REQUIRED;
	} else {
		node->choice = CHAT_TOOLS_NAMED;
		node->tool_name = xstrdup(choice);
	}
}

static void document_model_read_tools(
    struct document *d, const struct place *at, const cJSON *item, struct model_node *node)
{
	const char *name = json_str(item, "tools");
	if (name && !is_tools_node(d, name))
		document_problem(d, PLACE_KEY(at, "tools"), "there is no tools node '%s'", name);
	if (name)
		node->tools = xstrdup(name);
	document_model_read_choice(
	    d, PLACE_KEY(at, "tool_choice"), json_str(item, "tool_choice"), node);
}

/* ---- the window ---- */

static size_t read_limit(
    struct document *d, const struct place *at, const cJSON *item, const char *key, double least)
{
	const struct range range = {least, 1e9, 0};
	return (size_t)document_number(d, at, item, key, &range);
}

static void read_context(
    struct document *d, const struct place *at, const cJSON *item, struct model_node *node)
{
	static const struct range share = {0.05, 1, 0.5};
	if (!cJSON_IsObject(item) || !document_check(d, at, item, &shape_context))
		return;
	node->shortening.window = (struct window){
	    .max_messages = read_limit(d, at, item, "max_messages", 2),
	    .max_tokens = read_limit(d, at, item, "max_tokens", 100),
	    .keep = document_number(d, at, item, "keep", &share),
	};
	if (!json_get(item, "max_messages") && !json_get(item, "max_tokens"))
		document_problem(d, at, "expected max_messages or max_tokens");
	node->shortening.summary = !cJSON_IsFalse(json_get(item, "summary"));
	if (json_str(item, "summary_prompt"))
		node->shortening.prompt = xstrdup(json_str(item, "summary_prompt"));
}

/* ---- the answer ---- */

/* Whether field can take what the model answers; what a schema gives is known at the first run. */
static bool output_fits(const struct field *field, const cJSON *item)
{
	const char *type = json_str(json_opt(item, "response_format"), "type");
	cJSON *example =
	    type && strcmp(type, "text") != 0 ? cJSON_CreateObject() : cJSON_CreateString("");
	bool fits = field->reducer == AG_APPEND || graph_field_accepts(field, example);
	cJSON_Delete(example);
	return fits || (type && strcmp(type, "json_schema") == 0);
}

static void document_model_read_output(
    struct document *d, const struct place *at, const cJSON *item, struct model_node *node)
{
	const char *name = json_str(item, "output");
	const struct field *field = name ? graph_field_get(d->graph, name) : NULL;
	node->silent = cJSON_IsTrue(json_get(item, "silent"));
	if (name && !field)
		document_problem(d, PLACE_KEY(at, "output"), "there is no state field '%s'", name);
	else if (field && !output_fits(field, item))
		document_problem(d, PLACE_KEY(at, "output"),
		    "the answer does not fit the state field '%s', of type %s", name, field->type);
	if (node->silent && !name)
		document_problem(d, PLACE_KEY(at, "silent"),
		    "expected the key 'output' as well: the answer would be lost");
	if (node->silent && node->tools)
		document_problem(d, PLACE_KEY(at, "silent"),
		    "expected no key 'tools' beside it: calls stand in messages");
	if (name)
		node->output = xstrdup(name);
}

/* ---- the node ---- */

void document_model(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct model_node *node = xcalloc(1, sizeof(*node));
	ag_graph_on_free(d->graph, model_node_free, node);
	node->chat = read_chat(d, at, item);
	node->system =
	    read_prompt(d, PLACE_KEY(at, "system_prompt"), json_get(item, "system_prompt"));
	document_model_read_tools(d, at, item, node);
	read_context(d, PLACE_KEY(at, "context"), json_get(item, "context"), node);
	node->recall = document_recall(d, PLACE_KEY(at, "recall"), document_object(item, "recall"));
	document_model_read_output(d, at, item, node);
	ag_graph_node(d->graph, name, model_node_run, node);
}
