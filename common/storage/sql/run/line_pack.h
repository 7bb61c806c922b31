/* SPDX-License-Identifier: ISC */
/*
 * Packs lines into less room, for text whose lines are much alike, as chunks of JSON are: of a line
 * that is mostly the same as the one before it, only the differences are kept.
 *
 * A line that begins with the byte 4, which no JSON has, is made from the one before it by edits:
 * the byte 4, how many bytes are the same, how many are left out, and what stands in their place;
 * behind the last edit all is the same.  A number has five bits a byte, the lowest first: 0x40 to
 * 0x5f, or 0x60 to 0x7f where another byte follows.  Packed text is UTF-8 if the lines are, and its
 * first line is not changed.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_LINE_PACK_H
#define AGENTGRAPH_STORAGE_SQL_RUN_LINE_PACK_H

#include "base/buf.h"

#include <stdbool.h>

/* Appends lines, in which there is no byte 4, in packed form. */
void lines_pack(struct buf *out, const char *lines, size_t len);

/* Whether text is packed; if not, it is what it was. */
bool lines_packed(const char *packed, size_t len);

/* Appends the lines as they were.  A line that cannot be read becomes empty. */
void lines_unpack(struct buf *out, const char *packed, size_t len);

#endif
