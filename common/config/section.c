/* SPDX-License-Identifier: ISC */
/* Reading one object of the file, its kinds of values, and its messages. */
#include "config/keys.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/environment/expand.h"
#include "config/found.h"
#include "config/string_list.h"
#include "config/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "<file>: <path>.<key>: " and the text. */
static char *section_sentence(
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
	char *text = section_sentence(s, key, fmt, args);
	va_end(args);
	problems_add(s->problems, "%s", text);
	free(text);
}

void section_warning(const struct section *s, const char *key, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = section_sentence(s, key, fmt, args);
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
	*section =
	    (struct section){.problems = parent->problems, .file = parent->file, .object = object};
	snprintf(section->path, sizeof(section->path), "%s%s%s", parent->path,
	    parent->path[0] ? "." : "", key);
	return true;
}

bool section_entry(struct section *entry, const struct section *parent, const char *key,
    size_t index, const cJSON *item)
{
	*entry =
	    (struct section){.problems = parent->problems, .file = parent->file, .object = item};
	snprintf(entry->path, sizeof(entry->path), "%s[%zu]", key, index);
	if (cJSON_IsObject(item))
		return true;
	section_refuse(parent, entry->path, item, "an object");
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

char *section_expand(
    const struct section *s, const char *key, const cJSON *value, const char *expected)
{
	if (!value)
		return NULL;
	if (!cJSON_IsString(value)) {
		section_refuse(s, key, value, expected);
		return NULL;
	}
	char *unset;
	char *text = expand_variables(value->valuestring, &unset);
	if (text && *text)
		return text;
	if (text) {
		section_problem(s, key, "expected %s, found an empty string", expected);
		free(text);
	} else {
		section_problem(s, key, "expected %s, found the variable %s, which is not set",
		    expected, unset);
		free(unset);
	}
	return NULL;
}

/* ---- Kinds */

static enum field_fault section_take_url(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	enum field_fault fault = field_string.take(reader, f, value, slot);
	if (fault == FIELD_FITS)
		drop_slashes(*(char **)slot);
	return fault;
}

static enum field_fault section_take_import(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	char *module, *attribute;
	if (!import_split(value->valuestring, &module, &attribute))
		return FIELD_VALUE;
	free(module);
	free(attribute);
	return field_string.take(reader, f, value, slot);
}

static enum field_fault section_take_loose_bool(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	if (cJSON_IsString(value))
		return word_bool(value->valuestring, slot) ? FIELD_FITS : FIELD_VALUE;
	return field_bool.take(reader, f, value, slot);
}

static enum field_fault section_take_cap(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	if (!cJSON_IsNull(value))
		return field_integer.take(reader, f, value, slot);
	*(int64_t *)slot = 0;
	return FIELD_FITS;
}

/* Each entry that is wrong is a mistake of its own, under its index. */
static enum field_fault section_take_strings(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	struct field_row whole = *f;
	size_t index = 0;
	const cJSON *entry;
	whole.expected = "an array of strings";
	if (!cJSON_IsArray(value))
		return field_refuse(reader, &whole, f->key, FIELD_TYPE, value);
	if (slot)
		string_list_release(slot);
	cJSON_ArrayForEach(entry, value) {
		char key[SECTION_PATH_SIZE];
		snprintf(key, sizeof(key), "%s[%zu]", f->key, index++);
		const char *text = cJSON_GetStringValue(entry);
		bool fits = text && *text && (!f->valid || f->valid(text));
		if (!fits)
			field_refuse(reader, f, key, FIELD_VALUE, entry);
		else if (slot)
			string_list_add(slot, text, strlen(text));
	}
	return FIELD_FITS;
}

static void section_release_strings(void *slot)
{
	string_list_release(slot);
}

static enum field_fault section_take_copy(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader, (void)f;
	*(cJSON **)slot = cJSON_Duplicate(value, true);
	return FIELD_FITS;
}

static void section_release_copy(void *slot)
{
	cJSON_Delete(*(cJSON **)slot);
	*(cJSON **)slot = NULL;
}

const struct field_kind field_copy = {.take = section_take_copy, .release = section_release_copy};
const struct field_kind field_url = {
    .types = TYPE_STRING, .take = section_take_url, .release = field_release_string};
const struct field_kind field_import = {.types = TYPE_STRING,
    .expected = "an import path \"module:attribute\"",
    .take = section_take_import,
    .release = field_release_string};
const struct field_kind field_loose_bool = {
    .types = TYPE_STRING | TYPE_BOOLEAN, .expected = "a boolean", .take = section_take_loose_bool};
const struct field_kind field_cap = {.types = TYPE_NUMBER,
    .takes_null = true,
    .expected = "an integer from 0 to 1000000000000, or null for no limit",
    .take = section_take_cap};
const struct field_kind field_strings = {.expected = "a string that is not empty",
    .take = section_take_strings,
    .release = section_release_strings};

/* ---- Reading */

static void section_report(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	(void)fault;
	char *expected = field_expected(f);
	section_refuse(reader->where, path, found, expected);
	free(expected);
}

void section_read(const struct section *s, const struct field_row *rows, void *target)
{
	struct section at = *s;
	const struct field_reader reader = {.report = section_report, .where = &at};
	fields_read(&reader, s->object, rows, target);
}

void section_warn_unknown(const struct section *s, const struct field_row *rows)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, s->object) {
		if (member->string[0] != '$' && !fields_find(rows, member->string))
			problems_warn(s->problems, "%s: %s%s%s: unknown key, ignored", s->file,
			    s->path, s->path[0] ? "." : "", member->string);
	}
	for (const struct field_row *f = rows; f->key; f++) {
		struct section inner = {.problems = s->problems,
		    .file = s->file,
		    .object = json_get(s->object, f->key)};
		snprintf(inner.path, sizeof(inner.path), "%s", f->key);
		if (f->rows && cJSON_IsObject(inner.object))
			section_warn_unknown(&inner, f->rows);
	}
}
