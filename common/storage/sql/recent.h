/* SPDX-License-Identifier: ISC */
/*
 * The latest checkpoints of a thread, which lie in its row until they are RECENT_MOST, and then go
 * into the table together.  A run writes its thread's row anyway, and so its checkpoint mostly
 * costs no page of its own.
 *
 * All of them are ends of runs or steps with a short state, and later than those in the table.
 * What does more with checkpoints than to keep one of these or to read them calls recent_spill
 * first.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RECENT_H
#define AGENTGRAPH_STORAGE_SQL_RECENT_H

#include "base/buf.h"
#include "storage/history.h"
#include "storage/sql/engine.h"

#define RECENT_MOST 12

/* What one more is told beside. */
struct recent_row {
	int64_t count;
	int64_t first, newest; /* numbers; 0: there are none */
	struct recent_text {
		const char *text; /* without an end */
		size_t length;
	} run_id, fields; /* of the first one */
};

/* Of a row's text, NULL where there are none; row lives as long as it. */
void recent_look(const char *text, struct recent_row *row);

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

/* Whether what a write keeps can lie in the row. */
bool recent_takes(const struct thread_write *w);
/* Adds what is added to the row's text for a checkpoint, which row counts then, and lives as long
 * as. */
void recent_print(struct buf *text, struct recent_row *row, const struct checkpoint *checkpoint);

/* All of them go into the table, in the transaction that db is in. */
bool recent_spill(struct db *db, int64_t thread_row, struct error *err);

#endif
