/* SPDX-License-Identifier: ISC */
/*
 * Messages and content blocks (doc/protocol-messages.md#messages): checking and normalising what
 * comes in, making what goes out, as a whole and in pieces.
 *
 * A message in its output form is a cJSON object with the eleven members of
 * doc/protocol-messages.md#messages; only that form is stored and shown to nodes.
 */
#ifndef AGENTGRAPH_GRAPH_MESSAGE_MESSAGE_H
#define AGENTGRAPH_GRAPH_MESSAGE_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/id.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct run_usage; /* storage/runs.h */

/* Who wrote a message: usage numbers and parsed content count only when a node did. */
enum message_origin { MESSAGE_FROM_CLIENT, MESSAGE_FROM_NODE };

/*
 * The output form of input (borrowed), a new tree, or NULL with every mistake in err.  path is
 * where it stands, for errors: "body.messages[0]".  A missing id is made from ids.
 */
cJSON *message_normalise(const cJSON *input, const char *path, enum message_origin origin,
    const struct id_source *ids, struct error *err);

/* A new message in output form; content (an array of blocks) is taken over. */
cJSON *message_new(const char *role, const char *id, cJSON *content);

/* A text block, and an array that holds just one. */
cJSON *block_text(const char *text);
cJSON *content_text(const char *text);

/* A streamed piece of message id. */
cJSON *message_delta(const char *id, const char *text);
cJSON *message_reasoning_delta(const char *id, const char *text);

/* Length of the piece that a text begins with when it is streamed by words: a word with the white
 * space before it, and the last one with what trails. */
size_t message_word(const char *text);

/* A tool message with one result; output is taken over. */
cJSON *message_tool_result(const char *id, const char *call_id, cJSON *output, bool is_error);

/* Borrowed: NULL without an id, "" without a role. */
const char *message_id(const cJSON *message);
const char *message_role(const cJSON *message);
/* Whether it has that role. */
bool message_is(const cJSON *message, const char *role);

/* The last message of an array (or NULL) that has that role; of any role when that is NULL. */
const cJSON *message_last(const cJSON *messages, const char *role);

/* Appends the texts of all text blocks. */
void message_text(const cJSON *message, struct buf *out);

/* Whether a block is of that type. */
bool block_is(const cJSON *block, const char *type);

/* Whether block is a tool_call or remote_tool_call,
 * and whether message asks for a tool anywhere. */
bool block_is_call(const cJSON *block);
bool message_has_calls(const cJSON *message);

/* Whether it is a model's answer that ended before it was whole. */
bool message_is_cut(const cJSON *message);

/* Adds to sum what the message cost by its model's count; false, with nothing added, when the model
 * has not said. */
bool message_usage(const cJSON *message, struct run_usage *sum);

/* Puts a sum, unless it is zero, into kept, where message_usage finds it again. */
void message_keep_usage(cJSON *kept, const struct run_usage *sum);

/* The tokens that the message cost by its model's count, 0 for what it leaves out; false when it
 * has not said. */
bool message_tokens(const cJSON *message, int64_t *in, int64_t *out);

/* Counts in the metrics what the message cost by its model's count; nothing for a message of no
 * model. */
void message_count_tokens(const cJSON *message);

/* Rewrites tools_calls from the call blocks of the content; null when there are none. */
void message_fill_calls(cJSON *message);

/*
 * ---- piece.c: the streamed pieces of one message, as a tree and as JSON.
 *
 * A model may say hundreds of them a second, and all but their text and time is alike: that is made
 * once.
 */

struct piece;

/* Pieces of the message with that id, which is copied: of its text, or of a reasoning summary. */
struct piece *piece_new(struct arena *arena, const char *id, bool reasoning);

const char *piece_id(const struct piece *piece);

/* The next one, in output form with delta true.  Both stay as they are until the next call. */
const cJSON *piece_next(struct piece *piece, const char *text, const char **json);

/* ---- block.c: content blocks (the table of doc/protocol-messages.md#content-blocks), used by
 * message.c alone. */

/*
 * The output form of one block, a new tree, or NULL with err set; unknown fields are dropped.  path
 * is where it stands: "body.messages[0].content[1]".
 */
cJSON *block_normalise(const cJSON *input, const char *path, struct error *err);

#endif
