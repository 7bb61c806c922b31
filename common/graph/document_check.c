/* SPDX-License-Identifier: ISC */
/* The keys of documents, and the mistakes that can be told from them alone. */
#include "base/buf.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- The keys */

#define KEYS(name) static const struct document_key name[]
#define SHAPE(name) const struct document_shape shape_##name = {#name, name##_keys}
#define END_OF_KEYS            \
	{                      \
		NULL, 0, false \
	}

#define COMMAND_KEYS                                                              \
	{"command", TYPE_STRING | TYPE_ARRAY, true}, {"cwd", TYPE_STRING, false}, \
	    {"env", TYPE_OBJECT, false}, {"timeout", TYPE_NUMBER, false},         \
	{                                                                         \
		"max_output", TYPE_NUMBER, false                                  \
	}

KEYS(graph_keys) = {{"description", TYPE_STRING, false}, {"state", TYPE_OBJECT, false},
    {"nodes", TYPE_OBJECT, true}, {"edges", TYPE_ARRAY, true},
    {"interrupt_before", TYPE_ARRAY, false}, {"interrupt_after", TYPE_ARRAY, false}, END_OF_KEYS};

KEYS(state_keys) = {{"type", TYPE_STRING, false}, {"fields", TYPE_OBJECT, false}, END_OF_KEYS};

KEYS(field_keys) = {{"type", TYPE_STRING, true}, {"reducer", TYPE_STRING, false},
    {"default", TYPE_ANY, false}, {"description", TYPE_STRING, false}, END_OF_KEYS};

KEYS(edge_keys) = {{"from", TYPE_STRING, true}, {"to", TYPE_STRING, false},
    {"if", TYPE_ARRAY, false}, {"else", TYPE_STRING, false}, END_OF_KEYS};

KEYS(choice_keys) = {{"when", TYPE_OBJECT, true}, {"to", TYPE_STRING, true}, END_OF_KEYS};

KEYS(rule_keys) = {{"tool_calls", TYPE_BOOLEAN, false}, {"user_text", TYPE_OBJECT, false},
    {"last_text", TYPE_OBJECT, false}, {"field", TYPE_STRING, false}, {"equals", TYPE_ANY, false},
    {"exists", TYPE_BOOLEAN, false}, {"contains", TYPE_ANY, false}, {"gt", TYPE_NUMBER, false},
    {"gte", TYPE_NUMBER, false}, {"lt", TYPE_NUMBER, false}, {"lte", TYPE_NUMBER, false},
    {"all", TYPE_ARRAY, false}, {"any", TYPE_ARRAY, false}, {"not", TYPE_OBJECT, false},
    END_OF_KEYS};

KEYS(text_rule_keys) = {{"equals", TYPE_STRING, false}, {"contains", TYPE_STRING, false},
    {"starts_with", TYPE_STRING, false}, {"matches", TYPE_STRING, false},
    {"ignore_case", TYPE_BOOLEAN, false}, END_OF_KEYS};

KEYS(reply_keys) = {{"kind", TYPE_STRING, true}, {"text", TYPE_STRING, true},
    {"role", TYPE_STRING, false}, {"update", TYPE_OBJECT, false}, END_OF_KEYS};

KEYS(exec_keys) = {{"kind", TYPE_STRING, true}, COMMAND_KEYS, {"max_line", TYPE_NUMBER, false},
    {"input", TYPE_STRING, false}, END_OF_KEYS};

KEYS(interrupt_keys) = {{"kind", TYPE_STRING, true}, {"value", TYPE_ANY, true},
    {"reason", TYPE_STRING, false}, {"field", TYPE_STRING, false}, {"reply", TYPE_STRING, false},
    END_OF_KEYS};

KEYS(tools_keys) = {{"kind", TYPE_STRING, true}, {"tools", TYPE_ARRAY, true},
    {"approval", TYPE_BOOLEAN | TYPE_ARRAY, false}, END_OF_KEYS};

KEYS(exec_tool_keys) = {{"kind", TYPE_STRING, false}, {"name", TYPE_STRING, true},
    {"description", TYPE_STRING, true}, {"parameters", TYPE_OBJECT, false},
    {"tags", TYPE_ARRAY, false}, COMMAND_KEYS, END_OF_KEYS};

KEYS(live_keys) = {{"kind", TYPE_STRING, true}, {"provider", TYPE_STRING, true},
    {"model", TYPE_STRING, false}, {"voice", TYPE_STRING, false},
    {"modalities", TYPE_STRING | TYPE_ARRAY, false}, {"system_prompt", TYPE_STRING, false},
    {"tools", TYPE_STRING, false}, {"tools_tags", TYPE_ARRAY, false}, {"vad", TYPE_OBJECT, false},
    {"base_url", TYPE_STRING, false}, {"api_key_env", TYPE_STRING, false},
    {"extra", TYPE_OBJECT, false}, END_OF_KEYS};

