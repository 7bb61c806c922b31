/* SPDX-License-Identifier: ISC */
/*
 * Moving the log (WAL) into the database, off the path of requests.
 *
 * One of the processes over a state directory is elected; a thread in it checkpoints while the log
 * grows.  That never stops writers or readers, but then a log that always grows never begins anew;
 * past a bound the thread makes the writers wait for a moment so that it does.
 */
#ifndef AGENTGRAPH_STORAGE_SQLITE_WAL_H
#define AGENTGRAPH_STORAGE_SQLITE_WAL_H

#include "storage/sqlite/sqlite_db.h"

struct wal_keeper;

/* Starts the thread.  It takes over db, a connection of its own to the database behind
 * turnstile. */
struct wal_keeper *wal_keeper_new(
    struct db *db, struct shared *sh, struct turnstile *turnstile, struct error *err);

/* NULL is fine. */
void wal_keeper_free(struct wal_keeper *c);

/* To be called before a writer's first commit, so that the length of the log is known from then
 * on. */
void wal_attend(struct db *db, struct turnstile *t);

/* To be called by a writer after a commit, within its turn: does the work itself once the log has
 * grown beyond all bounds. */
void wal_write_back(struct db *db, struct turnstile *t);

/*
 * ---- wal_file.c: writing to the log's file in few pieces.
 *
 * SQLite writes each page of a transaction as two writes, the header of its frame and the page; for
 * small transactions these calls are most of what a commit costs.  This is SQLite's own access to
 * files, in which what a connection writes to its log one after the other goes to the file in one
 * piece:
 *
 * - at the latest with the frame that commits, within the write of that frame, so that a full disk
 * or a broken one fails the commit as it always does; - before the connection reads that part of
 * its log, or measures, cuts off or syncs the log; - when the piece is large.
 *
 * So whatever the index says is in the log is in the file, and nobody sees a difference: other
 * connections, processes and SQLite's own shell may use the same database.  What is held back
 * always belongs to a transaction that is not committed; if the process ends, or gives up the write
 * lock, it is gone as if it had been rolled back.
 */

/* Registers this VFS with SQLite, which must be initialized; call it once.  Returns the VFS's name
 * for sqlite3_open_v2; NULL, which stands for SQLite's own there, when this SQLite has no VFS
 * "unix" to build upon. */
const char *wal_file_register(void);

#endif
