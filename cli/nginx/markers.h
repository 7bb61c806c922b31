/* SPDX-License-Identifier: ISC */
/* Texts with @NAME@ markers. */
#ifndef AGENTGRAPH_CLI_NGINX_MARKERS_H
#define AGENTGRAPH_CLI_NGINX_MARKERS_H

#include "base/buf.h"

struct marker {
	const char *name;
	const char *text;
};

/*
 * Appends text with its markers replaced; values ends with a row without a name.  A marker alone on
 * its line stands for any number of lines, which get the line's indentation; without text the line
 * goes.  A name that values lacks is a mistake in the program and ends it.
 */
void markers_fill(struct buf *out, const char *text, const struct marker *values);

#endif