KEYS(http_tool_keys) = {{"kind", TYPE_STRING, false}, {"name", TYPE_STRING, true},
    {"description", TYPE_STRING, true}, {"parameters", TYPE_OBJECT, false},
    {"tags", TYPE_ARRAY, false}, {"http", TYPE_OBJECT, true}, END_OF_KEYS};

KEYS(http_keys) = {{"url", TYPE_STRING, true}, {"method", TYPE_STRING, false},
    {"headers", TYPE_OBJECT, false}, {"query", TYPE_OBJECT, false}, {"body", TYPE_ANY, false},
    {"timeout", TYPE_NUMBER, false}, {"max_output", TYPE_NUMBER, false}, END_OF_KEYS};

KEYS(mcp_tools_keys) = {{"kind", TYPE_STRING, false}, {"name", TYPE_STRING, false},
    {"mcp", TYPE_OBJECT, true}, {"timeout", TYPE_NUMBER, false}, {"tools", TYPE_ARRAY, false},
    {"prefix", TYPE_STRING, false}, END_OF_KEYS};

KEYS(mcp_keys) = {{"command", TYPE_STRING | TYPE_ARRAY, false}, {"cwd", TYPE_STRING, false},
    {"env", TYPE_OBJECT, false}, {"url", TYPE_STRING, false}, {"headers", TYPE_OBJECT, false},
    END_OF_KEYS};

KEYS(memory_tool_keys) = {{"kind", TYPE_STRING, true}, {"name", TYPE_STRING, false},
    {"description", TYPE_STRING, false}, {"actions", TYPE_ARRAY, false},
    {"limit", TYPE_NUMBER, false}, END_OF_KEYS};

KEYS(model_keys) = {{"kind", TYPE_STRING, true}, {"provider", TYPE_STRING, false},
    {"model", TYPE_STRING, true}, {"base_url", TYPE_STRING, false},
    {"api_key_env", TYPE_STRING, false}, {"temperature", TYPE_NUMBER, false},
    {"top_p", TYPE_NUMBER, false}, {"top_k", TYPE_NUMBER, false},
    {"presence_penalty", TYPE_NUMBER, false}, {"frequency_penalty", TYPE_NUMBER, false},
    {"max_tokens", TYPE_NUMBER, false}, {"seed", TYPE_NUMBER, false},
    {"stop", TYPE_STRING | TYPE_ARRAY, false}, {"reasoning_effort", TYPE_STRING, false},
    {"reasoning_tokens", TYPE_NUMBER, false}, {"response_format", TYPE_OBJECT, false},
    {"parallel_tool_calls", TYPE_BOOLEAN, false}, {"tool_images", TYPE_BOOLEAN, false},
    {"stream", TYPE_BOOLEAN, false}, {"extra", TYPE_OBJECT, false}, {"headers", TYPE_OBJECT, false},
    {"timeouts", TYPE_OBJECT, false}, {"retries", TYPE_NUMBER, false},
    {"fallbacks", TYPE_ARRAY, false},
    {"system_prompt", TYPE_STRING | TYPE_ARRAY | TYPE_OBJECT, false}, {"tools", TYPE_STRING, false},
    {"tool_choice", TYPE_STRING, false}, {"context", TYPE_OBJECT, false},
    {"recall", TYPE_OBJECT, false}, {"output", TYPE_STRING, false}, {"silent", TYPE_BOOLEAN, false},
    END_OF_KEYS};

KEYS(prompt_file_keys) = {{"file", TYPE_STRING, true}, END_OF_KEYS};

KEYS(context_keys) = {{"max_messages", TYPE_NUMBER, false}, {"max_tokens", TYPE_NUMBER, false},
    {"keep", TYPE_NUMBER, false}, {"summary", TYPE_BOOLEAN, false},
    {"summary_prompt", TYPE_STRING, false}, END_OF_KEYS};

KEYS(recall_keys) = {{"limit", TYPE_NUMBER, false}, {"score_threshold", TYPE_NUMBER, false},
    {"strategy", TYPE_STRING, false}, {"max_tokens", TYPE_NUMBER, false},
    {"memory_type", TYPE_STRING, false}, {"category", TYPE_STRING, false},
    {"filters", TYPE_OBJECT, false}, END_OF_KEYS};

SHAPE(graph);
SHAPE(state);
SHAPE(field);
SHAPE(edge);
SHAPE(choice);
SHAPE(rule);
SHAPE(text_rule);
SHAPE(reply);
SHAPE(exec);
SHAPE(interrupt);
SHAPE(tools);
SHAPE(exec_tool);
SHAPE(http_tool);
SHAPE(http);
SHAPE(mcp_tools);
SHAPE(mcp);
SHAPE(live);
SHAPE(model);
SHAPE(context);
SHAPE(prompt_file);
SHAPE(recall);
SHAPE(memory_tool);

