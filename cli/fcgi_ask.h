/* SPDX-License-Identifier: ISC */
/* A request straight to the workers, without a web server. */
#ifndef AGENTGRAPH_CLI_FCGI_ASK_H
#define AGENTGRAPH_CLI_FCGI_ASK_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * Asks for path by GET at the FastCGI socket; internal is what AGENTGRAPH_INTERNAL says, or NULL.
 * Appends the answer with its head.  True for a whole answer with status 200, which must come
 * within seconds.
 */
bool fcgi_ask(const char *socket_path, const char *path, const char *internal, struct buf *answer);

#endif
