/* SPDX-License-Identifier: ISC */
/*
 * The runs in the background that one process executes (doc/inside.md#a-background-run).
 *
 * Its slots limit how many runs execute at a time; each of these has a thread.  Another thread, the
 * dispatcher, sleeps until the queue has moved or a job is due, claims what is ready and hands it
 * over.  A run that ends claims the next job for its own thread.  A run that must wait for a busy
 * conversation gives its slot up meanwhile, so that it holds up no other.
 *
 * A short run spends most of its time waiting for the disk.  So while runs are short, each gives
 * its slot up when its nodes have ended, and twice as many jobs as there are slots are in hand: the
 * nodes of some run while the ends of others are written, many in one transaction.  A job that was
 * claimed ahead and gets no slot soon, because runs take long again, goes back into the queue.
 */
#ifndef AGENTGRAPH_RUNNER_RUNNER_H
#define AGENTGRAPH_RUNNER_RUNNER_H

#include "service/service.h"

#include <poll.h>
#include <stddef.h>

struct runner;

/* Starts claiming jobs.  NULL with err set when that is not possible. */
struct runner *runner_new(struct service *service, unsigned slots, struct error *err);

/* Executes one job alone, whose process was lost, and is done when that run is over.  If somebody
 * else has claimed it meanwhile it is done at once. */
struct runner *runner_new_alone(struct service *service, int64_t row, struct error *err);

/* Leaves so many slots to the retries; runs that have a slot keep it.  Returns how many do. */
unsigned runner_reserve(struct runner *r, unsigned slots);

/* Claims nothing more from now on; runs in hand go on. */
void runner_stop(struct runner *r);

/* Puts runs in hand back into the queue after the node that they are at. */
void runner_yield(struct runner *r);

/* Puts what is still in hand back as it is.  The process must end at once then: its threads go on
 * with their nodes, of which nothing is kept. */
void runner_abandon(struct runner *r);

/* A descriptor that becomes readable when nothing is in hand any more, after runner_stop or when
 * the one job is over. */
int runner_done(const struct runner *r);

/* Only after runner_done. */
void runner_free(struct runner *r);

/*
 * ---- retries.c: runs whose process has died are taken up again, each in a process of its own.  If
 * a node made the process die, it takes no other run with it this time.
 */

struct retries;

/* At most `most` processes at a time; they get this process's arguments, argv, and "--job ROW". */
struct retries *retries_new(struct service *service, unsigned most, char *const *argv);

/* Looks for lost runs and for processes that have ended.  Returns how many slots the retries
 * want. */
unsigned retries_look(struct retries *t);

/* Starts as many processes as there are slots for; `busy` slots have runs of this process. */
void retries_start(struct retries *t, unsigned busy);

/* Fills fds with a descriptor for each process, readable when that has ended; returns their
 * number. */
size_t retries_polled(const struct retries *t, struct pollfd *fds);

/* Tells the processes to end. */
void retries_stop(struct retries *t);

/* Reaps processes that have ended; returns how many have not. */
unsigned retries_reap(struct retries *t);

void retries_free(struct retries *t);

#endif
