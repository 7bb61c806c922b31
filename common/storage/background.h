/* SPDX-License-Identifier: ISC */
/*
 * A thread for what a process does beside its requests and runs: it takes no signals, needs little
 * stack, sleeps on a monotonic clock, and ends when asked.  Its lock is there for what it shares
 * with its owner.
 */
#ifndef AGENTGRAPH_STORAGE_BACKGROUND_H
#define AGENTGRAPH_STORAGE_BACKGROUND_H

#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct background {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool stopping; /* guarded by lock */
};

/* Starts fn(arg). */
bool background_start(struct background *b, void *(*fn)(void *arg), void *arg, struct error *err);

/* Asks the thread to end and waits until it has. */
void background_stop(struct background *b);

/* With the lock held: sleeps until woken or until clock_monotonic_ms reaches due; negative: until
 * woken. */
void background_sleep(struct background *b, int64_t due);

/* Work that one process of an instance does has a file, and who has its lock does the work: opens
 * <state_dir>/<name> for background_in_office.  -1 with err set. */
int background_office(const char *state_dir, const char *name, struct error *err);

/* Whether this process has the lock, or got it now; it keeps it until it closes the file. */
bool background_in_office(int office);

#endif
