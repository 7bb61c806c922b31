/* SPDX-License-Identifier: ISC */
/* The names that templates in documents may use, and what they stand for. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/texts.h"
#include "graph/document/document.h"
#include "graph/message/template.h"

#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {"user_text", "last_text", "thread_id", "run_id", NULL};

/* Members of config, unless a state field has the name: what a node failed of, and the element of a
 * map and its number. */
static const char *const passing[] = {"error", "item", "index", NULL};

/* What else no state field may be called: templates and the input of programs use it. */
static const char *const others[] = {"config", "fields", "answer", "answers", "node", "step",
    "context", "context_summary", "execution_meta", NULL};

/* ---- Names */

bool document_reserved(const char *name)
{
	return texts_has(texts, name) || texts_has(others, name);
}

/* What follows prefix in name, or NULL. */
static const char *document_value_after(const char *name, const char *prefix)
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

/* Whether name is one of those, or names a member in one. */
static bool document_value_is_passing(const char *name)
{
	char *first = xstrndup(name, strcspn(name, "."));
	bool passes = texts_has(passing, first);
	free(first);
	return passes;
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
		const char *name = template_name(t, i),
			   *path = document_value_after(name, "config.");
		const char *field = document_value_after(name, "fields.");
		if (path ? *path != '\0'
			 : texts_has(texts, name) || document_value_is_passing(name) ||
			    (strcmp(name, "answer") == 0
				    ? with_answer
				    : document_field_known(d, field ? field : name)))
			continue;
		known = false;
		document_problem(d, at,
		    "unknown name {{%s}}; expected user_text, last_text, thread_id, run_id, error, "
		    "item, index, config.NAME%s or a state field",
		    name, with_answer ? ", answer" : "");
	}
	if (known)
		return t;
	template_free(t);
	return NULL;
}

/* ---- Values */

const cJSON *document_field(const ag_state *state, const char *name)
{
	const cJSON *whole = ag_field(state, name);
	return whole ? whole : template_member(ag_fields(state), name);
}

cJSON *values_of(const char *name, const void *arg)
{
	const struct values *values = arg;
	if (strcmp(name, "user_text") == 0)
		return cJSON_CreateString(ag_user_text(values->state));
	if (strcmp(name, "thread_id") == 0)
		return cJSON_CreateString(ag_thread_id(values->run));
	if (strcmp(name, "run_id") == 0)
		return cJSON_CreateString(ag_run_id(values->run));
	if (strcmp(name, "last_text") == 0) {
		char *text = ag_message_text(ag_last_message(values->state));
		cJSON *item = cJSON_CreateString(text);
		free(text);
		return item;
	}
	const char *path = document_value_after(name, "config."),
		   *field = document_value_after(name, "fields.");
	const cJSON *json = path          ? template_member(ag_config(values->run), path)
	    : strcmp(name, "answer") == 0 ? values->answer
					  : document_field(values->state, field ? field : name);
	if (!json && document_value_is_passing(name))
		json = template_member(ag_config(values->run), name);
	return json ? cJSON_Duplicate(json, true) : cJSON_CreateNull();
}

char *values_text(const struct template *t, const struct values *values)
{
	return template_text(t, values_of, values);
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

/* Whether some string in json holds a name, so that its value is not known before the run. */
static bool document_value_has_names(const cJSON *json)
{
	const cJSON *child;
	if (cJSON_IsString(json))
		return strstr(json->valuestring, "{{") != NULL;
	cJSON_ArrayForEach(child, json) {
		if (document_value_has_names(child))
			return true;
	}
	return false;
}

void document_delete(void *json)
{
	cJSON_Delete(json);
}

void document_check_fields(struct document *d, const struct place *at, const cJSON *object,
    const ag_graph *into, const char *missing)
{
	const cJSON *value;
	cJSON_ArrayForEach(value, object) {
		const struct place *place = PLACE_KEY(at, value->string);
		const struct field *field = graph_field_get(into, value->string);
		document_check_json(d, place, value);
		if (!field)
			document_problem(d, place, "%s", missing);
		else if (field->reducer != AG_APPEND && !document_value_has_names(value) &&
		    !graph_field_accepts(field, value))
			document_problem(d, place, "expected a value of type %s, found %s",
			    field->type, json_type_name(value));
	}
}

cJSON *values_json(const cJSON *json, const struct values *values)
{
	return template_json(json, values_of, values);
}
