/* SPDX-License-Identifier: ISC */
/*
 * A chore: a thread for what a process does beside its requests and runs.  It takes no signals,
 * needs little stack, sleeps on a monotonic clock, and ends when asked.  Its lock may guard what it
 * shares with its owner.
 */
#ifndef AGENTGRAPH_BASE_OS_CHORE_H
#define AGENTGRAPH_BASE_OS_CHORE_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct chore {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool stopping; /* guarded by lock */
};

/* Starts fn(arg). */
bool chore_start(struct chore *chore, void *(*fn)(void *arg), void *arg, struct error *err);

/* Asks the thread to end and waits until it has. */
void chore_stop(struct chore *chore);

/* With the lock held: sleeps until woken or until clock_monotonic_ms reaches due; negative: until
 * woken. */
void chore_sleep(struct chore *chore, int64_t due);

/* Sleeps for so long, or until woken; false when the thread is to end. */
bool chore_pause(struct chore *chore, int64_t ms);

/* Opens <state_dir>/<name>, a file for work that only one process of an instance does: the one that
 * has the file's lock is in office.  -1 with err set. */
int chore_office(const char *state_dir, const char *name, struct error *err);

/* Whether this process is in office, or gets in now; it stays until it closes the file. */
bool chore_in_office(int office);

#endif
