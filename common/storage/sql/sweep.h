/* SPDX-License-Identifier: ISC */
/*
 * Takes away the messages of threads that were deleted, and checkpoints that are too old.
 *
 * Deleting a thread only takes its own row and notes which one it was; what it held may be a
 * hundred thousand messages or gigabytes, and whoever writes meanwhile must not wait for that.  A
 * thread of each process does it in small transactions and rests as long as each of them took. What
 * is left when a process dies is found by the next one that starts.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_SWEEP_H
#define AGENTGRAPH_STORAGE_SQL_SWEEP_H

#include "storage/sql/db/db.h"
#include "storage/sql/db/pool.h"
#include "storage/sql/db/writer.h"

struct sweeper;

/* Looks once for what others have left, keeps so many checkpoints of a thread as *keep says (0: all
 * of them), and keeps the reserve (reserve.h) of that path (NULL: none) when it has
 * nothing to do.  NULL with err set on failure. */
struct sweeper *sweeper_new(struct writer *writer, struct pool *pool, const char *reserve,
    const int64_t *keep, struct error *err);

/* Ends in the middle of the work, after the transaction that is under way. */
void sweeper_free(struct sweeper *s);

/* Something was removed. */
void sweeper_wake(struct sweeper *s);

/* A thread has more checkpoints than are kept.  Nothing remembers it when the process dies, or too
 * many are told at once: its next run says it again. */
void sweeper_trim(struct sweeper *s, int64_t thread_row);

/* ---- trim.c: what a thread has in more checkpoints than are kept, removed piece by piece. */

/*
 * Removes, in the transaction that db is in, some of the oldest checkpoints of a thread of which
 * keep are to stay; when there are no more of them, some messages that neither the thread nor any
 * checkpoint shows, most of them at a time.  *last says that nothing was left to remove.
 */
bool trim_piece(
    struct db *db, int64_t thread_row, int64_t keep, int64_t most, bool *last, struct error *err);

/* The same of a thread that was removed, of which nothing stays. */
bool trim_removed(struct db *db, int64_t thread_row, int64_t most, bool *last, struct error *err);

#endif
