/* SPDX-License-Identifier: ISC */
/*
 * The agent as a tool of MCP hosts (doc/protocol-mcp.md): a server of the Model Context Protocol
 * over streamable HTTP, which keeps no sessions.  It speaks the versions with a handshake as well
 * as the stateless one; a call starts a turn like any other.
 */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_SERVICE_H
#define AGENTGRAPH_SERVICE_MCP_MCP_SERVICE_H

#include "service/run/runs.h"

/* One POST. */
struct mcp_post {
	const cJSON *body;
	const char *version, *method, *name; /* the headers' values; "" where absent */
	bool events;                         /* the client accepts an event stream */
	struct chunk_sink *sink;             /* the sink for that */

	/* Set by mcp_answer: */
	cJSON *answer; /* the only message; NULL: there is none, or it was streamed */
	bool streamed;
};

/* Answers a message.  False with call->error set, and nothing sent, when it was refused. */
bool mcp_answer(struct call *call, struct mcp_post *post);

/* The body of an answer with an error, a response of JSON-RPC, in the call's arena. */
cJSON *mcp_error(struct call *call, const struct mcp_post *post, const struct error_view *view);

#endif
