/* SPDX-License-Identifier: ISC */
/* The names that templates in documents may use, and what they stand for. */
#include "base/json.h"
#include "base/memory.h"
#include "graph/document.h"
#include "graph/template.h"

#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {"user_text", "last_text", "thread_id", "run_id", NULL};

/* What else no state field may be called: templates and the input of programs use it. */
static const char *const others[] = {"config", "fields", "answer", "answers", "node", "step",
    "context", "context_summary", "execution_meta", NULL};

/* ---- Names */

static bool document_value_is_one_of(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

bool document_reserved(const char *name)
{
	return document_value_is_one_of(texts, name) || document_value_is_one_of(others, name);
}

/* What follows prefix in name, or NULL. */
static const char *after(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

/* A field may have dots in its own name. */
bool document_field_known(const struct document *d, const char *name)
{
	char *first = xstrndup(name, strcspn(name, "."));
	bool known = graph_field_get(d->graph, name) || graph_field_get(d->graph, first);
	free(first);
	return known;
}

static bool name_known(const struct document *d, const char *name, bool with_answer)
{
	const char *path = after(name, "config.");
	const char *field = after(name, "fields.");
	if (path)
		return *path != '\0';
	if (document_value_is_one_of(texts, name))
		return true;
	if (strcmp(name, "answer") == 0)
		return with_answer;
	return document_field_known(d, field ? field : name);
}

struct template *document_template(
    struct document *d, const struct place *at, const char *text, bool with_answer)
{
	char *error = NULL;
	struct template *t = template_parse(text, &error);
	if (!t) {
		document_problem(d, at, "%s", error);
		free(error);
		return NULL;
	}
	bool known = true;
	for (size_t i = 0; i < template_name_count(t); i++) {
		const char *name = template_name(t, i);
		if (name_known(d, name, with_answer))
			continue;
		known = false;
		document_problem(d, at,
		    "unknown name {{%s}}; expected user_text, last_text, thread_id, run_id, "
		    "config.NAME%s or a state field",
		    name, with_answer ? ", answer" : "");
	}
	if (known)
		return t;
	template_free(t);
	return NULL;
}

/* ---- Values */

/* The member at "a.b.c" in item, or NULL. */
static const cJSON *member_at(const cJSON *item, const char *path)
{
	char *copy = xstrdup(path), *rest = copy, *key;
	while (item && (key = strsep(&rest, ".")))
		item = json_get(item, key);
	free(copy);
	return item;
}

const cJSON *document_field(const ag_state *state, const char *name)
{
	const cJSON *whole = ag_field(state, name);
	return whole ? whole : member_at(ag_fields(state), name);
}

/* JSON that a name stands for, or NULL; borrowed. */
static const cJSON *json_of(const char *name, const struct values *values)
{
	const char *path = after(name, "config.");
	const char *field = after(name, "fields.");
	if (path)
		return member_at(ag_config(values->run), path);
	if (strcmp(name, "answer") == 0)
		return values->answer;
	return document_field(values->state, field ? field : name);
}

static char *last_text(const ag_state *state)
{
	const cJSON *last = ag_last_message(state);
	return last ? ag_message_text(last) : xstrdup("");
}

/* The value of a name as a new item. */
static cJSON *document_value_value_of(const char *name, const struct values *values)
{
	if (strcmp(name, "user_text") == 0)
		return cJSON_CreateString(ag_user_text(values->state));
	if (strcmp(name, "thread_id") == 0)
		return cJSON_CreateString(ag_thread_id(values->run));
	if (strcmp(name, "run_id") == 0)
		return cJSON_CreateString(ag_run_id(values->run));
	if (strcmp(name, "last_text") == 0) {
		char *text = last_text(values->state);
		cJSON *item = cJSON_CreateString(text);
		free(text);
		return item;
	}
	const cJSON *json = json_of(name, values);
	return json ? cJSON_Duplicate(json, true) : cJSON_CreateNull();
}

static void document_value_add_value(const char *name, struct buf *out, void *arg)
{
	const struct values *values = arg;
	cJSON *value = document_value_value_of(name, values);
	if (cJSON_IsString(value)) {
		buf_puts(out, value->valuestring);
	} else if (!cJSON_IsNull(value)) {
		char *json = json_print(value);
		buf_puts(out, json);
		free(json);
	}
	cJSON_Delete(value);
}

char *values_text(const struct template *t, const struct values *values)
{
	struct buf out = {0};
	struct values copy = *values;
	template_render(t, document_value_add_value, &copy, &out);
	return buf_detach(&out);
}

/* ---- JSON with templates */

void document_check_json(struct document *d, const struct place *at, const cJSON *json)
{
	const cJSON *child;
	size_t i = 0;
	if (cJSON_IsString(json))
		template_free(document_template(d, at, json->valuestring, false));
	cJSON_ArrayForEach(child, json) {
		const struct place place = {at, child->string, i++};
		document_check_json(d, &place, child);
	}
}

bool json_has_names(const cJSON *json)
{
	const cJSON *child;
	if (cJSON_IsString(json))
		return strstr(json->valuestring, "{{") != NULL;
	cJSON_ArrayForEach(child, json) {
		if (json_has_names(child))
			return true;
	}
	return false;
}

/* The text was checked when the document was read. */
static cJSON *string_value(const char *text, const struct values *values)
{
	char *error = NULL;
	struct template *t = template_parse(text, &error);
	if (!t) {
		free(error);
		return cJSON_CreateString(text);
	}
	const char *name = template_only_name(t);
	cJSON *value;
	if (name) {
		value = document_value_value_of(name, values);
	} else {
		char *expanded = values_text(t, values);
		value = cJSON_CreateString(expanded);
		free(expanded);
	}
	template_free(t);
	return value;
}

cJSON *values_json(const cJSON *json, const struct values *values)
{
	const cJSON *child;
	if (cJSON_IsString(json))
		return string_value(json->valuestring, values);
	if (!cJSON_IsArray(json) && !cJSON_IsObject(json))
		return cJSON_Duplicate(json, true);
	cJSON *copy = cJSON_IsArray(json) ? cJSON_CreateArray() : cJSON_CreateObject();
	cJSON_ArrayForEach(child, json) {
		if (cJSON_IsArray(json))
			cJSON_AddItemToArray(copy, values_json(child, values));
		else
			cJSON_AddItemToObject(copy, child->string, values_json(child, values));
	}
	return copy;
}
