/* SPDX-License-Identifier: ISC */
/*
 * The latest checkpoints of a thread, which lie in its row until they are RECENT_MOST, and then go
 * into the table together.  A run writes its thread's row anyway, and so its checkpoint mostly
 * costs no page of its own.
 *
 * All of them are ends of runs with a short state, and later than those in the table.  What does
 * more with checkpoints than to keep one of these or to read them calls recent_spill first.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RECENT_H
#define AGENTGRAPH_STORAGE_SQL_RECENT_H

#include "base/buf.h"
#include "storage/history.h"
#include "storage/sql/engine.h"

#define RECENT_MOST 8

/* Of a row's text, NULL where there are none: how many, and the number of the latest one. */
void recent_look(const char *text, int64_t *count, int64_t *newest);

/* What lies in a row, the oldest first. */
struct recent {
	size_t count;
	struct checkpoint at[RECENT_MOST];
	char *text; /* theirs */
};

/* Reads that of a thread; all that checkpoints do not keep is as in thread.  recent_release gives
 * the memory back, also when it failed. */
bool recent_read(struct recent *recent, struct storage *st, const struct storage_context *ctx,
    const struct thread *thread, struct error *err);
void recent_release(struct recent *recent);

/* Whether a run's end can lie in the row, and what is added to the row's text for it. */
bool recent_takes(const struct thread *thread);
void recent_print(struct buf *text, const struct checkpoint *checkpoint);

/* All of them go into the table, in the transaction that db is in. */
bool recent_spill(struct db *db, int64_t thread_row, struct error *err);

#endif
