/* SPDX-License-Identifier: ISC */
/* The life of one request: the checks of doc/protocol.md#order-of-the-checks in their order, then
 * the route's handler. */
#ifndef AGENTGRAPH_FCGI_SERVER_H
#define AGENTGRAPH_FCGI_SERVER_H

#include "access/ticket.h"
#include "client.h"
#include "hygiene.h"
#include "response.h"
#include "route.h"
#include "service/service.h"

/* What all threads share; immutable while requests are served. */
struct server {
	struct service *service;
	struct hygiene *hygiene;
	const struct route_table *routes;
	struct ticket_key ticket_key; /* signs for the WebSockets that are let in */
	const char *document;         /* OpenAPI, as text */
	const char *pages;            /* directory of the pages' files, or NULL */
};

/* Serves one request, whatever it holds.  buffers belong to the calling thread. */
void server_answer(const struct server *server, struct client *client, struct response *buffers);

#endif
