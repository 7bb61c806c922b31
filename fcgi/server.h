/* SPDX-License-Identifier: ISC */
/* The life of one request: the checks of doc/protocol.md#order-of-the-checks in their order, then
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

/* What all threads share; immutable while requests are served, but for open, before which nobody
 * looks at the key and what the service stores. */
struct server {
	struct service *service;
	_Atomic bool open; /* the database is there, and so is the key */
	struct hygiene *hygiene;
	const struct route_table *routes;
	struct ticket_key ticket_key; /* signs for the WebSockets that are let in */
	const char *document;         /* OpenAPI, as text */
	const char *pages;            /* directory of the pages' files, or NULL */
	const char *console;          /* what the console's files are called after (pages.h) */
};

/* What is known of a request whose body has not come yet. */
struct admission {
	struct limit_verdict limit;
	char address[ADDRESS_SIZE]; /* whose it is, as the rate limit counts addresses */
	int64_t most;               /* bytes of the body to wait for; -1: none is wanted */
};

/*
 * The checks that need no body, before one is waited for.  False: they failed, and the request was
 * answered.  Else it goes to server_answer as soon as there is something to say.
 */
bool server_admit(const struct server *server, struct client *client, struct response *buffers,
    struct admission *admission);

/* Serves one request, whatever it holds.  buffers belong to the calling thread.  admission is that
 * of server_admit, so that the request is counted once, or NULL. */
void server_answer(const struct server *server, struct client *client, struct response *buffers,
    const struct admission *admission);

/*
 * ---- internal.c: what is for the machine itself and stands in no table of routes.
 *
 * A request is internal when the web server's own configuration says so, by the FastCGI parameter
 * AGENTGRAPH_INTERNAL: a header of a client always arrives as HTTP_…, so no client can set it.
 * Whoever can connect to the socket may ask.
 */

struct request;

/* Answers it: the value `metrics` with numbers in Prometheus's text format, any other with 404. */
void internal_answer(struct request *rq);

#endif
