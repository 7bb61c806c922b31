/* SPDX-License-Identifier: ISC */
/*
 * Tokens for MCP servers that ask for them: OAuth's client credentials (RFC 6749, 4.4).
 *
 * Where a token is had is what the settings say, or what the server says when it refuses a request:
 * it names its metadata (RFC 9728), that its authorization server, and that one's metadata (RFC
 * 8414) where tokens are given.  A token is asked for when one is needed, kept until it ends, and
 * had anew when the server refuses it.  No text here has a secret in it.
 */
#ifndef AGENTGRAPH_TOOL_MCP_MCP_OAUTH_H
#define AGENTGRAPH_TOOL_MCP_MCP_OAUTH_H

#include "tool/mcp/mcp.h"

struct mcp_oauth;

/* Takes over what settings own; url is the server's, borrowed. */
struct mcp_oauth *mcp_oauth_new(const struct mcp_oauth_settings *settings, const char *url);
void mcp_oauth_free(struct mcp_oauth *oauth);

/* The value of Authorization, malloc'd; NULL while none is known to be needed, or with why where
 * none can be had ("" else). */
char *mcp_oauth_header(
    struct mcp_oauth *oauth, const struct mcp_wait *wait, char why[MCP_WHY_SIZE]);

/* The server refused a request that came with that header, or NULL, and challenge is its
 * WWW-Authenticate, or NULL.  True when another token is there to try; else false with why. */
bool mcp_oauth_refused(struct mcp_oauth *oauth, const char *header, const char *challenge,
    const struct mcp_wait *wait, char why[MCP_WHY_SIZE]);

/* A parameter of a challenge, malloc'd; NULL when it is not there. */
char *mcp_challenge_get(const char *challenge, const char *name);

#endif
