/* SPDX-License-Identifier: ISC */
/* What a request says of itself before its body: CGI's variables (RFC 3875), looked up once. */
#ifndef AGENTGRAPH_FCGI_REQUEST_HEAD_H
#define AGENTGRAPH_FCGI_REQUEST_HEAD_H

#include "base/arena.h"

#include <stdbool.h>

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
	const char *traceparent;
	const char *prefix;   /* the path below which the web server has the service */
	const char *internal; /* set by the web server's configuration alone */
};

/* params is CGI's array of "NAME=value", from which the texts are borrowed; "" where there is none.
 */
void head_read(struct head *head, char *const *params);

/* Came over https, or a proxy says so (doc/protocol.md#headers). */
bool head_is_https(const struct head *head);

/* The address under which the client knows the service, without a slash at its end. */
const char *head_base(const struct head *head, struct arena *a);

#endif
