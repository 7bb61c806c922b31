/* SPDX-License-Identifier: ISC */
/* How objects of documents are read, and how mistakes in them are told. */
#include "base/buf.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "graph/document/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reporting */

/* A JSON Pointer (RFC 6901) to the place. */
static void place_add_path(struct buf *out, const struct place *at)
{
	if (!at)
		return;
	place_add_path(out, at->up);
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
	place_add_path(&path, at);
	char *place = xasprintf("%s%s%s", d->file, at ? ": " : "", buf_str(&path));
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

/* ---- Reading */

bool document_is(struct document *d, const struct place *at, const cJSON *item, unsigned wanted)
{
	if (json_is_of(item, wanted))
		return true;
	struct buf expected = {0};
	json_types_say(wanted, &expected);
	document_problem(d, at, "expected %s, found %s", buf_str(&expected), json_type_name(item));
	buf_release(&expected);
	return false;
}

void document_problem_below(
    struct document *d, const struct place *at, const char *path, const char *text)
{
	if (!*path) {
		document_problem(d, at, "%s", text);
		return;
	}
	size_t len = strcspn(path, "/");
	char *key = xstrndup(path, len);
	document_problem_below(d, PLACE_KEY(at, key), path + len + (path[len] == '/'), text);
	free(key);
}

static void document_check_report(const struct field_reader *reader, const char *path,
    const struct field_row *f, enum field_fault fault, const cJSON *found)
{
	const struct document_spot *spot = reader->where;
	struct buf text = {0};
	char *expected = field_expected(f);
	if (fault == FIELD_UNKNOWN) {
		buf_puts(&text, "unknown key");
	} else if (fault == FIELD_TYPE) {
		buf_puts(&text, "expected ");
		json_types_say(f->types | (f->kind ? f->kind->types : 0), &text);
		buf_printf(&text, ", found %s", json_type_name(found));
	} else if (f->choices && !f->expected) {
		buf_puts(&text, "expected one of ");
		choices_say(f->choices, &text);
		buf_printf(&text, ", found '%s'", found->valuestring);
	} else {
		buf_printf(&text, "expected %s", expected);
	}
	document_problem_below(spot->document, spot->at, path, buf_str(&text));
	buf_release(&text);
	free(expected);
}

const char *const *document_names(struct document *d, const struct place *at, const cJSON *array)
{
	const char **names =
	    array ? xcalloc((size_t)cJSON_GetArraySize(array) + 1, sizeof(*names)) : NULL;
	const cJSON *item;
	size_t i = 0, count = 0;
	cJSON_ArrayForEach(item, array) {
		if (document_is(d, PLACE_INDEX(at, i), item, TYPE_STRING))
			names[count++] = xstrdup(item->valuestring);
		i++;
	}
	return names;
}

bool document_read(struct document *d, const struct place *at, const cJSON *item,
    const struct document_shape *shape, void *target)
{
	struct document_spot spot = {d, at};
	const struct field_reader reader = {
	    .report = document_check_report, .where = &spot, .joint = '/', .strict = true};
	const struct field_row *const *tables = shape->tables;
	const cJSON *member;
	if (!document_is(d, at, item, TYPE_OBJECT))
		return false;
	cJSON_ArrayForEach(member, item) {
		const struct field_row *row = NULL;
		size_t i = 0;
		while (tables[i] && !(row = fields_find(tables[i], member->string)))
			i++;
		if (row) {
			field_read(&reader, member, row, i > 0 ? NULL : target);
			continue;
		}
		struct buf known = {0};
		for (i = 0; tables[i]; i++)
			for (row = tables[i]; row->key; row++)
				buf_printf(&known, "%s%s", known.len ? ", " : "", row->key);
		document_problem(d, PLACE_KEY(at, member->string),
		    "unknown key; expected one of %s", buf_str(&known));
		buf_release(&known);
	}
	for (size_t i = 0; tables[i]; i++)
		for (const struct field_row *row = tables[i]; row->key; row++)
			if (row->required && !json_get(item, row->key))
				document_problem(d, at, "expected the key '%s'", row->key);
	return true;
}
