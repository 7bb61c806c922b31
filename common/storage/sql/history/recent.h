/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints in rows that a run writes anyway, as a table of them has a page for each thread that
 * is busy.  Those of a run that goes on lie in the row of its thread; its end takes them into its
 * record, with its own.  From there they go into the table: together, when they are many, or when
 * something else is done with the thread's checkpoints; or before the record goes that has them.
 *
 * All of them are ends of runs or steps with a short state, later than those in the table, and
 * those in the thread's row later than those in records, which are in the order of these.  What
 * does more with checkpoints than to keep one of these or to read them calls recent_spill first.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_HISTORY_RECENT_H
#define AGENTGRAPH_STORAGE_SQL_HISTORY_RECENT_H

#include "base/buf.h"
#include "storage/history.h"
#include "storage/sql/engine.h"

#define RECENT_MOST 12     /* in a row */
#define RECENT_RECORDS 256 /* that have some, of a thread */

/* What one more is told beside. */
struct recent_row {
	int64_t count;
	int64_t first, newest; /* numbers; 0: there are none */
	struct recent_text {
		const char *text; /* without an end */
		size_t length;
	} run_id, fields; /* of the first one, or of the record where there are none */
};

/* Of a row's text, NULL where there are none; row lives as long as it. */
void recent_look(const char *text, struct recent_row *row);

/* Hands out those of a thread, the newest first;
 * all that checkpoints do not keep is as in thread. */
bool recent_walk(struct storage *st, const struct storage_context *ctx, const struct thread *thread,
    checkpoint_fn fn, void *arg, struct error *err);

/* Whether what a write keeps can lie in the row. */
bool recent_takes(const struct thread_write *w);
/* Adds what is added to the row's text for a checkpoint, which row counts then, and lives as long
 * as. */
void recent_print(struct buf *text, struct recent_row *row, const struct checkpoint *checkpoint);

/* All of them go into the table, in the transaction that db is in. */
bool recent_spill(struct db *db, int64_t thread_row, struct error *err);
/* Those in records up to that number do, which are older than all that stay elsewhere. */
bool recent_spill_records(struct db *db, int64_t thread_row, int64_t last, struct error *err);

#endif
