/* SPDX-License-Identifier: ISC */
/* Checkpoints within the transaction of the write that makes them. */
#ifndef AGENTGRAPH_STORAGE_SQL_HISTORY_CHECKPOINTS_H
#define AGENTGRAPH_STORAGE_SQL_HISTORY_CHECKPOINTS_H

#include "storage/history.h"
#include "storage/sql/engine.h"

/* Where a thread stands between two of the writes that change it. */
struct standing {
	struct thread_view view;
	int64_t messages;    /* in the list */
	int64_t checkpoint;  /* the one that the thread comes from; 0: none */
	int64_t checkpoints; /* how many were kept, also if they were trimmed since */
	int64_t next;        /* number for the next one */
	bool apart;          /* some of them do not lie in the table (recent.h) */
};

/* What a write keeps where the thread stands so; it comes from that one then. */
struct checkpoint checkpoint_take(const struct thread_write *w, struct standing *now);

/* Keeps what the thread is after a write, in the table. */
bool checkpoint_keep(struct db *db, int64_t thread_row, const struct thread_write *w,
    struct standing *now, struct error *err);

/* The thread shows what it did at a checkpoint, before its row is written; changed: what it is is
 * kept first, and the list that it goes back to has so many messages.  ERR_RESOURCE_NOT_FOUND when
 * the checkpoint has been trimmed meanwhile. */
bool checkpoint_rewind(struct db *db, int64_t thread_row, const struct checkpoint *to, bool changed,
    int64_t messages, struct standing *now, struct error *err);

/* Removes those that show places above that, and steps of the run whose record this is (NULL: of
 * none); *dropped says how many. */
bool checkpoints_drop_later(struct db *db, int64_t thread_row, int64_t place,
    const struct run_record *run, struct standing *now, int64_t *dropped, struct error *err);

/* Whether with those that came behind so many there are so many more than are kept that it is worth
 * removing them. */
bool checkpoints_are_many(const struct storage *st, int64_t before, const struct standing *now);

#endif
