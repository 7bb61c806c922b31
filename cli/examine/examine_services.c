/* SPDX-License-Identifier: ISC */
/* Whether the services that the agent needs answer.  Each that does not is a warning, as the
 * service starts and works without it. */
#include "base/buf.h"
#include "base/error.h"
#include "base/log/log.h"
#include "base/log/redact.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "cli/examine/examine.h"
#include "graph/nodes/tools/node_tools.h"
#include "service/memory/memory_embed.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 5000 /* for all MCP servers together, and for the embedding service */
#define GLANCE_MS 50     /* for one server, before the next one's turn */

/* ---- MCP servers */

/* Looks at a server, and warns if it is down.  True when it is known by now whether it answers. */
static bool examine_judge_server(
    const struct tool_server *server, int64_t deadline_ms, struct problems *problems)
{
	const int64_t soon = clock_monotonic_ms() + GLANCE_MS;
	const struct mcp_wait wait = {.deadline_ms = soon < deadline_ms ? soon : deadline_ms};
	char why[MCP_WHY_SIZE];
	struct mcp_tools *tools = mcp_server_tools(server->server, &wait, why);
	if (tools) {
		mcp_tools_release(tools);
		return true;
	}
	if (!mcp_server_is_down(server->server) && clock_monotonic_ms() < deadline_ms)
		return false;
	struct buf text = {0};
	redact(&text, why); /* some of it may be the server's own words */
	problems_warn(problems,
	    "%s: %s: start the server, or see to its command or url; until then the agent is "
	    "without its tools",
	    server->place, buf_str(&text));
	buf_release(&text);
	return true;
}

/* The servers get ready side by side.  Each is looked at again and again, so that one that has
 * failed is seen before it is tried once more. */
static void examine_servers(const ag_graph *graph, struct problems *problems)
{
	const int64_t deadline_ms = clock_monotonic_ms() + PATIENCE_MS;
	const struct tool_server **waiting = NULL;
	size_t count = 0;
	for (size_t i = 0; i < graph->all_count; i++) {
		const struct node *node = graph->all[i];
		node_tools_wake(node);
		waiting = xrealloc(waiting, (count + node->server_count + 1) * sizeof(*waiting));
		for (size_t k = 0; k < node->server_count; k++)
			waiting[count++] = &node->servers[k];
	}
	while (count > 0) {
		size_t left = 0;
		for (size_t i = 0; i < count; i++)
			if (!examine_judge_server(waiting[i], deadline_ms, problems))
				waiting[left++] = waiting[i];
		count = left;
	}
	free(waiting);
}

void services_examine(const struct config *config, const ag_graph *graph, struct problems *problems)
{
	log_init("agentgraph", LOG_ERROR); /* the warnings say what the log would */
	if (graph)
		examine_servers(graph, problems);
	if (!config->store || strcmp(config->store, "builtin:store") != 0)
		return;
	struct problems told = {0}; /* already, when the memory store was looked at */
	struct embedding *e = embedding_new(config, &told);
	struct error err = {0};
	if (e && !embedding_probe(e, clock_monotonic_ms() + PATIENCE_MS, &err))
		problems_warn(problems,
		    "%s: embeddings: %s; expected a vector of %zu numbers: start the service, or see "
		    "to base_url, model, dimensions and the key",
		    config->path ? config->path : "agentgraph.json", error_why(&err),
		    embedding_dimension(e));
	error_release(&err);
	embedding_free(e);
	problems_release(&told);
}
