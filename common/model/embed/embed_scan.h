/* SPDX-License-Identifier: ISC */
/* Vectors out of the JSON of an /embeddings answer, for embed.c alone. */
#ifndef AGENTGRAPH_MODEL_EMBED_EMBED_SCAN_H
#define AGENTGRAPH_MODEL_EMBED_EMBED_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the vectors of text (len bytes and a NUL after them) into vectors, which has room for
 * count × dimensions floats: data[i].embedding goes to row data[i].index (i where there is no
 * index).  Every row must come once, have that many numbers, and only finite ones.
 *
 * NULL, or else what is wrong, a static sentence part.
 */
const char *embed_scan(
    const char *text, size_t len, size_t count, size_t dimensions, float *vectors);

#endif
