/* SPDX-License-Identifier: ISC */
/* The life of one request: the checks of doc/protocol.md#order-of-checks in their order, then
 * the route's handler. */
#ifndef AGENTGRAPH_FCGI_SERVER_H
#define AGENTGRAPH_FCGI_SERVER_H

#include "access/limit.h"
#include "access/ticket/ticket.h"
#include "fcgi/request/client.h"
#include "fcgi/request/hygiene.h"
#include "fcgi/request/response.h"
#include "fcgi/route/route.h"
#include "service/service.h"

#include <stdatomic.h>

/* What all threads share.  It is immutable while requests are served, but for open: until that is
 * set nobody looks at the key, or at what the service stores. */
struct server {
	struct service *service;
	_Atomic bool open; /* the database and the key are there */
	struct hygiene *hygiene;
	const struct route_table *routes;
	struct ticket_key ticket_key; /* signs for the WebSockets that are let in */
	const char *document;         /* OpenAPI, as text */
	const char *pages;            /* directory of the pages' files, or NULL */
	const char *console; /* the folder in the addresses of the console's files (pages.h) */
};

/* What is known of a request whose body has not come yet. */
struct admission {
	struct limit_verdict limit;
	char address[ADDRESS_SIZE]; /* the client's, shortened as the rate limit counts addresses */
	int64_t most;               /* bytes of the body to wait for; -1: none is wanted */
};

/*
 * Does the checks that need no body, before one is waited for.  False when they failed; the request
 * was answered then.  Otherwise it goes on to server_answer, once its body is there or given up.
 */
bool server_admit(const struct server *server, struct client *client, struct response *buffers,
    struct admission *admission);

/* Serves one request, whatever it holds.  buffers belong to the calling thread.  admission is what
 * server_admit filled, so that the request is not counted twice; NULL without that call. */
void server_answer(const struct server *server, struct client *client, struct response *buffers,
    const struct admission *admission);

/*
 * ---- internal.c: requests of the machine itself, which have no row in the table of routes.
 *
 * A request is internal when the web server's own configuration says so, by the FastCGI parameter
 * AGENTGRAPH_INTERNAL: a header of a client always arrives as HTTP_…, so no client can set it.
 * Whoever can connect to the socket may ask.
 */

struct request;

/* Answers an internal request: `metrics` with numbers in Prometheus's text format, others with
 * 404. */
void internal_answer(struct request *rq);

#endif
