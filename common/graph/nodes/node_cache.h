/* SPDX-License-Identifier: ISC */
/*
 * What nodes with a cache said and set, for executions with equal values of its key, whoever's run
 * they are of and whichever process executes them.
 *
 * The results lie in files of <state>/nodes, one for each slot that keys fall into, so that there
 * are never more than NODE_CACHE_SLOTS; a newer result of a slot takes the place of the older.  A
 * file is written in place under a lock that the kernel drops when the process dies, and what was
 * not written to its end is no JSON: then, as when a file is locked or cannot be read, the node
 * runs.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_NODE_CACHE_H
#define AGENTGRAPH_GRAPH_NODES_NODE_CACHE_H

#include "graph/run.h"

#define NODE_CACHE_SLOTS 4096
#define NODE_CACHE_MAX (1 << 20) /* bytes of a result; a longer one is not kept */

/* Lets the node of the frame say and set what is kept for the values of its key; false: nothing
 * is. */
bool node_cache_take(ag_run *run);

/* What is to be kept of the node of the frame, which has ended well, malloc'd; NULL: nothing, as of
 * one that was answered by a person, asks for tools, or left messages out of the context. */
char *node_cache_text(const ag_run *run);

/* Keeps it, in the place of what is in its slot. */
void node_cache_put(const ag_run *run, const char *text);

#endif
