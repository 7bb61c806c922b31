/* SPDX-License-Identifier: ISC */
/* Content blocks (the table of doc/protocol-messages.md#blocks), used by message.c alone. */
#ifndef AGENTGRAPH_GRAPH_MESSAGE_BLOCK_H
#define AGENTGRAPH_GRAPH_MESSAGE_BLOCK_H

#include "base/error.h"

#include <cjson/cJSON.h>

/*
 * The output form of one block, a new tree, or NULL with err set; unknown fields are dropped.  path
 * is where it stands: "body.messages[0].content[1]".
 */
cJSON *block_normalise(const cJSON *input, const char *path, struct error *err);

/* What a client calls a place: the path without its first part ("messages[0].content[1]"). */
const char *path_in_body(const char *path);

#endif
