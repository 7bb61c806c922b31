/* SPDX-License-Identifier: ISC */
/* How often a client may ask: step 2 of doc/protocol.md#order-of-the-checks, and checks 1 and 3 of
 * doc/protocol-sockets.md#the-handshake. */
#ifndef AGENTGRAPH_FCGI_ADMISSION_LIMIT_H
#define AGENTGRAPH_FCGI_ADMISSION_LIMIT_H

#include <stdbool.h>

struct request;

/*
 * Counts the request, whose route has been looked for, and adds the headers that say so to its
 * answer.  False with RATE_LIMIT_EXCEEDED set when it is one too many.
 */
bool limit_admit(struct request *rq);

#endif
