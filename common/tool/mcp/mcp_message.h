/* SPDX-License-Identifier: ISC */
/* The messages of MCP: JSON-RPC 2.0 as text and as trees, without any state. */
#ifndef AGENTGRAPH_TOOL_MCP_MCP_MESSAGE_H
#define AGENTGRAPH_TOOL_MCP_MCP_MESSAGE_H

#include "tool/mcp/mcp.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define MCP_MESSAGE_MAX (8 << 20) /* bytes of one message */

/* New texts, malloc'd; params and result are taken over, params may be NULL. */
char *mcp_request_text(int64_t id, const char *method, cJSON *params);
char *mcp_notification_text(const char *method, cJSON *params);

/* The result that this client gives a server's request by itself, a new tree; NULL: it does not. */
cJSON *mcp_own_answer(const char *method);

/* The result of elicitation/create for an action without content: cancel, decline. */
cJSON *mcp_elicited(const char *action);

/* The answer to a request of the server: the result, taken over, or a refusal where that is
 * NULL. */
char *mcp_answer_text(const cJSON *request, cJSON *result);

/* The parameters of initialize. */
cJSON *mcp_hello(void);

/* Adds what each request without a session says about its version and its client. */
void mcp_add_meta(cJSON *params, const char *version);

/* Whether this client speaks that version of the protocol by a handshake, or without a session. */
bool mcp_version_known(const char *version);
bool mcp_version_is_stateless(const char *version);

enum mcp_kind {
	MCP_NO_MESSAGE, /* JSON, but no message of JSON-RPC */
	MCP_REQUEST,
	MCP_NOTIFICATION,
	MCP_REPLY
};
enum mcp_kind mcp_kind_of(const cJSON *message);

/* The id of a reply to one of our requests; -1 when it is none. */
int64_t mcp_reply_id(const cJSON *reply);

/* What a failed reply says, for people: "tool x is unknown (-32602)". */
void mcp_error_text(const cJSON *error, char out[MCP_WHY_SIZE]);

/*
 * The output of a tools/call result, a new tree: structuredContent where there is one (of an error
 * only where there is no content); the text, where the content is nothing else; otherwise an array
 * of {type, …}.
 */
cJSON *mcp_output(const cJSON *result, bool *is_error);

/* An empty list to be filled, with one holder. */
struct mcp_tools *mcp_tools_new(void);

/* Adds the tools of one tools/list result.  What is no tool is left out, with a line in the log; so
 * is, where arguments go into headers (in_headers), a tool with wrong marks.  False when there are
 * too many. */
bool mcp_tools_add(
    struct mcp_tools *tools, const cJSON *result, const char *server, bool in_headers);

#endif
