/* SPDX-License-Identifier: ISC */
/*
 * The embedder that is built in: it needs no network, no file and no time to speak of.
 *
 * It knows spelling, not meaning.  Words and the groups of letters in them are hashed into the
 * numbers of a vector, so texts are near each other when they share words, or words that are
 * spelled alike (plurals, compounds, typing errors, one stem).  It does not know that a car is a
 * vehicle, and matches no text with its translation.
 */
#ifndef AGENTGRAPH_MODEL_EMBED_LOCAL_EMBED_H
#define AGENTGRAPH_MODEL_EMBED_LOCAL_EMBED_H

#include <stddef.h>

#define LOCAL_EMBED_NAME "builtin:ngrams-1" /* its number goes up when its vectors change */
#define LOCAL_EMBED_DIMENSIONS 384

/* The vector of a text in UTF-8: of length 1, and all zeroes only for a blank text. */
void local_embed(const char *text, float vector[LOCAL_EMBED_DIMENSIONS]);

#endif
