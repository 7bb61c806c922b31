/* How often a client may ask: step 2 of WIRE 1.4, and checks 1 and 3 of WIRE 4.9. */
#ifndef AGENTGRAPH_FCGI_LIMIT_H
#define AGENTGRAPH_FCGI_LIMIT_H

#include <stdbool.h>

struct request;

/* The client's address, in its normal form. */
const char *limit_address(struct request *rq);

/*
 * Counts the request, whose route has been looked for, and adds the headers that say so to its
 * answer.  False with RATE_LIMIT_EXCEEDED set when it is one too many.
 */
bool limit_admit(struct request *rq);

#endif
