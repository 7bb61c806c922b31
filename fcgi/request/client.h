/* SPDX-License-Identifier: ISC */
/*
 * The other side of one request: what the web server hands over, and where the answer goes.
 *
 * Only the pool knows FastCGI.  Everything else sees this, so that tests can serve a request
 * without a socket.
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_CLIENT_H
#define AGENTGRAPH_FCGI_REQUEST_CLIENT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct client {
	char **params; /* "NAME=value", ended by NULL: CGI's variables */

	/* Up to size bytes of the body; 0 at its end, -1 when the rest will never come. */
	ssize_t (*read)(struct client *client, char *out, size_t size);

	/* Why the rest of the body will never come; ERR_NONE when nothing is known. */
	enum error_kind lacking;

	/* These return nothing, because the service goes on even if the client has left. */
	void (*write)(struct client *client, const char *data, size_t len);
	void (*flush)(struct client *client);

	/* Whether the client has left for good; NULL where that cannot be known. */
	bool (*gone)(struct client *client);

	/* Breaks the connection, so that nobody takes what was sent for the whole answer. */
	void (*abort)(struct client *client);
};

#endif
