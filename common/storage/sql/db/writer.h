/* SPDX-License-Identifier: ISC */
/*
 * The one write connection of a process, shared by its threads.
 *
 * Whoever comes while nobody writes becomes the leader: it takes what has queued up, its own unit
 * first, executes all of it in one transaction, commits, and passes the lead on when more has come
 * meanwhile.  So a lone caller pays for no thread switch, and many callers share the price of a
 * commit.  When a unit fails, the group is rolled back and each unit is run again in a transaction
 * of its own, so that only the faulty one sees the error.
 *
 * This cannot be done above the engine, as deferring is: the leader takes its group only when the
 * process's turn to write has come, so that the group holds all that has queued up by then.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_DB_WRITER_H
#define AGENTGRAPH_STORAGE_SQL_DB_WRITER_H

#include "storage/sql/db/db.h"
#include "storage/sql/db/turnstile.h"

struct writer;

/* A piece of work in a write transaction; embedded, as the first member, in a struct with what the
 * work needs. */
struct unit {
	/* Does the work.  May run more than once, each time after a rollback; so it must change
	 * nothing but the database and its own results. */
	bool (*run)(struct db *db, struct unit *unit, struct error *err);

	/* NULL, or sends the queries whose answers run needs (query_send), so that one trip to the
	 * server is enough for all units of a group.  Not called where there is no server.  Units
	 * that have it run before the others. */
	bool (*ask)(struct db *db, struct unit *unit, struct error *err);

	/* It must be found out whether the unit was committed, however long its database is away:
	 * else nobody would know what it has claimed. */
	bool patient;

	/* the writer's own */
	struct error err;
	_Atomic uint32_t state;
	struct unit *next;
};

/* Takes over db.  turnstile NULL: the database itself puts the processes in order. */
struct writer *writer_new(struct db *db, struct turnstile *turnstile);
void writer_free(struct writer *w);

/* Queues a unit; it must stay where it is, and its submitter calls writer_wait for it, in the order
 * of submission. */
void writer_submit(struct writer *w, struct unit *unit);

/* Returns when the unit is on disk; false with err set when it failed.  Where it is this unit's
 * turn to lead, the caller does the work of the queue. */
bool writer_wait(struct writer *w, struct unit *unit, struct error *err);

static inline bool writer_run(struct writer *w, struct unit *unit, struct error *err)
{
	writer_submit(w, unit);
	return writer_wait(w, unit, err);
}

#endif
