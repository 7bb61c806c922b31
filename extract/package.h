/* SPDX-License-Identifier: ISC */
/*
 * Documents that are XML in a ZIP archive.
 *
 * The limits of doc/files.md#text hold for the archive as a whole: for what it says it unpacks to,
 * and for what it does unpack to.
 */
#ifndef AGENTGRAPH_EXTRACT_PACKAGE_H
#define AGENTGRAPH_EXTRACT_PACKAGE_H

#include "extract/prose.h"
#include "extract/xml.h"

/* What the events of one part get as their argument. */
struct part {
	struct prose *out;
	struct xml *xml;
	void *state;  /* state_size bytes, zeroes at first */
	void *shared; /* the package's */
};

/* How the parts of one kind of package are read. */
struct package {
	/* Whether the part of that name is read, and where its text stands among the others'. */
	bool (*wanted)(const char *name, unsigned long *order);
	const struct xml_events *events;
	size_t state_size; /* above 0 */
	void *shared;
};

/* Appends the text of all wanted parts and tells how many there were.  NULL, or why not. */
const char *package_read(
    const struct package *p, struct prose *out, const char *data, size_t len, size_t *count);

/* The order of a part named PREFIX<number>.xml; false when it is not named so. */
bool package_number(const char *name, const char *prefix, unsigned long *order);

#endif
