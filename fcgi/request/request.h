/* SPDX-License-Identifier: ISC */
/* One request while it is served, by one thread. */
#ifndef AGENTGRAPH_FCGI_REQUEST_REQUEST_H
#define AGENTGRAPH_FCGI_REQUEST_REQUEST_H

#include "base/arena.h"
#include "base/http/traceparent.h"
#include "base/id.h"
#include "base/os/clock.h"
#include "base/os/waiter.h"
#include "fcgi/request/client.h"
#include "fcgi/request/path.h"
#include "fcgi/request/response.h"
#include "fcgi/route/route.h"
#include "service/service.h"

#include <stdbool.h>

/* ---- head.c: what a request says of itself before its body: CGI's variables (RFC 3875), looked up
 * once. */

/* Values borrowed from the server's parameters, "" where there is none. */
struct head {
	const char *method;
	const char *uri;     /* REQUEST_URI: raw path and query */
	const char *address; /* of the web server's peer */
	const char *content_length;
	const char *content_type;
	const char *host;
	const char *origin;
	const char *cors_method;  /* Access-Control-Request-Method */
	const char *cors_headers; /* Access-Control-Request-Headers */
	const char *https;
	const char *scheme;
	const char *forwarded_proto;
	struct trace_headers trace;
	const char *prefix;   /* the path below which the web server has the service */
	const char *internal; /* set by the web server's configuration alone */
};

/* params is CGI's array of "NAME=value", from which the texts are borrowed;
 * "" where there is none. */
void head_read(struct head *head, char *const *params);

/* The value of any of CGI's variables; "" when there is none. */
const char *param_find(char *const *params, const char *name);

/* The index of the type that the header Accept names first, whatever the weights; -1 when it names
 * none of them.  An entry with a weight of 0 (RFC 9110, section 12.4.2) names nothing. */
int accept_first(const char *accept, const char *const *types, int count);

/* Whether the request came over https, or a proxy says so (doc/protocol.md#headers). */
bool head_is_https(const struct head *head);

/* The address under which the client knows the service, without a slash at its end. */
const char *head_base(const struct head *head, struct arena *a);

/* ---- the request */

struct run_ticket;
struct server;

struct request {
	const struct server *server;
	struct client *client;
	struct response *response; /* this thread's, reused from request to request */
	struct head head;
	enum method method;
	struct path path;
	struct route_match match;
	bool handshake;          /* it asks for a WebSocket, whatever else may be wrong with it */
	const cJSON *body;       /* NULL when the route takes none, or none came */
	const struct buf *lines; /* the body, with BODY_LINES */
	bool large;              /* the body was large, so memory is given back afterwards */
	const struct limit_verdict *counted; /* when its head came; NULL: it was not yet */
	int64_t length;                      /* of the body, as announced; -1: unknown */
	bool waited; /* the client comes back from a wait, and is not to wait again */
	const struct run_ticket *vouched; /* of that wait: who asked, and the rate limit; or NULL */
	bool asked;                       /* the credential was looked at, with this result: */
	struct identity identity;
	struct error refusal;       /* set when nobody is known by the credential */
	char address[ADDRESS_SIZE]; /* the client's, or "" before it was asked for */
	char id[UUID_SIZE];
	char time[ISO_TIME_SIZE];
	struct waiter waiter; /* the client, as the call knows it */
	struct call call;
};

#endif
