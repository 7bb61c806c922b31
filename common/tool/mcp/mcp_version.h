/* SPDX-License-Identifier: ISC */
/*
 * Words of the Model Context Protocol that both of its ends here use, the client of tool servers
 * (tool/mcp/mcp.h) and the server that the agent is (service/mcp/): versions, the names of what
 * every message may have, and the codes of JSON-RPC 2.0.
 */
#ifndef AGENTGRAPH_TOOL_MCP_MCP_VERSION_H
#define AGENTGRAPH_TOOL_MCP_MCP_VERSION_H

#include <stdbool.h>
#include <stddef.h>

struct mcp_version {
	const char *name;
	bool stateless; /* no handshake: each request says its version and what its client can */
	bool served;    /* to hosts by the agent; the others are only spoken to tool servers */
};

/* All of them, the latest first. */
extern const struct mcp_version mcp_versions[];
extern const size_t mcp_version_count;

/* NULL for a name that is none, or NULL. */
const struct mcp_version *mcp_version_find(const char *name);

/* The latest with a handshake. */
#define MCP_LATEST_SESSION "2025-11-25"

/* ---- members of _meta */

#define MCP_META "io.modelcontextprotocol/"
#define MCP_META_VERSION MCP_META "protocolVersion"
#define MCP_META_CAPABILITIES MCP_META "clientCapabilities"
#define MCP_META_SERVER MCP_META "serverInfo"

/* ---- codes of errors */

enum mcp_code {
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_INTERNAL_ERROR = -32603,
	MCP_HEADER_MISMATCH = -32020,
	MCP_UNSUPPORTED_VERSION = -32022
};

#endif
