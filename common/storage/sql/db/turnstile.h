/* SPDX-License-Identifier: ISC */
/*
 * The order of the processes before SQLite's write lock, and what they tell each other about the
 * log.
 *
 * SQLite's lock is a race: with many writers some starve for seconds.  Two robust mutexes make a
 * queue of it that is fair enough: who has `next` is the only one to wait for `turn`, so nobody is
 * overtaken more than once by the same process after reaching `next`.  A process that dies with
 * either lock leaves nothing to repair, because SQLite rolls back an unfinished transaction by
 * itself.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_DB_TURNSTILE_H
#define AGENTGRAPH_STORAGE_SQL_DB_TURNSTILE_H

#include "base/os/shared.h"

#include <stdatomic.h>
#include <stdint.h>

/* The layout of the regions of databases: SHARED_WRITER, SHARED_FILE_RECORDS, SHARED_STORE. */
struct turnstile {
	struct shared_head head;
	_Atomic uint32_t wal_keeper; /* slot of the process that keeps the log short, 0 for none */
	_Atomic uint32_t log_frames; /* length of the log after the latest commit */
};

/* NULL is fine: of a database that has such a queue itself. */
static inline void turnstile_enter(struct turnstile *t)
{
	pthread_mutex_t *next, *turn;

	if (!t)
		return;
	next = &t->head.mutex[0];
	turn = &t->head.mutex[1];

	shared_lock(next);
	shared_lock(turn);
	shared_unlock(next);
}

static inline void turnstile_leave(struct turnstile *t)
{
	if (t)
		shared_unlock(&t->head.mutex[1]);
}

#endif
