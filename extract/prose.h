/* SPDX-License-Identifier: ISC */
/*
 * Text on its way out: UTF-8, with the limit on its length (doc/files.md#text-extraction).
 *
 * Text that is added once it is full is dropped; whoever adds it may look at full and stop.  An
 * all-zero struct is empty.
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

/* Adds words.  White space between them becomes one blank, and goes at the start of a line.  Text
 * may come in pieces of any size. */
void prose_words(struct prose *p, const char *text, size_t len);

/* Ends the line, unless it is empty; tabs at its end go. */
void prose_break(struct prose *p);

void prose_release(struct prose *p);

#endif