const struct document_shape *const document_shapes[] = {&shape_graph, &shape_state, &shape_field,
    &shape_edge, &shape_choice, &shape_rule, &shape_text_rule, &shape_reply, &shape_exec,
    &shape_interrupt, &shape_tools, &shape_exec_tool, &shape_http_tool, &shape_http,
    &shape_mcp_tools, &shape_mcp, &shape_live, &shape_model, &shape_context, &shape_prompt_file,
    &shape_recall, &shape_memory_tool, NULL};

/* ---- Reporting */

/* A JSON Pointer (RFC 6901) to the place. */
static void add_path(struct buf *out, const struct place *at)
{
	if (!at)
		return;
	add_path(out, at->up);
	buf_putc(out, '/');
	if (!at->key) {
		buf_printf(out, "%zu", at->index);
		return;
	}
	for (const char *p = at->key; *p; p++) {
		if (*p == '~' || *p == '/')
			buf_puts(out, *p == '~' ? "~0" : "~1");
		else
			buf_putc(out, *p);
	}
}

char *document_place(const struct document *d, const struct place *at)
{
	struct buf path = {0};
	add_path(&path, at);
	char *place = xasprintf("%s: %s", d->file, buf_str(&path));
	buf_release(&path);
	return place;
}

/* "agents.json: /assistant/nodes/greet: text", malloc'd; text is taken over. */
static char *document_check_sentence(const struct document *d, const struct place *at, char *text)
{
	char *place = document_place(d, at);
	char *whole = xasprintf("%s: %s", place, text);
	free(place);
	free(text);
	return whole;
}

void document_problem(struct document *d, const struct place *at, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = document_check_sentence(d, at, xvasprintf(fmt, args));
	va_end(args);
	problems_add(&d->graph->problems, "%s", text);
	free(text);
}

void document_warning(struct document *d, const struct place *at, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = document_check_sentence(d, at, xvasprintf(fmt, args));
	va_end(args);
	problems_warn(&d->graph->problems, "%s", text);
	free(text);
}

/* ---- Checking */

static const struct {
	unsigned type;
	const char *name; /* as json_type_name says it */
	const char *phrase;
} types[] = {{TYPE_STRING, "string", "a string"}, {TYPE_NUMBER, "number", "a number"},
    {TYPE_BOOLEAN, "boolean", "true or false"}, {TYPE_ARRAY, "array", "an array"},
    {TYPE_OBJECT, "object", "an object"}};

#define TYPE_COUNT (sizeof(types) / sizeof(types[0]))

bool document_fits(const cJSON *item, unsigned wanted)
{
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		if ((types[i].type & wanted) && strcmp(types[i].name, json_type_name(item)) == 0)
			return true;
	}
	return wanted == TYPE_ANY;
}

bool document_is(struct document *d, const struct place *at, const cJSON *item, unsigned wanted)
{
	if (document_fits(item, wanted))
		return true;
	struct buf expected = {0};
	for (size_t i = 0; i < TYPE_COUNT; i++) {
		if (!(types[i].type & wanted))
			continue;
		buf_printf(&expected, "%s%s", expected.len ? " or " : "", types[i].phrase);
	}
	document_problem(d, at, "expected %s, found %s", buf_str(&expected), json_type_name(item));
	buf_release(&expected);
	return false;
}

static const struct document_key *key_named(const struct document_shape *shape, const char *name)
{
	for (const struct document_key *key = shape->keys; key->name; key++) {
		if (strcmp(key->name, name) == 0)
			return key;
	}
	return NULL;
}

static void unknown_key(
    struct document *d, const struct place *at, const struct document_shape *shape)
{
	struct buf known = {0};
	for (const struct document_key *key = shape->keys; key->name; key++)
		buf_printf(&known, "%s%s", known.len ? ", " : "", key->name);
	document_problem(d, at, "unknown key; expected one of %s", buf_str(&known));
	buf_release(&known);
}

bool document_check(struct document *d, const struct place *at, const cJSON *item,
    const struct document_shape *shape)
{
	const cJSON *member;
	if (!document_is(d, at, item, TYPE_OBJECT))
		return false;
	cJSON_ArrayForEach(member, item) {
		const struct document_key *key = key_named(shape, member->string);
		if (key)
			document_is(d, PLACE_KEY(at, member->string), member, key->types);
		else
			unknown_key(d, PLACE_KEY(at, member->string), shape);
	}
	for (const struct document_key *key = shape->keys; key->name; key++) {
		if (key->required && !json_get(item, key->name))
			document_problem(d, at, "expected the key '%s'", key->name);
	}
	return true;
}

const cJSON *document_array(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsArray(item) ? item : NULL;
}

const cJSON *document_object(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);
	return cJSON_IsObject(item) ? item : NULL;
}

double document_number(struct document *d, const struct place *at, const cJSON *object,
    const char *key, const struct range *range)
{
	double value;
	if (!json_number(json_get(object, key), &value))
		return range->fallback;
	if (value >= range->least && value <= range->most)
		return value;
	document_problem(
	    d, PLACE_KEY(at, key), "expected a number from %g to %.0f", range->least, range->most);
	return range->fallback;
}
