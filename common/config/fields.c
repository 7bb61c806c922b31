/* SPDX-License-Identifier: ISC */
/* Reading one object by its table, a function for each kind of value, and its messages. */
#include "config/fields.h"

#include "base/json.h"
#include "base/memory.h"
#include "config/found.h"
#include "config/string_list.h"
#include "config/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "<file>: <path>.<key>: " and the text. */
static char *fields_sentence(
    const struct section *s, const char *key, const char *fmt, va_list args)
{
	char *text = xvasprintf(fmt, args);
	char *result =
	    xasprintf("%s: %s%s%s: %s", s->file, s->path, s->path[0] ? "." : "", key, text);
	free(text);
	return result;
}

void section_problem(const struct section *s, const char *key, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = fields_sentence(s, key, fmt, args);
	va_end(args);
	problems_add(s->problems, "%s", text);
	free(text);
}

void section_warning(const struct section *s, const char *key, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = fields_sentence(s, key, fmt, args);
	va_end(args);
	problems_warn(s->problems, "%s", text);
	free(text);
}

void section_refuse(
    const struct section *s, const char *key, const cJSON *found, const char *expected)
{
	char shown[FOUND_SIZE];
	section_problem(s, key, "expected %s, found %s", expected, found_json(shown, found));
}

bool section_open(struct section *section, const struct section *parent, const char *key)
{
	const cJSON *object = json_opt(parent->object, key);
	if (!object)
		return false;
	if (!cJSON_IsObject(object)) {
		section_refuse(parent, key, object, "an object");
		return false;
	}
	*section = (struct section){parent->problems, parent->file, "", object};
	snprintf(section->path, sizeof(section->path), "%s%s%s", parent->path,
	    parent->path[0] ? "." : "", key);
	return true;
}

bool choice_find(const struct choice *choices, const char *name, int *value)
{
	for (const struct choice *c = choices; c->name; c++) {
		if (strcmp(c->name, name) == 0) {
			*value = c->value;
			return true;
		}
	}
	return false;
}

const cJSON *not_strings(const cJSON *value)
{
	if (!cJSON_IsArray(value))
		return value;
	const cJSON *entry = value->child;
	while (entry && cJSON_IsString(entry))
		entry = entry->next;
	return entry;
}

void string_replace(char **slot, const char *text)
{
	free(*slot);
	*slot = xstrdup(text);
}

/* How a value of one kind gets into its member: false when it is not what the field expects. */
typedef bool take_fn(const struct field *f, const cJSON *value, void *slot);

static bool fields_take_string(const struct field *f, const cJSON *value, void *slot)
{
	(void)f;
	if (!cJSON_IsString(value) || !value->valuestring[0])
		return false;
	string_replace(slot, value->valuestring);
	return true;
}

static bool take_url(const struct field *f, const cJSON *value, void *slot)
{
	if (!fields_take_string(f, value, slot))
		return false;
	drop_slashes(*(char **)slot);
	return true;
}

static bool take_import(const struct field *f, const cJSON *value, void *slot)
{
	char *module, *attribute;
	if (!cJSON_IsString(value) || !import_split(value->valuestring, &module, &attribute))
		return false;
	free(module);
	free(attribute);
	return fields_take_string(f, value, slot);
}

static bool take_bool(const struct field *f, const cJSON *value, void *slot)
{
	(void)f;
	if (!cJSON_IsBool(value))
		return false;
	*(bool *)slot = cJSON_IsTrue(value);
	return true;
}

static bool take_loose_bool(const struct field *f, const cJSON *value, void *slot)
{
	if (cJSON_IsString(value))
		return word_bool(value->valuestring, slot);
	return take_bool(f, value, slot);
}

static bool take_integer(const struct field *f, const cJSON *value, void *slot)
{
	int64_t n;
	if (!json_integer(value, &n) || n < f->min || n > (f->max ? f->max : FIELD_INTEGER_MAX))
		return false;
	*(int64_t *)slot = n;
	return true;
}

static bool fields_take_number(const struct field *f, const cJSON *value, void *slot)
{
	double n;
	if (!json_number(value, &n) || n < (double)f->min)
		return false;
	*(double *)slot = n;
	return true;
}

static bool take_choice(const struct field *f, const cJSON *value, void *slot)
{
	int n;
	if (!cJSON_IsString(value) || !choice_find(f->choices, value->valuestring, &n))
		return false;
	*(unsigned *)slot = (unsigned)n; /* what an enum without negative values is */
	return true;
}

static void fields_release_string(void *slot)
{
	free(*(char **)slot);
	*(char **)slot = NULL;
}

static void release_strings(void *slot)
{
	string_list_release(slot);
}

static const struct {
	take_fn *take;
	void (*release)(void *slot);
} kinds[] = {
    [FIELD_STRING] = {fields_take_string, fields_release_string},
    [FIELD_URL] = {take_url, fields_release_string},
    [FIELD_IMPORT] = {take_import, fields_release_string},
    [FIELD_BOOL] = {take_bool, NULL},
    [FIELD_LOOSE_BOOL] = {take_loose_bool, NULL},
    [FIELD_INTEGER] = {take_integer, NULL},
    [FIELD_CAP] = {take_integer, NULL},
    [FIELD_NUMBER] = {fields_take_number, NULL},
    [FIELD_CHOICE] = {take_choice, NULL},
    [FIELD_STRINGS] = {NULL, release_strings}, /* read entry by entry */
};

/* Each entry that is wrong is a mistake of its own, under its index. */
static void read_strings(
    const struct section *s, const struct field *f, const cJSON *array, struct string_list *list)
{
	if (!cJSON_IsArray(array)) {
		section_refuse(s, f->key, array, "an array of strings");
		return;
	}
	string_list_release(list);
	size_t index = 0;
	const cJSON *entry;
	cJSON_ArrayForEach(entry, array) {
		const char *text = cJSON_GetStringValue(entry);
		if (text && *text && (!f->entry_valid || f->entry_valid(text))) {
			string_list_add(list, text, strlen(text));
		} else {
			char key[SECTION_PATH_SIZE];
			snprintf(key, sizeof(key), "%s[%zu]", f->key, index);
			section_refuse(s, key, entry, f->expected);
		}
		index++;
	}
}

static void fields_read_field(const struct section *s, const struct field *f, void *slot)
{
	const cJSON *value = json_get(s->object, f->key);
	if (f->kind == FIELD_CAP && cJSON_IsNull(value)) {
		*(int64_t *)slot = 0;
		return;
	}
	if (!value || cJSON_IsNull(value)) {
		if (f->required)
			section_refuse(s, f->key, value, f->expected);
		return;
	}
	if (f->kind == FIELD_STRINGS)
		read_strings(s, f, value, slot);
	else if (!kinds[f->kind].take(f, value, slot))
		section_refuse(s, f->key, value, f->expected);
}

void fields_read(const struct section *s, const struct field_table *table, void *target)
{
	for (size_t i = 0; i < table->count; i++)
		fields_read_field(s, &table->rows[i], (char *)target + table->rows[i].offset);
}

void fields_release(const struct field_table *table, void *target)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *f = &table->rows[i];
		if (kinds[f->kind].release)
			kinds[f->kind].release((char *)target + f->offset);
	}
}
