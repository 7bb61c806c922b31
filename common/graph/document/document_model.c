/* SPDX-License-Identifier: ISC */
/* Model nodes: what documents, and plug-ins by ag_graph_model, say of them. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "config/text_file.h"
#include "graph/document/document.h"
#include "graph/nodes/model_node.h"
#include "model/chat.h"
#include "tool/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model ---- */

static void document_model_report(const char *path, const char *text, void *arg)
{
	const struct document_spot *spot = arg;
	document_problem_below(spot->document, spot->at, path, text);
}

/* Reports a schema that cannot be understood, which else the first answer would find out. */
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
	struct document_spot spot = {d, at};
	const struct chat_reporter reporter = {document_model_report, &spot};
	const cJSON *fallbacks = json_get(settings, "fallbacks"), *fallback;
	size_t i = 0;
	document_model_check_format(d, at, settings);
	cJSON_ArrayForEach(fallback, fallbacks) {
		document_model_check_format(
		    d, PLACE_INDEX(PLACE_KEY(at, "fallbacks"), i), fallback);
		i++;
	}
	return chat_model_new(settings, &reporter);
}

/* The model that item describes.  A missing name, and values of wrong types, were reported already;
 * other mistakes are reported here all the same. */
static struct chat_model *document_model_read_chat(
    struct document *d, const struct place *at, const cJSON *item)
{
	/* values with mistakes are left out, and not reported again */
	static const struct field_reader quiet = {.report = NULL, .strict = true};
	cJSON *settings = cJSON_CreateObject();
	for (const struct field_row *f = chat_model_rows; f->key; f++) {
		const cJSON *value = json_get(item, f->key);
		if (value && field_read(&quiet, value, f, NULL))
			json_refer(settings, f->key, value);
	}
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

struct prompt_file {
	const char *file;
};

DOCUMENT_SHAPE(prompt_file, FIELD(prompt_file, file, .kind = &field_text, .required = true));

static char *prompt_file_text(struct document *d, const struct place *at, const cJSON *item)
{
	size_t len;
	struct prompt_file given = {0};
	document_read(d, at, item, &shape_prompt_file, &given);
	if (!given.file)
		return NULL;
	char *path = path_absolute(d->dir, given.file), *text = text_file_read(path, &len);
	if (!text)
		document_problem(
		    d, PLACE_KEY(at, "file"), "cannot read %s: %s", path, strerror(errno));
	else if (text_bad_line(text, len))
		document_problem(d, PLACE_KEY(at, "file"), "%s: line %zu is not UTF-8", path,
		    text_bad_line(text, len));
	free(path);
	return text;
}

static struct template *document_model_read_prompt(
    struct document *d, const struct place *at, const cJSON *prompt)
{
	char *text = NULL;
	if (!prompt)
		return NULL;
	if (cJSON_IsArray(prompt)) {
		struct buf lines = {0};
		const cJSON *line;
		size_t i = 0;
		cJSON_ArrayForEach(line, prompt) {
			if (document_is(d, PLACE_INDEX(at, i), line, TYPE_STRING))
				buf_printf(&lines, "%s%s", i ? "\n" : "", line->valuestring);
			i++;
		}
		text = buf_detach(&lines);
	} else if (cJSON_IsObject(prompt)) {
		text = prompt_file_text(d, at, prompt);
	} else if (cJSON_IsString(prompt)) {
		text = xstrdup(prompt->valuestring);
	}
	struct template *template = text ? document_template(d, at, text, false) : NULL;
	free(text);
	return template;
}

/* ---- the node ---- */

struct model_object {
	const cJSON *system_prompt, *context, *recall;
	const char *tools, *tool_choice, *output;
	bool silent;
};

static const struct field_row model_rows[] = {
    DOCUMENT_KIND,
    FIELD(model_object, system_prompt, .kind = &field_json,
	.types = TYPE_STRING | TYPE_ARRAY | TYPE_OBJECT),
    FIELD(model_object, tools, .kind = &field_text),
    FIELD(model_object, tool_choice, .kind = &field_text),
    FIELD(model_object, context, FIELD_OBJECT),
    FIELD(model_object, recall, FIELD_OBJECT),
    FIELD(model_object, output, .kind = &field_text),
    FIELD(model_object, silent, .kind = &field_bool),
    FIELDS_END,
};
const struct document_shape shape_model = {
    "model", {model_rows, chat_model_rows, document_policy_rows}};

static void document_model_read_tools(struct document *d, const struct place *at,
    const struct model_object *given, struct model_node *node)
{
	const char *name = given->tools, *choice = given->tool_choice;
	int i = name ? graph_node_index(d->graph, name) : GRAPH_UNSET;
	if (name && !json_str_is(json_get(d->nodes, name), "kind", "tools") &&
	    !(i >= 0 && d->graph->nodes[i].is_tools))
		document_problem(d, PLACE_KEY(at, "tools"), "there is no tools node '%s'", name);
	node->tools = xstrdup(name);
	if (!choice || strcmp(choice, "auto") == 0) {
		node->choice = CHAT_TOOLS_AUTO;
		return;
	}
	if (!name)
		document_problem(
		    d, PLACE_KEY(at, "tool_choice"), "expected the key 'tools' as well");
	if (strcmp(choice, "none") == 0) {
		node->choice = CHAT_TOOLS_NONE;
	} else if (strcmp(choice, "required") == 0) {
		node->choice = CHAT_TOOLS_REQUIRED;
	} else {
		node->choice = CHAT_TOOLS_NAMED;
		node->tool_name = xstrdup(choice);
	}
}

struct context_object {
	struct window window;
	bool summary;
	const char *summary_prompt;
};

#define LIMIT(name, least) \
	FIELD_AT(#name, context_object, window.name, .kind = &field_size, .min = least, .max = 1e9)
DOCUMENT_SHAPE(context, LIMIT(max_messages, 2), LIMIT(max_tokens, 100),
    FIELD_AT("keep", context_object, window.keep, .kind = &field_number, .min = 0.05, .max = 1),
    FIELD(context_object, summary, .kind = &field_bool),
    FIELD(context_object, summary_prompt, .kind = &field_text));

/* Reports a field that cannot take what the model answers; what a schema gives is known at the
 * first run. */
static void document_model_check_output(
    struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	const struct field *field = graph_field_get(d->graph, name);
	const char *type = json_str(json_opt(item, "response_format"), "type");
	cJSON *example =
	    type && strcmp(type, "text") != 0 ? cJSON_CreateObject() : cJSON_CreateString("");
	bool schema = type && strcmp(type, "json_schema") == 0;
	if (!field)
		document_problem(d, at, "there is no state field '%s'", name);
	else if (!schema && field->reducer != AG_APPEND && !graph_field_accepts(field, example))
		document_problem(d, at, "the answer does not fit the state field '%s', of type %s",
		    name, field->type);
	cJSON_Delete(example);
}

void document_model(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct model_node *node = xcalloc(1, sizeof(*node));
	struct model_object given = {0};
	ag_graph_on_free(d->graph, model_node_free, node);
	document_read(d, at, item, &shape_model, &given);
	node->chat = document_model_read_chat(d, at, item);
	node->system =
	    document_model_read_prompt(d, PLACE_KEY(at, "system_prompt"), given.system_prompt);
	document_model_read_tools(d, at, &given, node);
	if (given.context) {
		struct context_object c = {.window = {.keep = 0.5}, .summary = true};
		const struct place *in = PLACE_KEY(at, "context");
		document_read(d, in, given.context, &shape_context, &c);
		if (!json_get(given.context, "max_messages") &&
		    !json_get(given.context, "max_tokens"))
			document_problem(d, in, "expected max_messages or max_tokens");
		node->shortening =
		    (struct shortening){c.window, c.summary, xstrdup(c.summary_prompt)};
	}
	node->recall = document_recall(d, PLACE_KEY(at, "recall"), given.recall);
	if (given.output)
		document_model_check_output(d, PLACE_KEY(at, "output"), given.output, item);
	if (given.silent && !given.output)
		document_problem(d, PLACE_KEY(at, "silent"),
		    "expected the key 'output' as well: the answer would be lost");
	if (given.silent && given.tools)
		document_problem(d, PLACE_KEY(at, "silent"),
		    "expected no key 'tools' beside it: calls stand in messages");
	node->output = xstrdup(given.output);
	node->silent = given.silent;
	ag_graph_node(d->graph, name, model_node_run, node);
}
