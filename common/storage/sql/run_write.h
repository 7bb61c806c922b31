/* SPDX-License-Identifier: ISC */
/* What a change of a thread says of the record of its run, as parts of its transaction. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_WRITE_H
#define AGENTGRAPH_STORAGE_SQL_RUN_WRITE_H

#include "storage/sql/engine.h"
#include "storage/sql/records.h"

/* Where the change finds it. */
struct run_place {
	int64_t thread_row;
	bool is_new;          /* the change has made the thread */
	int64_t after, until; /* numbers that its messages have got, the first excluded */
};

/* What became of it. */
struct run_written {
	int64_t number;         /* of the record */
	struct run_job claimed; /* along with its end; row 0: nothing */
	struct moves moves;
};

/* Before the row of a thread that there is is written: a run in the background may write only while
 * it has its job, another one buries what the dead have left; so does going back to a checkpoint,
 * after which the thread says nothing of that run any more. */
bool run_prepare(
    struct storage *st, struct db *db, const struct thread_change *change, struct error *err);

/* A record that was written elsewhere, under its number. */
bool run_make(struct db *db, int64_t thread_row, const struct run_record *r, struct error *err);

/* Afterwards. */
bool run_write(struct storage *st, struct db *db, const struct thread_change *change,
    const struct run_place *place, struct run_written *written, struct error *err);

/* What the change's owner gets of it, once it is on disk. */
void run_hand_over(const struct thread_change *change, const struct run_written *written);

#endif
