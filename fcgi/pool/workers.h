/* SPDX-License-Identifier: ISC */
/*
 * The threads of one process: each accepts a connection, serves its one request and closes it.  One
 * whose body is not all there goes to the intake thread when its head is found good, and comes back
 * to any thread when the body is there.
 *
 * One at a time waits for the listening socket, which the other processes of the pool share, and
 * for the end; the processes take connections in turn.  fcgiapp.h is known here alone.
 */
#ifndef AGENTGRAPH_FCGI_POOL_WORKERS_H
#define AGENTGRAPH_FCGI_POOL_WORKERS_H

#include "base/error.h"
#include "fcgi/server.h"

#include <stdbool.h>

struct workers;

/* Starts the threads on the listening, non-blocking socket.  Signals should be blocked by then: the
 * threads inherit that.  When more than their part wait for clients that do not read, the answer to
 * the one who has read nothing for the longest is broken off.  NULL with err set on failure. */
struct workers *workers_start(
    const struct server *server, int listener, unsigned threads, struct error *err);

/*
 * How many of the threads may wait for one kind of others: until a run of another request has
 * ended, or until a client reads on.  A quarter, at least four, at most half; the rest answers what
 * waits for nothing.
 */
unsigned workers_part(unsigned threads);

/* From now on nothing more is accepted; requests in hand go on. */
void workers_stop(struct workers *workers);

/* A descriptor that becomes readable when the last thread has finished. */
int workers_done(const struct workers *workers);

/* How many threads are left. */
unsigned workers_running(const struct workers *workers);

/* Only after workers_done. */
void workers_free(struct workers *workers);

#endif
