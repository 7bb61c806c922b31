/* SPDX-License-Identifier: ISC */
/*
 * The streamed pieces of one message, as a tree and as JSON.
 *
 * A model may say hundreds of them a second, and all but their text and time is alike: that is made
 * once.
 */
#ifndef AGENTGRAPH_GRAPH_MESSAGE_PIECE_H
#define AGENTGRAPH_GRAPH_MESSAGE_PIECE_H

#include "base/arena.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

struct piece;

/* Pieces of the message with that id, which is copied: of its text, or of a reasoning summary. */
struct piece *piece_new(struct arena *arena, const char *id, bool reasoning);

const char *piece_id(const struct piece *piece);

/* The next one, in output form with delta true.  Both stay as they are until the next call. */
const cJSON *piece_next(struct piece *piece, const char *text, const char **json);

#endif
