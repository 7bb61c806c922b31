/* SPDX-License-Identifier: ISC */
/*
 * The runs in the background that one process executes (doc/inside.md#a-run-in-the-background).
 *
 * There are so many slots, and a thread for each run that has one.  A thread of its own sleeps
 * until the queue has moved or something is due, claims what is ready and hands it over; the end of
 * a run claims the next one for its thread.  A run that waits for a busy thread gives its slot up
 * meanwhile, so that it holds up no other.
 *
 * A short run waits for the disk most of its time.  So while runs are short, one gives its slot up
 * when its nodes have ended, and as many jobs again are in hand as there are slots: these nodes run
 * while the ends of those are written, many in one transaction.  A job that gets no slot soon, as
 * runs take long again, goes back.
 */
#ifndef AGENTGRAPH_RUNNER_RUNNER_H
#define AGENTGRAPH_RUNNER_RUNNER_H

#include "service/service.h"

#include <poll.h>
#include <stddef.h>

struct runner;

/* Starts claiming what is ready.  NULL with err set. */
struct runner *runner_new(struct service *service, unsigned slots, struct error *err);

/* The same for one job alone, whose attempt was lost; it is over when that is.  Where somebody else
 * has it meanwhile there is nothing to do. */
struct runner *runner_new_alone(struct service *service, int64_t row, struct error *err);

/* So many slots are somebody else's; those that have a run keep it.  How many runs have one. */
unsigned runner_reserve(struct runner *r, unsigned slots);

/* From now on nothing more is claimed; runs in hand go on. */
void runner_stop(struct runner *r);

/* Runs in hand go back into the queue after the node that they are at. */
void runner_yield(struct runner *r);

/* What is still in hand goes back as it is.  The process is to end at once then: its threads go on
 * to the end of their nodes, of which nothing is kept. */
void runner_abandon(struct runner *r);

/* A descriptor that becomes readable when nothing is in hand any more, after runner_stop or when
 * the one job is over. */
int runner_done(const struct runner *r);

/* Only after runner_done. */
void runner_free(struct runner *r);

/*
 * ---- retries.c: runs whose process has died, taken up again in a process of their own: the node
 * that it died of takes no other run with it this time.
 */

struct retries;

/* argv are this process's own arguments, which the others get too, with "--job ROW". */
struct retries *retries_new(struct service *service, unsigned most, char *const *argv);

/* Looks what the dead have left, for the first time too, and at who has ended.  So many slots are
 * wanted for that. */
unsigned retries_look(struct retries *t);

/* Starts what has room: busy slots have runs of this process. */
void retries_start(struct retries *t, unsigned busy);

/* Descriptors that become readable when one of the processes ends; their number. */
size_t retries_polled(const struct retries *t, struct pollfd *fds);

/* Tells them to end, as this process was told. */
void retries_stop(struct retries *t);

/* How many have not ended. */
unsigned retries_reap(struct retries *t);

void retries_free(struct retries *t);

#endif
