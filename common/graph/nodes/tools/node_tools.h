/* SPDX-License-Identifier: ISC */
/*
 * The tools of a tools node as they are now: its own, those of its MCP servers, and those that
 * clients run.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_TOOLS_NODE_TOOLS_H
#define AGENTGRAPH_GRAPH_NODES_TOOLS_NODE_TOOLS_H

#include "graph/graph.h"
#include "graph/run.h"
#include "tool/mcp/mcp.h"

#include <stddef.h>
#include <stdint.h>

/* An MCP server whose tools a node has. */
struct tool_server {
	struct mcp_server *server; /* the graph's */
	char *prefix;              /* of the tools' names here; "" for none */
	const char *const *only;   /* the server's names of those that are taken; NULL: all */
	char *place;               /* where it was described, for messages */
};

/* Adds a server to a node; what it holds is taken over. */
void node_add_server(struct node *node, const struct tool_server *server);

/* Frees the servers' entries, not the servers. */
void node_free_servers(struct node *node);

struct node_tools {
	/* In the order of declaration, names are unique: the node's own, its servers', remote ones,
	 * those that the client brought.  They can be read and called until the release. */
	struct tool *items;
	size_t count;
	size_t unreached; /* servers whose tools are not known, and so are missing */
	size_t starting;  /* those of them that may be ready soon */

	struct held_tools *held; /* by this module */
	size_t held_count;
};

/*
 * Waits until the deadline (clock_monotonic_ms) for servers that are not ready; one that failed is
 * not waited for.  client, tools of the run's client, may be NULL.
 */
void node_tools_get(const struct node *node, const struct client_tools *client, int64_t deadline_ms,
    struct node_tools *tools);
void node_tools_release(struct node_tools *tools);

/* The tool of that name, or NULL; valid until the release. */
const struct tool *node_tools_find(const struct node_tools *tools, const char *name);

/* Lets the node's servers get ready, without waiting. */
void node_tools_wake(const struct node *node);

#endif
