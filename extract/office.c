/* SPDX-License-Identifier: ISC */
/* Texts and slides: DOCX, PPTX, ODT. */
#include "extract/document.h"
#include "extract/package.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS_MAX 100

static const char *office_read_some(
    const struct package *p, struct prose *out, const char *data, size_t len)
{
	size_t count;
	const char *why = package_read(p, out, data, len, &count);
	return why ? why : count ? NULL : "the archive has no such document inside";
}

/* ---- Office Open XML ---- */

/* Text stands in elements t, whatever their namespace (m:t, a:t).  The numbers count open
 * elements. */
struct ooxml {
	int in_text;
	int in_run;      /* in these a tab is a tab; elsewhere it defines where tabs stop */
	int in_fallback; /* these repeat, for old programs, what was said before */
};

static void ooxml_start(void *arg, const char *name, const struct xml_attributes *attributes)
{
	struct part *part = arg;
	struct ooxml *o = part->state;
	(void)attributes;
	if (xml_is(name, "Fallback"))
		o->in_fallback++;
	else if (xml_is(name, "t"))
		o->in_text++;
	else if (xml_is(name, "r"))
		o->in_run++;
	else if (o->in_fallback > 0)
		return;
	else if (xml_is(name, "tab") && o->in_run > 0)
		prose_puts(part->out, "\t");
	else if (xml_is(name, "br") || xml_is(name, "cr"))
		prose_break(part->out);
}

static void ooxml_end(void *arg, const char *name)
{
	struct part *part = arg;
	struct ooxml *o = part->state;
	if (xml_is(name, "Fallback"))
		o->in_fallback--;
	else if (xml_is(name, "t"))
		o->in_text--;
	else if (xml_is(name, "r"))
		o->in_run--;
	else if (xml_is(name, "p"))
		prose_break(part->out);
}

static void ooxml_text(void *arg, const char *text, size_t len)
{
	struct part *part = arg;
	const struct ooxml *o = part->state;
	if (o->in_text == 0 || o->in_fallback > 0)
		return;
	prose_add(part->out, text, len);
	if (part->out->full)
		xml_stop(part->xml);
}

static const struct xml_events ooxml_events = {ooxml_start, ooxml_end, ooxml_text};

static bool docx_part(const char *name, unsigned long *order)
{
	static const char *const parts[] = {
	    "word/document.xml", "word/footnotes.xml", "word/endnotes.xml"};
	unsigned long number; /* Word on the web calls its document document2.xml */
	*order = 0;
	if (package_number(name, "word/document", &number))
		return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		*order = i;
		if (xml_is(name, parts[i]))
			return true;
	}
	return false;
}

const char *document_docx(struct prose *out, const char *data, size_t len)
{
	const struct package p = {
	    .wanted = docx_part, .events = &ooxml_events, .state_size = sizeof(struct ooxml)};
	return office_read_some(&p, out, data, len);
}

static bool pptx_part(const char *name, unsigned long *order)
{
	return package_number(name, "ppt/slides/slide", order);
}

const char *document_pptx(struct prose *out, const char *data, size_t len)
{
	const struct package p = {
	    .wanted = pptx_part, .events = &ooxml_events, .state_size = sizeof(struct ooxml)};
	return office_read_some(&p, out, data, len);
}

/* ---- OpenDocument ---- */

struct odt {
	int in_paragraph;
	int in_deleted; /* in text that was deleted while changes were tracked */
};

static bool odt_is_paragraph(const char *name)
{
	return xml_is(name, "p") || xml_is(name, "h");
}

static void odt_start(void *arg, const char *name, const struct xml_attributes *attributes)
{
	struct part *part = arg;
	struct odt *o = part->state;
	if (xml_is(name, "tracked-changes"))
		o->in_deleted++;
	else if (odt_is_paragraph(name))
		o->in_paragraph++;
	else if (o->in_paragraph == 0 || o->in_deleted > 0)
		return;
	else if (xml_is(name, "tab"))
		prose_puts(part->out, "\t");
	else if (xml_is(name, "line-break"))
		prose_break(part->out);
	else if (xml_is(name, "s")) { /* stands for several blanks */
		char count[8] = "1";
		xml_attribute(attributes, "c", count, sizeof(count));
		long n = strtol(count, NULL, 10);
		for (long i = 0; i < n && i < BLANKS_MAX; i++)
			prose_puts(part->out, " ");
	}
}

static void odt_end(void *arg, const char *name)
{
	struct part *part = arg;
	struct odt *o = part->state;
	if (xml_is(name, "tracked-changes"))
		o->in_deleted--;
	if (!odt_is_paragraph(name))
		return;
	o->in_paragraph--;
	prose_break(part->out);
}

static void odt_text(void *arg, const char *text, size_t len)
{
	struct part *part = arg;
	const struct odt *o = part->state;
	if (o->in_deleted > 0 || o->in_paragraph == 0)
		return;
	prose_words(part->out, text, len);
	if (part->out->full)
		xml_stop(part->xml);
}

static const struct xml_events odt_events = {odt_start, odt_end, odt_text};

static bool odt_part(const char *name, unsigned long *order)
{
	*order = 0;
	return xml_is(name, "content.xml");
}

const char *document_odt(struct prose *out, const char *data, size_t len)
{
	const struct package p = {
	    .wanted = odt_part, .events = &odt_events, .state_size = sizeof(struct odt)};
	return office_read_some(&p, out, data, len);
}
