/* SPDX-License-Identifier: ISC */
/*
 * The handshake of the two WebSocket routes (doc/protocol-sockets.md).
 *
 * This process does not speak WebSocket.  A request that is let in is answered with a ticket and an
 * internal redirect, by which the web server takes the client to agentgraph-relay; one that is
 * refused gets an ordinary answer, with the close code that it stands for.
 */
#ifndef AGENTGRAPH_FCGI_ADMISSION_UPGRADE_H
#define AGENTGRAPH_FCGI_ADMISSION_UPGRADE_H

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>

struct request;

/* Where the web server takes a handshake that is let in; the path of the route follows.  The
 * FastCGI parameter, which no client can set, replaces it. */
#define UPGRADE_REDIRECT "/_agentgraph/relay"
#define UPGRADE_PARAM "AGENTGRAPH_RELAY"

/* What a WebSocket's client presents. */
struct upgrade_offer {
	const char *credential;  /* the bearer token, or NULL */
	const char *subprotocol; /* to be echoed, or NULL */
};

/*
 * Looks for the credential in the order of doc/protocol-sockets.md#credentials: the Authorization
 * header; an offer of exactly two subprotocols of which the first is one of bearer_protocols; the
 * query's token.  In such an offer the first name is echoed, in any other one the first name of at
 * most 64 characters.  params is ended by NULL, query is raw; the texts live in the arena.
 */
void upgrade_offer(struct upgrade_offer *offer, char *const *params, const char *query,
    const struct string_list *bearer_protocols, struct arena *arena);

/* The credential of a handshake, or NULL. */
const char *upgrade_credential(struct request *rq);

/*
 * Whether the request asks for a WebSocket as it should (RFC 6455 4.2.1).  False with
 * UPGRADE_REQUIRED and the headers for that set, or with BAD_REQUEST when the key is malformed.
 */
bool upgrade_check(struct request *rq);

/* Whether the request is a handshake, whatever else may be wrong with it. */
bool upgrade_is_asked(const struct request *rq);

#endif
