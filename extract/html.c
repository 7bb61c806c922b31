/* SPDX-License-Identifier: ISC */
/* HTML: the text that a reader of the page would see. */
#include "base/texts.h"
#include "extract/document.h"

#include <libxml/HTMLparser.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 65536

struct page {
	struct prose *out;
	htmlParserCtxtPtr parser;
	unsigned hidden; /* open elements that are not shown */
	unsigned pre;    /* open elements whose white space counts */
};

static bool html_is_hidden(const xmlChar *name)
{
	static const char *const names[] = {"script", "style", "template", NULL};
	return texts_has(names, (const char *)name);
}

static bool html_is_pre(const xmlChar *name)
{
	static const char *const names[] = {"pre", "textarea", NULL};
	return texts_has(names, (const char *)name);
}

/* Whether an element begins and ends a line of its own. */
static bool html_is_block(const xmlChar *name)
{
	static const char *const names[] = {"address", "article", "aside", "blockquote", "body",
	    "br", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
	    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head",
	    "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "option", "p",
	    "pre", "section", "select", "summary", "table", "tbody", "textarea", "tfoot", "thead",
	    "title", "tr", "ul", NULL};
	return texts_has(names, (const char *)name);
}

static void html_start(void *arg, const xmlChar *name, const xmlChar **attributes)
{
	struct page *p = arg;
	(void)attributes;
	if (html_is_block(name))
		prose_break(p->out);
	p->hidden += html_is_hidden(name);
	p->pre += html_is_pre(name);
}

static void html_end(void *arg, const xmlChar *name)
{
	struct page *p = arg;
	if (html_is_block(name))
		prose_break(p->out);
	else if (strcmp((const char *)name, "td") == 0 || strcmp((const char *)name, "th") == 0)
		prose_puts(p->out, "\t");
	p->hidden -= html_is_hidden(name) && p->hidden > 0;
	p->pre -= html_is_pre(name) && p->pre > 0;
}

static void html_text(void *arg, const xmlChar *data, int len)
{
	struct page *p = arg;
	if (p->hidden > 0 || len <= 0)
		return;
	if (p->pre > 0)
		prose_add(p->out, (const char *)data, (size_t)len);
	else
		prose_words(p->out, (const char *)data, (size_t)len);
	if (p->out->full)
		xmlStopParser(p->parser);
}

static void html_ignore_error(void *ctx, xmlErrorPtr error)
{
	(void)ctx, (void)error;
}

static const htmlSAXHandler handlers = {
    .initialized = XML_SAX2_MAGIC,
    .startElement = html_start,
    .endElement = html_end,
    .characters = html_text,
    .ignorableWhitespace = html_text,
    .cdataBlock = html_text,
    .serror = html_ignore_error,
};

const char *document_html(struct prose *out, const char *data, size_t len)
{
	struct page p = {.out = out};
	htmlSAXHandler sax = handlers;
	p.parser = htmlCreatePushParserCtxt(&sax, &p, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
	if (!p.parser)
		abort();
	htmlCtxtUseOptions(p.parser,
	    HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_IGNORE_ENC);
	for (size_t at = 0; at < len && !out->full; at += CHUNK)
		htmlParseChunk(p.parser, data + at, (int)(len - at < CHUNK ? len - at : CHUNK), 0);
	if (!out->full)
		htmlParseChunk(p.parser, "", 0, 1);
	xmlFreeDoc(p.parser->myDoc);
	htmlFreeParserCtxt(p.parser);
	return NULL;
}
