/* SPDX-License-Identifier: ISC */
/*
 * Lines in less room, for text whose lines are much like each other, as chunks of JSON are: of a
 * line that has most in common with the one before it, only what is different is kept.
 *
 * A line that begins with the byte 4, which no JSON has, is made from the one before it by edits:
 * the byte 4, how many bytes are as they were, how many are left out, and what stands in their
 * place; behind the last edit all is as it was.  Numbers have five bits a byte, the lowest first:
 * 0x40 to 0x5f, and 0x60 to 0x7f where another one follows.  What is packed is UTF-8 where the
 * lines are, and its first line stands as it is.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_LINE_PACK_H
#define AGENTGRAPH_STORAGE_SQL_RUN_LINE_PACK_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends lines, which have no byte 4 in them, in less room. */
void lines_pack(struct buf *out, const char *lines, size_t len);

/* Whether something is packed; other text is as it was. */
bool lines_packed(const char *packed, size_t len);

/* Appends the lines as they were.  One that cannot be read is empty. */
void lines_unpack(struct buf *out, const char *packed, size_t len);

#endif
