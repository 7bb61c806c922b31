/* SPDX-License-Identifier: ISC */
/* What a change of a thread says of the record of its run, as parts of its transaction. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_RUN_WRITE_H
#define AGENTGRAPH_STORAGE_SQLITE_RUN_WRITE_H

#include "storage/sqlite/engine.h"
#include "storage/sqlite/records.h"

/* Where the change finds it. */
struct run_place {
	int64_t thread_row;
	bool is_new;          /* the change has made the thread */
	int64_t after, until; /* numbers that its messages have got, the first excluded */
};

/* Before the row of a thread that there is is written: a run in the background may write only while
 * it has its job, another one buries what the dead have left; so does going back to a checkpoint,
 * after which the thread says nothing of that run any more. */
bool run_prepare(
    struct storage *st, struct db *db, const struct thread_change *change, struct error *err);

/* Afterwards; *number becomes that of the record. */
bool run_write(struct storage *st, struct db *db, const struct thread_change *change,
    const struct run_place *place, int64_t *number, struct moves *moves, struct error *err);

#endif
