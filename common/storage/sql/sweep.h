/* SPDX-License-Identifier: ISC */
/*
 * The sweeper removes what deleted threads have left, and checkpoints that are too old.
 *
 * Deleting a thread only removes its row and makes a note of it: the rest may be a hundred thousand
 * messages, or gigabytes, and other writers must not wait for that.  A thread of each process
 * removes it in small transactions, and rests after each for as long as it took.  What a process
 * leaves when it dies, the next one that starts finds.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_SWEEP_H
#define AGENTGRAPH_STORAGE_SQL_SWEEP_H

#include "storage/sql/db/db.h"
#include "storage/sql/db/pool.h"
#include "storage/sql/db/writer.h"

struct sweeper;

/* Starts the sweeper, which first looks once for what others have left.  When it has nothing to do
 * it sees to it that the reserve (reserve.h) at this path exists (NULL: there is none).  NULL with
 * err set on failure. */
struct sweeper *sweeper_new(
    struct writer *writer, struct pool *pool, const char *reserve, struct error *err);

/* Ends after the transaction that is under way, even in the middle of the work. */
void sweeper_free(struct sweeper *s);

/* Something was removed, so there is work. */
void sweeper_wake(struct sweeper *s);

/* A thread has more checkpoints than are to stay, which is above 0.  This is forgotten when the
 * process dies, or when too many threads are told of at once; the thread says it again some runs
 * later. */
void sweeper_trim(struct sweeper *s, int64_t thread_row, int64_t keep);

/* ---- trim.c: removes checkpoints that are too old, and what only they show, piece by piece. */

/*
 * Removes a piece, in the transaction that db is in: some of the oldest checkpoints, of which keep
 * are to stay; when none of those is left, messages that neither the thread nor any checkpoint
 * shows.  A piece has at most most rows.  *last says that nothing is left to remove.
 */
bool trim_piece(
    struct db *db, int64_t thread_row, int64_t keep, int64_t most, bool *last, struct error *err);

/* The same for a thread that was removed, of which nothing stays. */
bool trim_removed(struct db *db, int64_t thread_row, int64_t most, bool *last, struct error *err);

#endif
