/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints in rows that a run writes anyway: in the table of checkpoints each busy thread would
 * write another page.  The checkpoints of a run that goes on lie in the row of its thread; the end
 * of the run moves them, with its own, into its record.  From there they move into the table, all
 * together, when they are many or something else is done with the thread's checkpoints, and before
 * their record is removed.
 *
 * Only ends of runs, and steps, whose state is short can lie there.  They are later than all in the
 * table; those in the thread's row are later than those in records, which are in the order of the
 * records.  Whoever does more with a thread's checkpoints than read them, or keep such a one, calls
 * recent_spill first.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_HISTORY_RECENT_H
#define AGENTGRAPH_STORAGE_SQL_HISTORY_RECENT_H

#include "base/buf.h"
#include "storage/history.h"
#include "storage/sql/engine.h"

#define RECENT_MOST 12     /* most checkpoints in a row */
#define RECENT_RECORDS 256 /* most records of a thread that have some */

/* What must be known of a row's checkpoints to add one (recent_print). */
struct recent_row {
	int64_t count;
	int64_t first, newest; /* numbers of checkpoints; 0: there are none */
	struct recent_text {
		const char *text; /* not ended by NUL */
		size_t length;
	} run_id, fields; /* the first checkpoint's; where there is none, the record's */
};

/* Fills *row from a row's text (NULL: no checkpoints), into which it points. */
void recent_look(const char *text, struct recent_row *row);

/* Hands out those of a thread, newest first; thread supplies what checkpoints do not keep. */
bool recent_walk(struct storage *st, const struct storage_context *ctx, const struct thread *thread,
    checkpoint_fn fn, void *arg, struct error *err);

/* Whether the checkpoint that a write keeps can lie in such a row. */
bool recent_takes(const struct thread_write *w);
/* Appends a checkpoint to the row's text.  row then counts it, and may point into it. */
void recent_print(struct buf *text, struct recent_row *row, const struct checkpoint *checkpoint);

/* Moves all of them into the table, in the transaction that db is in. */
bool recent_spill(struct db *db, int64_t thread_row, struct error *err);
/* Moves those in records up to number last, which are older than all that stay where they are. */
bool recent_spill_records(struct db *db, int64_t thread_row, int64_t last, struct error *err);

#endif
