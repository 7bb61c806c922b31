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

/*
 * ---- wal_file.c: the log's file, written in few pieces.
 *
 * SQLite writes each page of a transaction as two writes, the header of its frame and the page; for
 * small transactions these calls are most of what a commit costs.  This is SQLite's own access to
 * files, in which what a connection writes to its log one after the other goes to the file in one
 * piece:
 *
 *  - at the latest with the frame that commits, within the write of that frame, so that a full disk
 *    or a broken one fails the commit as it always does;
 *  - before the connection reads that part of its log, or measures, cuts off or syncs the log;
 *  - when the piece is large.
 *
 * So what the index says is in the log is in the file, and nobody sees a difference: other
 * connections, processes and SQLite's own shell may write to the same database.  What is held back
 * is always part of a transaction that is not committed; with the process, or the write lock, it is
 * gone as if it had been rolled back.
 */

/* Registers it with SQLite, which is initialized; once.  Returns its name for sqlite3_open_v2, or
 * NULL, which stands for SQLite's own there, when this SQLite has no "unix" to build upon. */
const char *wal_file_register(void);

#endif
