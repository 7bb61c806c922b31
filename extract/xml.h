/* SPDX-License-Identifier: ISC */
/*
 * XML as a stream of events, for files that nobody trusts.  Neither the network nor files nor a DTD
 * are read; a document that declares an entity, or nests more than 256 elements, is refused.  Names
 * come without the prefix of their namespace.
 */
#ifndef AGENTGRAPH_EXTRACT_XML_H
#define AGENTGRAPH_EXTRACT_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct xml;

/* The attributes of an element, valid during its event. */
struct xml_attributes {
	const unsigned char **list; /* as libxml2 has them */
	int count;
};

struct xml_events {
	void (*start)(void *arg, const char *name, const struct xml_attributes *attributes);
	void (*end)(void *arg, const char *name);
	void (*text)(void *arg, const char *text, size_t len);
};

/* Whether a name is the other one. */
static inline bool xml_is(const char *name, const char *other)
{
	return strcmp(name, other) == 0;
}

enum xml_encoding {
	XML_AS_DECLARED, /* the document says what its bytes mean */
	XML_UTF8         /* they are UTF-8, whatever it says */
};

/* events is borrowed. */
struct xml *xml_new(const struct xml_events *events, void *arg, enum xml_encoding encoding);
void xml_free(struct xml *x);

/* Takes more of the document.  False when it is no good, or an event stopped it. */
bool xml_feed(struct xml *x, const char *data, size_t len);

/* Ends the document.  NULL, or what is wrong with it; nothing is wrong if an event stopped it. */
const char *xml_end(struct xml *x);

/* Called from within an event when enough was seen. */
void xml_stop(struct xml *x);

/* The value of an attribute, cut to what fits in out, which stays as it is when there is none. */
void xml_attribute(
    const struct xml_attributes *attributes, const char *name, char *out, size_t size);

#endif
