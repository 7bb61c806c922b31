/* SPDX-License-Identifier: ISC */
/*
 * Nodes that ask another agent (doc/agents.md#other-agents).
 *
 * What the node has to remember of the conversation stands in the metadata of its messages, under
 * "a2a", and while it waits for an answer in the value of the pause: so it is of the branch of the
 * thread that it was said in, and goes with it.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_A2A_NODE_H
#define AGENTGRAPH_GRAPH_NODES_A2A_NODE_H

#include "agentgraph.h"

#include <stdint.h>

#define A2A_NODE_TIMEOUT_MS 900000 /* the default, and the most (doc/protocol-runs.md#invoke) */

struct a2a_peer;

struct a2a_node {
	struct a2a_peer *peer;
	int64_t timeout_ms;
	/* What is said, malloc'd, or NULL for the last text of the user; arg is passed through. */
	char *(*text)(ag_run *run, const ag_state *state, const void *arg);
	const void *arg;
};

/* The function of such a node (ag_node_fn); data is its struct a2a_node. */
ag_result a2a_node_run(ag_run *run, const ag_state *state, void *data);

#endif
