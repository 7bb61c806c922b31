/* SPDX-License-Identifier: ISC */
/* JSON strings without a tree. */
#ifndef AGENTGRAPH_BASE_JSON_JSON_QUOTE_H
#define AGENTGRAPH_BASE_JSON_JSON_QUOTE_H

#include "base/buf.h"

/* Appends text, which is valid UTF-8, as a JSON string with its quotes; NULL as null. */
void json_quote(struct buf *out, const char *text);

#endif
