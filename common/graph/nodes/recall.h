/* SPDX-License-Identifier: ISC */
/* Memories that fit what the user just said, for a model's prompt. */
#ifndef AGENTGRAPH_GRAPH_NODES_RECALL_H
#define AGENTGRAPH_GRAPH_NODES_RECALL_H

#include "agentgraph.h"

/*
 * search is the body of a search (doc/protocol-store.md#calls) without its query, with templates in
 * its filters.  The memories found, a line each and best first, malloc'd; NULL when there is none,
 * or the store failed, which the log tells: a conversation goes on without its memories.
 */
char *recall(ag_run *run, const ag_state *state, const cJSON *search);

/* The content of a memory as text, malloc'd. */
char *memory_text(const cJSON *memory);

#endif
