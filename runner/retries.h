/* SPDX-License-Identifier: ISC */
/*
 * Runs whose process has died, taken up again in a process of their own: the node that it died of
 * takes no other run with it this time.
 */
#ifndef AGENTGRAPH_RUNNER_RETRIES_H
#define AGENTGRAPH_RUNNER_RETRIES_H

#include "service/service.h"

#include <poll.h>
#include <stddef.h>

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
