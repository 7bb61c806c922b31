/* SPDX-License-Identifier: ISC */
/*
 * The handshake of the two WebSocket routes (doc/protocol-sockets.md).
 *
 * Nobody here speaks WebSocket.  A request that is let in is answered with a ticket and an internal
 * redirect, by which the web server takes the client to agentgraph-relay; one that is refused gets
 * an ordinary answer, with the close code that it stands for.
 */
#ifndef AGENTGRAPH_FCGI_ADMISSION_UPGRADE_H
#define AGENTGRAPH_FCGI_ADMISSION_UPGRADE_H

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>

struct request;

/* Where the web server goes when a handshake is let in; the path of the route follows.  The
 * parameter, which no client can set, names another place. */
#define UPGRADE_REDIRECT "/_agentgraph/relay"
#define UPGRADE_PARAM "AGENTGRAPH_RELAY"

/* What a WebSocket's client presents. */
struct upgrade_offer {
	const char *credential;  /* the bearer token, or NULL */
	const char *subprotocol; /* to be echoed, or NULL */
};

/*
 * Looks in the order of doc/protocol-sockets.md#credentials: the Authorization header, an offer of
 * exactly two subprotocols of which the first is one of bearer_protocols, the query's token.  That
 * first one is echoed, and of any other offer the first name of at most 64 characters.  params is
 * ended by NULL, query is raw; what is found lives in the arena.
 */
void upgrade_offer(struct upgrade_offer *offer, char *const *params, const char *query,
    const struct string_list *bearer_protocols, struct arena *arena);

/* The credential of a handshake, or NULL. */
const char *upgrade_credential(struct request *rq);

/*
 * Whether the request asks for a WebSocket (RFC 6455 4.2.1).  Else false, with UPGRADE_REQUIRED and
 * the headers for it set, or BAD_REQUEST for a key that is none.
 */
bool upgrade_check(struct request *rq);

/* Whether it is a handshake, whatever else may be wrong with it. */
bool upgrade_is_asked(const struct request *rq);

#endif
