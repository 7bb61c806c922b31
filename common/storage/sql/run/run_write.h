/* SPDX-License-Identifier: ISC */
/* What a change of a thread says of the record of its run, as parts of its transaction. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_RUN_WRITE_H
#define AGENTGRAPH_STORAGE_SQL_RUN_RUN_WRITE_H

#include "storage/sql/engine.h"
#include "storage/sql/run/jobs.h"
#include "storage/sql/run/records.h"

/* Where the change finds it. */
struct run_place {
	int64_t thread_row;
	int64_t after, until;    /* numbers that its messages have got, the first excluded */
	int64_t number;          /* of a record that it makes; 0: it makes none */
	const char *checkpoints; /* for the record (recent.h), or NULL: none */
	int64_t kept_count;      /* of all that the thread has kept with these */
};

/* What became of it. */
struct run_written {
	int64_t number;         /* of the record */
	struct run_job claimed; /* along with its end; row 0: nothing */
	struct moves moves;
};

/* What it has asked of its job, and for another one, with what came of that. */
struct run_asked {
	struct query job, next;
	struct job_row leaves; /* the job, where the run ends */
	struct job_claim claim;
};

/* How a change writes its record.  The caller sets the first two, and clears written before each
 * attempt. */
struct run_writing {
	struct storage *st;
	const struct thread_change *change;
	struct run_asked asked;
	struct run_written written;
};

/* Whether another run may be claimed with the end of this one. */
bool run_claims(const struct thread_change *change);

/* Asks whether a run in the background has its job, which it leaves where it ends with the change,
 * and for the next one where it is to bring one along; where there is no server, nothing. */
bool run_ask(struct run_writing *w, struct db *db, struct error *err);

/* Asks for the number of the record that the change makes in a thread that there is, if it makes
 * one; else q asks nothing. */
void run_number_ask(
    struct db *db, const struct thread_change *change, struct query *q, struct error *err);

/* The run that ends with the change, if its record may have checkpoints (recent.h); else NULL:
 * those in the background do not end in the order of their records.  *number is what a record gets
 * that the change makes, and becomes that of one that there is. */
const struct run_record *run_keeps(const struct thread_change *change, int64_t *number);

/* Before the row of a thread that there is is written: a run in the background may write only while
 * it has its job, another one buries what the dead have left; so does going back to a checkpoint,
 * after which the thread says nothing of that run any more. */
bool run_prepare(struct run_writing *w, struct db *db, struct error *err);

/* A record that was written elsewhere, under its number. */
bool run_make(struct db *db, int64_t thread_row, const struct run_record *r, struct error *err);

/* Afterwards. */
bool run_write(
    struct run_writing *w, struct db *db, const struct run_place *place, struct error *err);

/* What the change's owner gets of it, once it is on disk. */
void run_hand_over(const struct run_writing *w);

#endif
