/* SPDX-License-Identifier: ISC */
/* libxml2's push parser, with all that could reach outside turned off. */
#include "extract/xml.h"

#include "base/memory.h"

#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTE_FIELDS 5 /* name, prefix, namespace, start and end of the value */

/* The limit that libxml2 has when it builds trees; no document that people write comes near it. */
#define DEPTH_MAX 256

struct xml {
	const struct xml_events *events;
	void *arg;
	xmlParserCtxtPtr parser;
	bool stopped;
	unsigned depth;
	const char *why; /* why it is refused; NULL while it is not */
};

static void xml_refuse(struct xml *x, const char *why)
{
	x->why = why;
	xmlStopParser(x->parser);
}

static void xml_start(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
    int namespaces_count, const xmlChar **namespaces, int count, int defaulted,
    const xmlChar **attributes)
{
	struct xml *x = ctx;
	const struct xml_attributes a = {attributes, count};
	(void)prefix, (void)uri, (void)namespaces_count, (void)namespaces, (void)defaulted;
	if (++x->depth > DEPTH_MAX)
		xml_refuse(x, "the XML is nested too deeply");
	else if (!x->stopped)
		x->events->start(x->arg, (const char *)name, &a);
}

static void extract_xml_end(
    void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct xml *x = ctx;
	(void)prefix, (void)uri;
	x->depth--;
	if (!x->stopped && !x->why)
		x->events->end(x->arg, (const char *)name);
}

static void xml_text(void *ctx, const xmlChar *data, int len)
{
	struct xml *x = ctx;
	if (!x->stopped && len > 0)
		x->events->text(x->arg, (const char *)data, (size_t)len);
}

/* Entities are refused: no document that people write declares any, but those that do harm. */
static void xml_declare_entity(void *ctx, const xmlChar *name, int type, const xmlChar *public_id,
    const xmlChar *system_id, xmlChar *content)
{
	struct xml *x = ctx;
	(void)name, (void)type, (void)public_id, (void)system_id, (void)content;
	xml_refuse(x, "the XML declares entities");
}

static void xml_ignore_error(void *ctx, xmlErrorPtr error)
{
	(void)ctx, (void)error;
}

static const xmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC,
    .startElementNs = xml_start,
    .endElementNs = extract_xml_end,
    .characters = xml_text,
    .ignorableWhitespace = xml_text,
    .cdataBlock = xml_text,
    .entityDecl = xml_declare_entity,
    .serror = xml_ignore_error,
};

struct xml *xml_new(const struct xml_events *events, void *arg, enum xml_encoding encoding)
{
	struct xml *x = xcalloc(1, sizeof(*x));
	xmlSAXHandler sax = handlers; /* copied by libxml2 */
	x->events = events;
	x->arg = arg;
	x->parser = xmlCreatePushParserCtxt(&sax, x, NULL, 0, NULL);
	if (!x->parser)
		abort();
	xmlCtxtUseOptions(x->parser,
	    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
		(encoding == XML_UTF8 ? XML_PARSE_IGNORE_ENC : 0));
	return x;
}

void xml_free(struct xml *x)
{
	if (!x)
		return;
	xmlFreeDoc(x->parser->myDoc);
	xmlFreeParserCtxt(x->parser);
	free(x);
}

#define CHUNK 65536

bool xml_feed(struct xml *x, const char *data, size_t len)
{
	for (size_t at = 0; at < len && !x->stopped; at += CHUNK) {
		size_t n = len - at < CHUNK ? len - at : CHUNK;
		if (xmlParseChunk(x->parser, data + at, (int)n, 0) != 0)
			return false;
	}
	return !x->stopped;
}

const char *xml_end(struct xml *x)
{
	if (!x->stopped && !x->why)
		xmlParseChunk(x->parser, "", 0, 1);
	if (x->stopped || x->why)
		return x->why;
	return x->parser->wellFormed ? NULL : "the XML is not well-formed";
}

void xml_stop(struct xml *x)
{
	x->stopped = true;
	xmlStopParser(x->parser);
}

void xml_attribute(const struct xml_attributes *a, const char *name, char *out, size_t size)
{
	for (int i = 0; i < a->count; i++) {
		const xmlChar **field = a->list + (ptrdiff_t)i * ATTRIBUTE_FIELDS;
		if (strcmp((const char *)field[0], name) != 0)
			continue;
		size_t len = (size_t)(field[4] - field[3]);
		if (len >= size)
			len = size - 1;
		memcpy(out, field[3], len);
		out[len] = '\0';
		return;
	}
}
