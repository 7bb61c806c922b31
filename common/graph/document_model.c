/* Model nodes: what documents, and plug-ins by ag_graph_model, say of them. */
#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"
#include "config/text_file.h"
#include "graph/document.h"
#include "graph/model_node.h"

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

static void report(const char *path, const char *text, void *arg)
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

struct chat_model *document_chat(struct document *d, const struct place *at, const cJSON *item)
{
	struct spot spot = {d, at};
	const struct chat_reporter reporter = {report, &spot};
	cJSON *settings = settings_in(item);
	struct chat_model *model =
	    json_get(settings, "model") ? chat_model_new(settings, NULL, &reporter) : NULL;
	cJSON_Delete(settings);
	return model;
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
	if (!name) {
		document_problem(d, at, "expected a text, an array of lines, or {\"file\": PATH}");
		return NULL;
	}
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

static void add_tools(
    struct document *d, const struct place *at, const cJSON *name, char **names, size_t *count)
{
	if (!document_is(d, at, name, TYPE_STRING))
		return;
	if (is_tools_node(d, name->valuestring))
		names[(*count)++] = xstrdup(name->valuestring);
	else
		document_problem(d, at, "there is no tools node '%s'", name->valuestring);
}

/* The name of a tools node, or several. */
static char **read_tools(struct document *d, const struct place *at, const cJSON *tools)
{
	const cJSON *name;
	size_t count = 0, i = 0;
	char **names = xcalloc((size_t)cJSON_GetArraySize(tools) + 2, sizeof(*names));
	if (cJSON_IsString(tools))
		add_tools(d, at, tools, names, &count);
	if (!cJSON_IsArray(tools))
		return names;
	cJSON_ArrayForEach(name, tools) {
		add_tools(d, PLACE_INDEX(at, i), name, names, &count);
		i++;
	}
	return names;
}

static void read_choice(struct model_node *node, const char *choice)
{
	if (!choice || strcmp(choice, "auto") == 0) {
		node->choice = CHAT_TOOLS_AUTO;
	} else if (strcmp(choice, "none") == 0) {
		node->choice = CHAT_TOOLS_NONE;
	} else if (strcmp(choice, "required") == 0) {
		node->choice = CHAT_TOOLS_REQUIRED;
	} else {
		node->choice = CHAT_TOOLS_NAMED;
		node->tool_name = xstrdup(choice);
	}
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
	node->window = (struct window){
	    .max_messages = read_limit(d, at, item, "max_messages", 2),
	    .max_tokens = read_limit(d, at, item, "max_tokens", 100),
	    .keep = document_number(d, at, item, "keep", &share),
	};
	if (!node->window.max_messages && !node->window.max_tokens)
		document_problem(d, at, "expected max_messages or max_tokens");
	node->summary = !cJSON_IsFalse(json_get(item, "summary"));
	if (json_str(item, "summary_prompt"))
		node->summary_prompt = xstrdup(json_str(item, "summary_prompt"));
}

/* ---- the node ---- */

static void read_output(
    struct document *d, const struct place *at, const cJSON *item, struct model_node *node)
{
	const char *field = json_str(item, "output");
	node->silent = cJSON_IsTrue(json_get(item, "silent"));
	if (field && !graph_field_get(d->graph, field))
		document_problem(d, PLACE_KEY(at, "output"), "there is no state field '%s'", field);
	if (node->silent && !field)
		document_problem(d, PLACE_KEY(at, "silent"),
		    "expected the key 'output' as well: the answer would be lost");
	if (field)
		node->output = xstrdup(field);
}

void document_model(struct document *d, const struct place *at, const char *name, const cJSON *item)
{
	struct model_node *node = xcalloc(1, sizeof(*node));
	ag_graph_on_free(d->graph, model_node_free, node);
	node->chat = document_chat(d, at, item);
	node->system =
	    read_prompt(d, PLACE_KEY(at, "system_prompt"), json_get(item, "system_prompt"));
	node->tools = read_tools(d, PLACE_KEY(at, "tools"), json_get(item, "tools"));
	read_choice(node, json_str(item, "tool_choice"));
	read_context(d, PLACE_KEY(at, "context"), json_get(item, "context"), node);
	read_output(d, at, item, node);
	ag_graph_node(d->graph, name, model_node_run, node);
}
