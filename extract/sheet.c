/* SPDX-License-Identifier: ISC */
/* Spreadsheets: XLSX.  A row is a line, its cells lie between tabs, each in its column. */
#include "base/memory.h"
#include "extract/document.h"
#include "extract/package.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 16384
#define NUMBER_SIZE 16

/* ---- the strings that cells share ---- */

struct strings {
	struct buf text; /* all strings, one behind the other */
	size_t *ends;    /* where each of them ends */
	size_t count;
};

/* The text of a string is in elements t; in rPh is how it is pronounced. */
struct string_state {
	int in_text, in_phonetic;
};

static void string_start(void *arg, const char *name, const struct xml_attributes *attributes)
{
	struct string_state *s = ((struct part *)arg)->state;
	(void)attributes;
	s->in_text += xml_is(name, "t");
	s->in_phonetic += xml_is(name, "rPh");
}

static void string_end(void *arg, const char *name)
{
	struct part *part = arg;
	struct string_state *s = part->state;
	struct strings *strings = part->shared;
	s->in_text -= xml_is(name, "t");
	s->in_phonetic -= xml_is(name, "rPh");
	if (!xml_is(name, "si"))
		return;
	strings->ends = xgrow(strings->ends, strings->count, sizeof(*strings->ends));
	strings->ends[strings->count++] = strings->text.len;
}

static void string_text(void *arg, const char *text, size_t len)
{
	struct part *part = arg;
	const struct string_state *s = part->state;
	struct strings *strings = part->shared;
	if (s->in_text > 0 && s->in_phonetic == 0)
		buf_add(&strings->text, text, len);
}

static const struct xml_events string_events = {string_start, string_end, string_text};

static bool strings_part(const char *name, unsigned long *order)
{
	*order = 0;
	return xml_is(name, "xl/sharedStrings.xml");
}

/* ---- the cells ---- */

struct sheet_state {
	int in_value, in_phonetic;
	bool shared;              /* the value is the number of a string */
	unsigned column;          /* of this cell, from 0 */
	unsigned after;           /* the column of the next cell, unless that says another one */
	unsigned tabs;            /* that were written in this row */
	char number[NUMBER_SIZE]; /* the digits of that number */
};

/* "AB12" is in column 27. */
static unsigned sheet_column_of(const char *reference, unsigned otherwise)
{
	unsigned column = 0;
	for (; *reference >= 'A' && *reference <= 'Z'; reference++) {
		column = 26 * column + (unsigned)(*reference - 'A') + 1;
		if (column > COLUMNS)
			return otherwise;
	}
	return column ? column - 1 : otherwise;
}

static void sheet_start(void *arg, const char *name, const struct xml_attributes *attributes)
{
	struct sheet_state *s = ((struct part *)arg)->state;
	if (xml_is(name, "row")) {
		s->after = s->tabs = 0;
	} else if (xml_is(name, "c")) {
		char type[4] = "", reference[NUMBER_SIZE] = "";
		xml_attribute(attributes, "t", type, sizeof(type));
		xml_attribute(attributes, "r", reference, sizeof(reference));
		s->shared = xml_is(type, "s");
		s->column = sheet_column_of(reference, s->after);
		s->after = s->column + 1;
		s->number[0] = '\0';
	} else if (xml_is(name, "v") || xml_is(name, "t")) {
		s->in_value++;
	} else if (xml_is(name, "rPh")) {
		s->in_phonetic++;
	}
}

static void sheet_add_value(struct part *part, const char *text, size_t len)
{
	struct sheet_state *s = part->state;
	for (; s->tabs < s->column && !part->out->full; s->tabs++)
		prose_puts(part->out, "\t");
	prose_words(part->out, text, len);
	if (part->out->full)
		xml_stop(part->xml);
}

/* Adds the string whose number was read, if there is such a string. */
static void sheet_add_shared(struct part *part)
{
	const struct sheet_state *s = part->state;
	const struct strings *strings = part->shared;
	char *end;
	size_t i = strtoul(s->number, &end, 10);
	if (end == s->number || i >= strings->count)
		return;
	size_t from = i > 0 ? strings->ends[i - 1] : 0;
	if (strings->ends[i] > from)
		sheet_add_value(part, strings->text.data + from, strings->ends[i] - from);
}

static void sheet_end(void *arg, const char *name)
{
	struct part *part = arg;
	struct sheet_state *s = part->state;
	if (xml_is(name, "row"))
		prose_break(part->out);
	else if (xml_is(name, "c") && s->shared)
		sheet_add_shared(part);
	else if (xml_is(name, "v") || xml_is(name, "t"))
		s->in_value--;
	else if (xml_is(name, "rPh"))
		s->in_phonetic--;
}

static void sheet_text(void *arg, const char *text, size_t len)
{
	struct part *part = arg;
	struct sheet_state *s = part->state;
	if (s->in_value <= 0 || s->in_phonetic > 0)
		return;
	if (!s->shared)
		sheet_add_value(part, text, len);
	else if (strlen(s->number) + len < sizeof(s->number))
		strncat(s->number, text, len);
}

static const struct xml_events sheet_events = {sheet_start, sheet_end, sheet_text};

static bool sheet_part(const char *name, unsigned long *order)
{
	return package_number(name, "xl/worksheets/sheet", order);
}

/* ---- both ---- */

const char *document_xlsx(struct prose *out, const char *data, size_t len)
{
	struct strings strings = {0};
	const struct package first = {.wanted = strings_part,
	    .events = &string_events,
	    .state_size = sizeof(struct string_state),
	    .shared = &strings};
	const struct package second = {.wanted = sheet_part,
	    .events = &sheet_events,
	    .state_size = sizeof(struct sheet_state),
	    .shared = &strings};
	size_t count;
	const char *why = package_read(&first, out, data, len, &count);
	if (!why)
		why = package_read(&second, out, data, len, &count);
	buf_release(&strings.text);
	free(strings.ends);
	return why ? why : count ? NULL : "the archive has no sheet inside";
}
