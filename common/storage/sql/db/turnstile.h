/* SPDX-License-Identifier: ISC */
/*
 * The order of the processes before SQLite's write lock, and what they tell each other about the
 * log.
 *
 * SQLite's lock is a race: with many writers some starve for seconds.  Two robust mutexes make a
 * queue of it that is fair enough: whoever has `next` is the only one that waits for `turn`, so
 * after reaching `next` nobody is overtaken more than once by the same process.  A process that
 * dies with either lock leaves nothing to repair, because SQLite rolls back an unfinished
 * transaction by itself.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_DB_TURNSTILE_H
#define AGENTGRAPH_STORAGE_SQL_DB_TURNSTILE_H

#include "base/os/shared.h"

#include <stdatomic.h>
#include <stdint.h>

/* The layout of the regions of databases: SHARED_WRITER, SHARED_FILE_RECORDS, SHARED_STORE. */
struct turnstile {
	struct shared_head head;
	/* slot of the process that keeps the log short; 0: none does */
	_Atomic uint32_t wal_keeper;
	_Atomic uint32_t log_frames; /* length of the log after the latest commit */
};

/* NULL is fine: the database has a queue of its own. */
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
