/* Texts with @NAME@ markers. */
#ifndef AGENTGRAPH_CLI_TEMPLATE_H
#define AGENTGRAPH_CLI_TEMPLATE_H

#include "base/buf.h"

struct template_value {
	const char *name;
	const char *text;
};

/*
 * Appends text with its markers replaced; values ends with a row without a name.  A marker alone on
 * its line stands for any number of lines, which get the line's indentation; without text the line
 * goes.  A name that values lacks is a mistake in the program and ends it.
 */
void template_expand(struct buf *out, const char *text, const struct template_value *values);

#endif
