/* SPDX-License-Identifier: ISC */
/* Checkpoints within the transaction of the write that makes them. */
#ifndef AGENTGRAPH_STORAGE_SQL_HISTORY_CHECKPOINTS_H
#define AGENTGRAPH_STORAGE_SQL_HISTORY_CHECKPOINTS_H

#include "storage/history.h"
#include "storage/sql/engine.h"

/* Where a thread stands in the middle of a transaction, between two of its writes. */
struct standing {
	struct thread_view view;
	int64_t messages;    /* messages in the list */
	int64_t checkpoint;  /* number of the checkpoint that the thread comes from; 0: none */
	int64_t checkpoints; /* how many it has kept, those trimmed since included */
	int64_t next;        /* number that the next checkpoint gets */
	bool apart;          /* some of its checkpoints do not lie in the table (recent.h) */
};

/* The checkpoint that a write keeps of a thread that stands so; *now is then behind it. */
struct checkpoint checkpoint_take(const struct thread_write *w, struct standing *now);

/* Keeps a checkpoint of what the thread is after a write, in the table. */
bool checkpoint_keep(struct db *db, int64_t thread_row, const struct thread_write *w,
    struct standing *now, struct error *err);

/* Goes back to a checkpoint, whose list has this many messages: *now then stands there, but the
 * thread's row is not written yet.  With changed, what the row says is kept in a checkpoint first.
 * ERR_RESOURCE_NOT_FOUND when the checkpoint has been trimmed meanwhile. */
bool checkpoint_rewind(struct db *db, int64_t thread_row, const struct checkpoint *to, bool changed,
    int64_t messages, struct standing *now, struct error *err);

/* Removes the checkpoints that show places above place, and those of the steps of this run (NULL:
 * of none); *dropped says how many. */
bool checkpoints_drop_later(struct db *db, int64_t thread_row, int64_t place,
    const struct run_record *run, struct standing *now, int64_t *dropped, struct error *err);

/* Whether a thread that had before checkpoints, and now has those of *now, has so many more than
 * are kept that it is worth removing them. */
bool checkpoints_are_many(const struct storage *st, int64_t before, const struct standing *now);

#endif
