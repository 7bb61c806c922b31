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

/* The key that a result of the node is kept under: how the node is described, and the values of its
 * names now; for a call of a tools node its tool and arguments as well (else NULL).  In the arena;
 * NULL where nothing is kept of this node. */
const char *node_cache_key(
    ag_run *run, const struct node *node, const char *tool, const cJSON *args);

/* The result that is kept under the key, a new tree, or NULL; counts a hit or a miss.  NULL for no
 * key. */
cJSON *node_cache_find(const ag_run *run, const char *key);

/* Lets the node of the frame say and set what was found (taken over). */
void node_cache_say(ag_run *run, cJSON *kept);

/* A result to keep: the node's messages from first on (or NULL) and updates ({field: value}, or
 * NULL), a new tree.  NULL where the node asks for tools, or a model's answer was cut off, which is
 * not kept. */
cJSON *node_cache_result(const cJSON *first, const cJSON *updates);

/* Keeps the result (an object, taken over) in place of the one in its slot. */
void node_cache_put(const ag_run *run, const struct node *node, const char *key, cJSON *result);

#endif
