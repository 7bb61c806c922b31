/* SPDX-License-Identifier: ISC */
/* The record of a run, written as part of the transaction that changes its thread. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_RUN_WRITE_H
#define AGENTGRAPH_STORAGE_SQL_RUN_RUN_WRITE_H

#include "storage/sql/engine.h"
#include "storage/sql/run/jobs.h"
#include "storage/sql/run/records.h"

/* Where the change puts the run. */
struct run_place {
	int64_t thread_row;
	int64_t after, until;    /* its messages got the places above after, up to until */
	int64_t number;          /* of a record that it makes; 0: it makes none */
	const char *checkpoints; /* text for the record (recent.h); NULL: it gets none */
	int64_t kept_count; /* how many checkpoints the thread has kept in all, these included */
};

/* What became of the record. */
struct run_written {
	int64_t number;         /* of the record */
	struct run_job claimed; /* the job claimed with the end of the run; row 0: none */
	struct moves moves;
};

/* What the change asks about the run's job, and for the next one; and the answers. */
struct run_asked {
	struct query job, next;
	struct job_row leaves; /* the run's own job */
	struct job_claim claim;
};

/* A change that writes a record.  The caller sets st and change, and clears written before each
 * attempt. */
struct run_writing {
	struct storage *st;
	const struct thread_change *change;
	struct run_asked asked;
	struct run_written written;
};

/* Whether the change may claim another job with the end of its run. */
bool run_claims(const struct thread_change *change);

/* Asks whether a background run still has its job, which is marked as over where the change ends
 * the run; and claims the next job, where one is wanted.  Sends nothing where there is no
 * server. */
bool run_ask(struct run_writing *w, struct db *db, struct error *err);

/* Asks for the number of the record, if the change makes one in an existing thread; else q asks
 * nothing, and its db is NULL. */
void run_number_ask(
    struct db *db, const struct thread_change *change, struct query *q, struct error *err);

/* The run that the change ends, if its record may have checkpoints (recent.h); else NULL, as for
 * background runs, which do not end in the order of their records.  *number is the number for a new
 * record; it becomes that of the record if there is one already. */
const struct run_record *run_keeps(const struct thread_change *change, int64_t *number);

/* To be called before the row of an existing thread is written.  A background run may write only
 * while it has its job.  Another run ends the records that dead processes have left; so does going
 * back to a checkpoint, since the thread then says nothing of such a run any more. */
bool run_prepare(struct run_writing *w, struct db *db, struct error *err);

/* Inserts a record that was written elsewhere, under its old number. */
bool run_make(struct db *db, int64_t thread_row, const struct run_record *r, struct error *err);

/* Writes the record, once the thread's row and messages are written. */
bool run_write(
    struct run_writing *w, struct db *db, const struct run_place *place, struct error *err);

/* Hands the claimed job to the change's owner; to be called once the change is on disk. */
void run_hand_over(const struct run_writing *w);

#endif
