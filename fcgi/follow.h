/* SPDX-License-Identifier: ISC */
/*
 * Runs that are followed, and results that are waited for.
 *
 * No thread of the pool spends its time on either: a request that is let in is answered with a
 * ticket and an internal redirect, by which the web server takes the client to agentgraph-follow.
 * After a wait another redirect brings the client back, with a ticket that says who asked.
 */
#ifndef AGENTGRAPH_FCGI_FOLLOW_H
#define AGENTGRAPH_FCGI_FOLLOW_H

#include "access/ticket/run_ticket.h"

#include <stdbool.h>

struct request;
struct run_record;
struct run_ticket;

/* Where the web server takes the client; the FastCGI parameter, which no client can set, replaces
 * it. */
#define FOLLOW_REDIRECT "/_agentgraph/follow"
#define FOLLOW_PARAM "AGENTGRAPH_FOLLOW"

/* The parameter in which the web server hands over the ticket of a wait that is over. */
#define FOLLOW_TICKET_PARAM "AGENTGRAPH_TICKET"

/* Reads that ticket.  If there is one rq->waited is set, and if it is good and for this run
 * rq->vouched as well. */
void follow_read_ticket(struct request *rq);

/* A ticket for the run that the path names, without the members that only some kinds have. */
struct run_ticket follow_ticket(
    const struct request *rq, enum run_ticket_kind kind, const struct run_record *record);

/* Answers with a redirect to the stream of a run. */
void follow_stream(struct request *rq, const struct run_ticket *ticket);

/* Answers with a redirect to a wait, of at most so many seconds, for the end of the run that the
 * path names; cancels and silent are as in struct run_ticket. */
struct follow_wish {
	double seconds;
	bool cancels, silent;
};
void follow_wait(struct request *rq, const struct follow_wish *wish);

/* Answers with a redirect to a stream that tells of the run as spec says (a2a_follower_new). */
void follow_task(struct request *rq, const struct run_record *record, const char *spec);

#endif
