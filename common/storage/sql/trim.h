/* SPDX-License-Identifier: ISC */
/* What a thread has in more checkpoints than are kept, removed piece by piece. */
#ifndef AGENTGRAPH_STORAGE_SQL_TRIM_H
#define AGENTGRAPH_STORAGE_SQL_TRIM_H

#include "storage/sql/db.h"

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
