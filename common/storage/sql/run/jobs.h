/* SPDX-License-Identifier: ISC */
/*
 * The queue: rows of jobs, changed as parts of transactions.
 *
 * Of a thread's jobs that are not over, at most one is ready, lost or claimed, which an index
 * enforces.  A ready one is the first by (due_at, row).  Whoever adds, ends or gives back a job
 * must keep it so.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_JOBS_H
#define AGENTGRAPH_STORAGE_SQL_RUN_JOBS_H

#include "storage/sql/engine.h"
#include "storage/sql/run/records.h"

/* The values of sql/migrations/threads-0007.sql and sql/jobs.sql. */
enum job_state { JOB_WAITING, JOB_READY, JOB_LOST, JOB_CLAIMED, JOB_OVER };

/* A job without its texts.  One that is gone, or whose thread is, counts as over. */
struct job_row {
	struct run_job job;
	enum job_state state;
	int64_t claimer;
	bool tells;         /* its end is told to somebody: it has a webhook */
	int64_t started_at; /* for job_end: when the run began, if that was in the same transaction;
			       else 0 */
	bool left;          /* for job_end: its row already says that it is over (job_leave_ask) */
	bool alone;         /* for job_end: no other job waits in its thread */
};

bool job_read(struct db *db, int64_t row, struct job_row *job, struct error *err);

/* A claim of a job as part of a transaction. */
struct job_claim {
	struct shared *shared;
	struct leases *leases; /* NULL: the thread is not read here, but with its lease */
	struct arena *arena;
	int64_t claimer, now;

	struct run_job job; /* the job that was claimed; thread_id NULL: none */
	int64_t next_due;
};

/* Reads the result of the query job_next: the row of the job that is ready and has been due for
 * longest.  0 when none is due by now; *next_due then says when the next one will be. */
bool job_next_row(struct query *q, int64_t now, int64_t *row, int64_t *next_due);

/* Claims the job of this row, which is not begun yet (queue.h). */
bool job_take(
    struct db *db, struct job_claim *c, int64_t row, struct moves *moves, struct error *err);

/* Claims the job that is ready and has been due for longest, where there is one. */
bool job_take_next(struct db *db, struct job_claim *c, struct moves *moves, struct error *err);

/* The same in two steps, where transactions run side by side, so that other units can ask in
 * between (query_send). */
bool job_take_ask(struct db *db, const struct job_claim *c, struct query *q, struct error *err);
bool job_take_answer(struct job_claim *c, struct query *q, struct moves *moves);

/* Adds a job to the queue of its thread, which may be new, and makes its record.  Sets number and
 * row. */
bool job_put(
    struct db *db, struct run_job *job, bool new_thread, struct moves *moves, struct error *err);

/* The same in two steps, for a thread that the latest statement has made, so that other units can
 * ask in between (query_send). */
bool job_put_ask(struct db *db, const struct run_job *job, struct query *q, struct error *err);
bool job_put_answer(
    struct db *db, struct run_job *job, struct query *q, struct moves *moves, struct error *err);

/*
 * The first part of job_end, in two steps, where transactions run side by side: marks a job as over
 * if this process has claimed it, which *own says.
 */
bool job_leave_ask(struct storage *st, struct db *db, const struct job_row *job,
    int64_t finished_at, struct query *q, struct error *err);
bool job_leave_answer(struct job_row *job, struct query *q, bool *own);

/* Does all that follows from the end of a job whose record already says that the run has ended. */
bool job_end(struct storage *st, struct db *db, const struct job_row *job, int64_t finished_at,
    struct moves *moves, struct error *err);

/* Ends a job, and its record, whose run does not write its own end. */
bool job_give_up(struct storage *st, struct db *db, const struct job_row *job,
    enum run_status status, const char *error_json, struct moves *moves, struct error *err);

/*
 * Stops jobs of a thread that no process executes, the last ones first, and keeps the order with
 * the one that a process does.  With run_id, only that run's.  Stops at most JOBS_STOPPED_AT_ONCE;
 * *count says how many.
 */
#define JOBS_STOPPED_AT_ONCE 500
struct jobs_stop {
	int64_t thread;
	const char *run_id;
	enum lease_order order;
};
bool jobs_stop(struct storage *st, struct db *db, const struct jobs_stop *stop, int64_t *count,
    struct moves *moves, struct error *err);

#endif
