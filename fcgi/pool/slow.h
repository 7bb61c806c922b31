/* SPDX-License-Identifier: ISC */
/*
 * Requests that were not there whole when they were looked at.  One whose head is found good gets a
 * place among those that wait, goes to the intake thread until its body is there, and then to any
 * thread that asks for the next.
 */
#ifndef AGENTGRAPH_FCGI_POOL_SLOW_H
#define AGENTGRAPH_FCGI_POOL_SLOW_H

#include "fcgi/pool/connection.h"

struct slow;

/* Those of a process. */
struct slows {
	const struct server *server;
	struct balance *balance;
	struct holdups *holdups;
	struct intake *intake;
	unsigned room;        /* for requests that wait */
	int ready;            /* eventfd: counts arrived */
	pthread_mutex_t lock; /* guards the rest */
	struct slow *arrived; /* the next first */
	struct slow **arrived_end;
	unsigned count;         /* requests that wait, or have arrived */
	unsigned staying;       /* threads that stay for them, when the others end */
	pthread_cond_t changed; /* arrived or count, once the workers have been stopped */
};

/* server, balance and holdups are borrowed.  False with err set; then it is not to be released. */
bool slows_init(struct slows *slows, const struct server *server, struct balance *balance,
    struct holdups *holdups, struct error *err);

/* Takes what is there of the request on fd, which goes with it.  The guards first: who may not send
 * a body is told so before it is taken.  The answer is given now, or when the body has come. */
void slows_serve(struct slows *slows, int fd, struct response *buffers);

/* The next one that has arrived, for slow_answer; or NULL. */
struct slow *slows_next(struct slows *slows);

/* When the workers have been stopped: one that still arrives, or NULL for a thread that is not
 * needed for any. */
struct slow *slows_last(struct slows *slows);

/* Whether there is a next one. */
bool slows_have_arrived(struct slows *slows);

/* How many wait, or have arrived. */
unsigned slows_count(struct slows *slows);

/* Answers the request and ends it. */
void slow_answer(struct slows *slows, struct slow *slow, struct response *buffers);

/* Only when none is in it. */
void slows_release(struct slows *slows);

#endif
