/* SPDX-License-Identifier: ISC */
/* Reading an object by its table, and the kinds of values that several modules need. */
#include "base/fields.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void choices_say(const struct choice *choices, struct buf *out)
{
	for (const struct choice *c = choices; c->name; c++)
		buf_printf(out, "%s%s", c == choices ? "" : ", ", c->name);
}

char *field_expected(const struct field_row *f)
{
	struct buf text = {0};
	if (f->expected || (f->kind && f->kind->expected))
		return xstrdup(f->expected ? f->expected : f->kind->expected);
	if (f->kind && f->kind->types == TYPE_NUMBER && f->max != 0)
		return xasprintf("%s from %g to %.0f",
		    f->kind == &field_integer ? "an integer" : "a number", f->min, f->max);
	json_types_say(f->types | (f->kind ? f->kind->types : 0), &text);
	return buf_detach(&text);
}

/* ---- Kinds */

static enum field_fault field_take_string(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	if (!value->valuestring[0] || (f->valid && !f->valid(value->valuestring)))
		return FIELD_VALUE;
	if (slot)
		string_replace(slot, value->valuestring);
	return FIELD_FITS;
}

static enum field_fault field_take_text(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	int unused;
	(void)reader;
	if (f->valid && !f->valid(value->valuestring))
		return FIELD_VALUE;
	if (f->choices && !choice_find(f->choices, value->valuestring, &unused))
		return FIELD_VALUE;
	if (slot)
		*(const char **)slot = value->valuestring;
	return FIELD_FITS;
}

static enum field_fault field_take_filled(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	if (!value->valuestring[0])
		return f->required ? FIELD_MISSING : FIELD_FITS;
	return field_take_text(reader, f, value, slot);
}

static enum field_fault field_take_json(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	if (f->min > 0 && cJSON_GetArraySize(value) < f->min)
		return FIELD_VALUE;
	if (f->valid && cJSON_IsString(value) && !f->valid(value->valuestring))
		return FIELD_VALUE;
	if (slot)
		*(const cJSON **)slot = value;
	return FIELD_FITS;
}

static enum field_fault field_take_bool(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	(void)f;
	if (slot)
		*(bool *)slot = cJSON_IsTrue(value);
	return FIELD_FITS;
}

static enum field_fault field_take_integer(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	int64_t n;
	if (!json_integer(value, &n))
		return FIELD_FORM;
	if ((double)n < f->min || (double)n > (f->max != 0 ? f->max : FIELD_INTEGER_MAX))
		return FIELD_VALUE;
	if (slot)
		*(int64_t *)slot = n;
	return FIELD_FITS;
}

static enum field_fault field_take_number(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	double n;
	if (!json_number(value, &n) || n < f->min || n > (f->max != 0 ? f->max : INFINITY))
		return FIELD_VALUE;
	if (slot)
		*(double *)slot = n;
	return FIELD_FITS;
}

static enum field_fault field_take_size(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	double n;
	enum field_fault fault = field_take_number(reader, f, value, &n);
	if (fault == FIELD_FITS && slot)
		*(size_t *)slot = (size_t)n;
	return fault;
}

static enum field_fault field_take_seconds(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	double n;
	enum field_fault fault = field_take_number(reader, f, value, &n);
	if (fault == FIELD_FITS && slot)
		*(int64_t *)slot = n < 0.001 ? 1 : (int64_t)(n * 1000);
	return fault;
}

static enum field_fault field_take_choice(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	(void)reader;
	int n;
	if (!choice_find(f->choices, value->valuestring, &n))
		return FIELD_VALUE;
	if (slot)
		*(unsigned *)slot = (unsigned)n; /* what an enum without negative values is */
	return FIELD_FITS;
}

static enum field_fault field_take_object(
    const struct field_reader *reader, const struct field_row *f, const cJSON *value, void *slot)
{
	const struct field_reader inside = field_inside(reader, f->key);
	return fields_read(&inside, value, f->rows, slot) ? FIELD_FITS : FIELD_TOLD;
}

struct field_reader field_inside(const struct field_reader *reader, const char *key)
{
	struct field_reader inside = *reader;
	inside.up = reader;
	inside.key = key;
	return inside;
}

void field_release_string(void *slot)
{
	free(*(char **)slot);
	*(char **)slot = NULL;
}

const struct field_kind field_string = {.types = TYPE_STRING,
    .expected = "a string that is not empty",
    .take = field_take_string,
    .release = field_release_string};
const struct field_kind field_text = {.types = TYPE_STRING, .take = field_take_text};
const struct field_kind field_filled = {.types = TYPE_STRING, .take = field_take_filled};
const struct field_kind field_json = {.take = field_take_json};
const struct field_kind field_bool = {.types = TYPE_BOOLEAN, .take = field_take_bool};
const struct field_kind field_integer = {.types = TYPE_NUMBER, .take = field_take_integer};
const struct field_kind field_number = {.types = TYPE_NUMBER, .take = field_take_number};
const struct field_kind field_size = {.types = TYPE_NUMBER, .take = field_take_size};
const struct field_kind field_seconds = {.types = TYPE_NUMBER, .take = field_take_seconds};
const struct field_kind field_choice = {.types = TYPE_STRING, .take = field_take_choice};
const struct field_kind field_object = {.types = TYPE_OBJECT, .take = field_take_object};

