/* SPDX-License-Identifier: ISC */
/*
 * What a request without a session repeats in headers of HTTP, so that proxies on the way can act
 * on it: its method, the name of the tool, and the arguments that the tool's schema marks with
 * x-mcp-header.
 */
#ifndef AGENTGRAPH_TOOL_MCP_MCP_HEADERS_H
#define AGENTGRAPH_TOOL_MCP_MCP_HEADERS_H

#include <cjson/cJSON.h>

/* The headers of a request, an object of strings; parameters is the tool's schema, or NULL. */
cJSON *mcp_headers_new(const char *method, const cJSON *params, const cJSON *parameters);

/* What is wrong with the marks of a tool's schema, a static text, or NULL; such a tool is not to be
 * offered. */
const char *mcp_headers_fault(const cJSON *parameters);

#endif
