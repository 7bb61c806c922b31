/* SPDX-License-Identifier: ISC */
/* Who asks, and whether they may: steps 6 and 7 of doc/protocol.md#order-of-checks. */
#ifndef AGENTGRAPH_FCGI_ADMISSION_ADMIT_H
#define AGENTGRAPH_FCGI_ADMISSION_ADMIT_H

#include <stdbool.h>

struct request;

/* Checks the credential, unless the route is public; false with the call's error set. */
bool admit_user(struct request *rq);

/* The user whose credential it is, whatever the route; NULL when there is none or it is no good.
 * What is wrong with it is told by admit_user, which does not check it a second time. */
const char *admit_verified_user(struct request *rq);

/*
 * Whether the user has the permission of the route's row for the thread, memory or file that the
 * path or the body names.  The body may be NULL: there is none, or it does not parse.  False with
 * the call's error set.
 */
bool admit_action(struct request *rq);

/* Step 8: whether what the route needs is configured; false with the call's error set. */
bool admit_feature(struct request *rq);

/* ---- caller.c: where a request comes from. */

/* The client's address, in its normal form. */
const char *caller_address(struct request *rq);

/*
 * ---- limit.c: how often a client may ask: step 2 of doc/protocol.md#order-of-checks, and
 * checks 1 and 3 of doc/protocol-sockets.md#the-handshake.
 */

/*
 * Counts the request and adds the headers of the rate limit to its answer; the route has been
 * looked for by then.  False with RATE_LIMIT_EXCEEDED set when it is one too many.
 */
bool limit_admit(struct request *rq);

#endif
