/* SPDX-License-Identifier: ISC */
/*
 * The agent as a tool of MCP hosts (doc/protocol-mcp.md): a server of the Model Context Protocol
 * over streamable HTTP, which keeps no sessions.  The versions with a handshake and the stateless
 * one meet here; what a call does is a turn like any other.
 */
#ifndef AGENTGRAPH_SERVICE_MCP_MCP_SERVICE_H
#define AGENTGRAPH_SERVICE_MCP_MCP_SERVICE_H

#include "service/run/runs.h"

/* One POST. */
struct mcp_post {
	const cJSON *body;
	const char *version, *method, *name; /* what the headers say; "" where they are not there */
	bool events;                         /* the client takes an event stream */
	struct chunk_sink *sink;             /* where that goes */

	/* Set by mcp_answer: */
	cJSON *answer; /* the only message; NULL: there is none, or it was streamed */
	bool streamed;
};

/* Answers a message.  False with call->error set, and nothing sent, when it was refused. */
bool mcp_answer(struct call *call, struct mcp_post *post);

/* The body of an answer with an error, a response of JSON-RPC, in the call's arena. */
cJSON *mcp_error(struct call *call, const struct mcp_post *post, const struct error_view *view);

#endif
