/* SPDX-License-Identifier: ISC */
/*
 * Documents that are XML in a ZIP archive.
 *
 * The limits of doc/files.md#text-extraction hold for the archive as a whole: for the size that it
 * says it unpacks to, and for the size that it does unpack to.
 */
#ifndef AGENTGRAPH_EXTRACT_PACKAGE_H
#define AGENTGRAPH_EXTRACT_PACKAGE_H

#include "extract/prose.h"
#include "extract/xml.h"

/* What the events of one part get as their argument. */
struct part {
	struct prose *out;
	struct xml *xml;
	void *state;  /* state_size bytes, all zero at first */
	void *shared; /* of the package */
};

/* How the parts of one kind of package are read. */
struct package {
	/* Whether the part of that name is read; *order says where its text stands among the
	 * others. */
	bool (*wanted)(const char *name, unsigned long *order);
	const struct xml_events *events;
	size_t state_size; /* above 0 */
	void *shared;
};

/* Appends the text of all wanted parts and tells how many there were.  NULL, or why there is no
 * text. */
const char *package_read(
    const struct package *p, struct prose *out, const char *data, size_t len, size_t *count);

/* Sets *order to the number in a name PREFIX<number>.xml; false when the name is another one. */
bool package_number(const char *name, const char *prefix, unsigned long *order);

#endif
