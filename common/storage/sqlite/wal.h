/* SPDX-License-Identifier: ISC */
/*
 * Moving the log into the database, off the requests' path.
 *
 * One process of those over a state directory is elected; a thread in it checkpoints as long as the
 * log grows.  That never stops writers or readers, but a log that always grows is never begun anew;
 * past a bound the thread makes the writers wait for a moment so that it is.
 */
#ifndef AGENTGRAPH_STORAGE_SQLITE_WAL_H
#define AGENTGRAPH_STORAGE_SQLITE_WAL_H

#include "storage/sqlite/sqlite_db.h"

struct wal_keeper;

/* Starts the thread with a connection of its own, which it takes over, for the database that
 * turnstile is before. */
struct wal_keeper *wal_keeper_new(
    struct db *db, struct shared *sh, struct turnstile *turnstile, struct error *err);

/* NULL is fine. */
void wal_keeper_free(struct wal_keeper *c);

/* Before a writer's first commit: from then on the length of the log is known. */
void wal_attend(struct db *db, struct turnstile *t);

/* For a writer that has its turn, after a commit: does the work itself once the log has grown
 * beyond all bounds. */
void wal_write_back(struct db *db, struct turnstile *t);

#endif
