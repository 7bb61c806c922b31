/* SPDX-License-Identifier: ISC */
/* XML of any kind: the text between the tags. */
#include "extract/document.h"
#include "extract/xml.h"

#include <string.h>

#define DEPTH 256 /* xml.h refuses more */

struct reading {
	struct prose *out;
	struct xml *xml;
	unsigned depth;
	bool has_text[DEPTH + 1]; /* whether the open element of that depth has text of its own */
};

/* Ends the line, unless the element is inside of text: then it is part of a line. */
static void markup_end_line(struct reading *r)
{
	if (!r->has_text[r->depth])
		prose_break(r->out);
}

static void markup_start(void *arg, const char *name, const struct xml_attributes *attributes)
{
	struct reading *r = arg;
	(void)name, (void)attributes;
	markup_end_line(r);
	if (r->depth < DEPTH)
		r->depth++;
	r->has_text[r->depth] = false;
}

static void markup_end(void *arg, const char *name)
{
	struct reading *r = arg;
	(void)name;
	if (r->depth > 0)
		r->depth--;
	markup_end_line(r);
}

static void markup_text(void *arg, const char *data, size_t len)
{
	struct reading *r = arg;
	for (size_t i = 0; i < len; i++)
		r->has_text[r->depth] |= !strchr(" \t\r\n", data[i]);
	prose_words(r->out, data, len);
	if (r->out->full)
		xml_stop(r->xml);
}

static const struct xml_events events = {markup_start, markup_end, markup_text};

const char *document_xml(struct prose *out, const char *data, size_t len)
{
	struct reading r = {.out = out};
	r.xml = xml_new(&events, &r, XML_UTF8);
	xml_feed(r.xml, data, len);
	const char *why = xml_end(r.xml);
	xml_free(r.xml);
	return why;
}

const char *document_plain(struct prose *out, const char *data, size_t len)
{
	prose_add(out, data, len);
	return NULL;
}