/* ---- Reading */

enum field_fault field_refuse(const struct field_reader *reader, const struct field_row *f,
    const char *key, enum field_fault fault, const cJSON *found)
{
	struct buf path = {0}, above = {0};
	if (!reader->report)
		return FIELD_TOLD;
	buf_puts(&path, key);
	for (const struct field_reader *r = reader; r->up; r = r->up) {
		buf_printf(
		    &above, "%s%c%s", r->key, reader->joint ? reader->joint : '.', buf_str(&path));
		buf_release(&path);
		path = above;
		above = (struct buf){0};
	}
	reader->report(reader, buf_str(&path), f, fault, found);
	buf_release(&path);
	return FIELD_TOLD;
}

bool field_read(
    const struct field_reader *reader, const cJSON *value, const struct field_row *f, void *target)
{
	unsigned wanted = f->types | (f->kind ? f->kind->types : 0);
	void *slot = target && f->offset != FIELD_NOWHERE ? (char *)target + f->offset : NULL;
	bool null = f->kind && f->kind->takes_null && cJSON_IsNull(value);
	enum field_fault fault = FIELD_FITS;
	if (!null && !json_is_of(value, wanted))
		fault = FIELD_TYPE;
	else if (f->kind)
		fault = f->kind->take(reader, f, value, slot);
	if (fault != FIELD_FITS && fault != FIELD_TOLD)
		field_refuse(reader, f, f->key, fault, value);
	return fault == FIELD_FITS;
}

bool fields_read(const struct field_reader *reader, const cJSON *object,
    const struct field_row *rows, void *target)
{
	bool fits = true;
	const cJSON *member = reader->strict && object ? object->child : NULL;
	for (; member; member = member->next) {
		if (!fields_find(rows, member->string))
			fits = field_refuse(reader, rows, member->string, FIELD_UNKNOWN, member) ==
			    FIELD_FITS;
	}
	for (const struct field_row *f = rows; f->key; f++) {
		const cJSON *value = json_get(object, f->key);
		if (cJSON_IsNull(value) && !(f->kind && f->kind->takes_null))
			value = NULL;
		if (value)
			fits = field_read(reader, value, f, target) && fits;
		else if (f->required)
			fits = field_refuse(reader, f, f->key, FIELD_MISSING,
				   json_get(object, f->key)) == FIELD_FITS;
	}
	return fits;
}

const struct field_row *fields_find(const struct field_row *rows, const char *key)
{
	while (rows->key && strcmp(rows->key, key) != 0)
		rows++;
	return rows->key ? rows : NULL;
}

void fields_release(const struct field_row *rows, void *target)
{
	for (const struct field_row *f = rows; f->key; f++) {
		if (f->offset == FIELD_NOWHERE || !f->kind)
			continue;
		if (f->kind == &field_object)
			fields_release(f->rows, (char *)target + f->offset);
		else if (f->kind->release)
			f->kind->release((char *)target + f->offset);
	}
}

/* ---- Bodies */

char *field_body_says(const struct field_row *f, enum field_fault fault, const char **type)
{
	struct buf text = {0};
	char *expected = field_expected(f);
	*type = fault == FIELD_MISSING ? "missing"
	    : fault == FIELD_TYPE      ? "type_error"
				       : "value_error";
	if (f->wrong && (fault == FIELD_MISSING || fault == FIELD_VALUE)) {
		buf_puts(&text, f->wrong);
	} else if (f->choices && fault == FIELD_VALUE) {
		buf_puts(&text, "must be one of ");
		choices_say(f->choices, &text);
	} else {
		buf_printf(&text, "must be %s", expected);
	}
	free(expected);
	return buf_detach(&text);
}

struct body_place {
	struct error *err;
	const char *at;
};

static void fields_report_body(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	(void)found;
	const struct body_place *place = reader->where;
	const char *type;
	char *says = field_body_says(f, fault, &type);
	char *where = xasprintf("%s.%s", place->at, path);
	error_wrong(place->err, where, type, "%s", says);
	free(where);
	free(says);
}

bool fields_read_body(struct error *err, const char *at, const cJSON *object,
    const struct field_row *rows, void *target)
{
	struct body_place place = {err, at};
	const struct field_reader reader = {.report = fields_report_body, .where = &place};
	return fields_read(&reader, object, rows, target);
}

bool fields_read_entry(struct error *err, const char *at, const cJSON *entry,
    const struct field_row *rows, void *target)
{
	if (!cJSON_IsObject(entry))
		return error_wrong(err, at, entry ? "type_error" : "missing", "must be an object");
	return fields_read_body(err, at, entry, rows, target);
}
