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

#include "storage/sql/pool.h"
#include "storage/sql/writer.h"

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

#endif
