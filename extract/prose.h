/* SPDX-License-Identifier: ISC */
/*
 * Text on its way out: UTF-8, with the limit on its length (doc/files.md#text).
 *
 * Once it is full, more is dropped; whoever makes it may look at full and stop.  An all-zero struct
 * is an empty one.
 */
#ifndef AGENTGRAPH_EXTRACT_PROSE_H
#define AGENTGRAPH_EXTRACT_PROSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define PROSE_CHARACTERS 1000000

struct prose {
	struct buf out;
	size_t characters;
	bool full;
	bool space; /* white space was seen since the last word */
};

/* Adds valid UTF-8 as it is. */
void prose_add(struct prose *p, const char *text, size_t len);
void prose_puts(struct prose *p, const char *text);

/* Adds words: white space between them becomes one blank, at the start of a line nothing.  Text may
 * come in any pieces. */
void prose_words(struct prose *p, const char *text, size_t len);

/* Ends the line, unless it is empty; tabs at its end go. */
void prose_break(struct prose *p);

void prose_release(struct prose *p);

#endif
