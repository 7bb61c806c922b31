/* SPDX-License-Identifier: ISC */
/*
 * Requests that were not there as a whole when they were looked at.  One whose head passes the
 * checks takes a place among those that wait, goes to the intake's thread until its body is there,
 * and then to the next thread that is free.
 */
#ifndef AGENTGRAPH_FCGI_POOL_SLOW_H
#define AGENTGRAPH_FCGI_POOL_SLOW_H

#include "fcgi/pool/connection.h"

struct slow;

/* All slow requests of a process. */
struct slows {
	const struct server *server;
	struct balance *balance;
	struct holdups *holdups;
	struct intake *intake;
	unsigned room;        /* how many may wait */
	int ready;            /* eventfd, a semaphore: how many have arrived */
	pthread_mutex_t lock; /* guards the rest */
	struct slow *arrived; /* the next first */
	struct slow **arrived_end;
	unsigned count;         /* requests that wait, or have arrived */
	unsigned staying;       /* threads in slows_last, which stay for requests that arrive */
	pthread_cond_t changed; /* signalled when arrived or count change */
};

/* server, balance and holdups are borrowed.  False with err set; then there is nothing to
 * release. */
bool slows_init(struct slows *slows, const struct server *server, struct balance *balance,
    struct holdups *holdups, struct error *err);

/* Takes what is there of the request on fd, and fd with it.  The guards come first, so that whoever
 * may not send a body is told so before it is taken.  The request is answered here, or later when
 * its body has arrived. */
void slows_serve(struct slows *slows, int fd, struct response *buffers);

/* The next request that has arrived, for slow_answer; NULL when there is none. */
struct slow *slows_next(struct slows *slows);

/* When the workers have been stopped: waits for a request that still arrives.  NULL when this
 * thread is not needed for any. */
struct slow *slows_last(struct slows *slows);

/* Whether slows_next would return a request. */
bool slows_have_arrived(struct slows *slows);

/* How many requests wait, or have arrived and were not answered yet. */
unsigned slows_count(struct slows *slows);

/* Answers the request and ends it. */
void slow_answer(struct slows *slows, struct slow *slow, struct response *buffers);

/* Only when no request is left. */
void slows_release(struct slows *slows);

#endif
