/* SPDX-License-Identifier: ISC */
/*
 * A client of MCP servers (Model Context Protocol; versions 2026-07-28, 2025-11-25, 2025-06-18,
 * 2025-03-26 and 2024-11-05): tools that another program offers, over its standard streams or over
 * streamable HTTP.  A server over HTTP is first asked without a session (server/discover), and by a
 * handshake when it does not understand; a program the other way round, because older ones end when
 * they are asked anything before the handshake.
 *
 * A process has one session with each server, which all its threads share.  The session begins when
 * it is first needed.  When the server dies, calls that are in its hands fail; the session begins
 * anew at the next need, after a pause that doubles while it fails (0.5 to 30 seconds).  Servers
 * that are programs end with the process, whatever ends it; they are given little environment
 * (tool/command.h), and what they write to standard error, or to standard output without it being a
 * message, goes to the log.  Requests of servers: ping and roots/list (no roots) are answered, a
 * question (elicitation/create) goes to the caller whose call it came with, others are refused.
 */
#ifndef AGENTGRAPH_TOOL_MCP_MCP_H
#define AGENTGRAPH_TOOL_MCP_MCP_H

#include "base/http/http.h"
#include "tool/command.h"
#include "tool/schema.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define MCP_WHY_SIZE 512

struct mcp_server;

/* How tokens for a server are had (tool/mcp/mcp_oauth.c).  All texts are malloc'd. */
struct mcp_oauth_settings {
	char *client_id, *client_secret; /* NULL: no tokens */
	char *scope;                     /* NULL: what the server asks for */
	char *issuer;    /* the only issuer that may be asked; NULL: any that the server names */
	char *token_url; /* NULL: the server says */
};

/* How a server is reached.  All texts are malloc'd. */
struct mcp_settings {
	char *name;             /* for the log */
	bool named;             /* somebody chose the name; else it says where the server is */
	struct command command; /* path is NULL for a server that is reached over HTTP */
	char *url;
	struct http_header *headers; /* sent with each request; not logged */
	size_t header_count;
	struct mcp_oauth_settings oauth;
	int64_t timeout_ms; /* of one call */
};

/* Takes over what settings own.  Nothing is started yet. */
struct mcp_server *mcp_server_new(const struct mcp_settings *settings);

/* Ends the session; no other call may be going on. */
void mcp_server_free(struct mcp_server *server);

/* As its settings have it; borrowed. */
const char *mcp_server_name(const struct mcp_server *server);

/* What models and clients are told of it, which is not where it is. */
const char *mcp_server_shown(const struct mcp_server *server);

/* How long to wait: until the deadline (clock_monotonic_ms), or until stop, which is asked several
 * times a second, says so; stop may be NULL. */
struct mcp_wait {
	int64_t deadline_ms;
	bool (*stop)(void *arg);
	void *arg;
};

struct mcp_tool {
	char *name;
	char *description;
	cJSON *parameters;
	struct schema *schema; /* NULL when the server's schema could not be understood */
	_Atomic bool told;     /* its faults are in the log already, perhaps from an earlier list */
};

/* The tools of a server at one time.  Immutable but for told, and shared by who holds it. */
struct mcp_tools {
	_Atomic unsigned holders;
	struct mcp_tool *items;
	size_t count;
};

/* The tools that the server offers now, to be released; NULL when it cannot be reached in time,
 * with why: a sentence part for people, without secrets. */
struct mcp_tools *mcp_server_tools(
    struct mcp_server *server, const struct mcp_wait *wait, char why[MCP_WHY_SIZE]);
void mcp_tools_release(struct mcp_tools *tools);

/* Whether the latest attempt at a session failed, and it is too early for another one. */
bool mcp_server_is_down(struct mcp_server *server);

/* The tool of that name, as the server gives it, or NULL; valid while tools is held. */
const struct mcp_tool *mcp_tools_get(const struct mcp_tools *tools, const char *name);

struct mcp_call {
	const char *tool;
	const cJSON *args;
	const struct mcp_wait *wait;

	/* Asks what the server asks (the parameters of elicitation/create), on the thread that
	 * called.  True with *answer, its result, a new tree; false gives the call up.  NULL:
	 * questions are cancelled. */
	bool (*ask)(const cJSON *question, cJSON **answer, void *arg);
	void *arg;
};

/*
 * Calls a tool.  True with *output, the result, a new tree.  False with *output, the result of a
 * failure, or with NULL there and why.  When the time is up, or stop or ask says so, the server is
 * told to give up.
 */
bool mcp_server_call(
    struct mcp_server *server, const struct mcp_call *call, cJSON **output, char why[MCP_WHY_SIZE]);

#endif
