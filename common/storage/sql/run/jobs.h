/* SPDX-License-Identifier: ISC */
/*
 * Rows of jobs, as parts of transactions.
 *
 * Of a thread's jobs that are not over at most one is ready, lost or claimed, which an index holds
 * to; it is the one that became due first, by (due_at, row), but for one that was claimed or lost.
 * Whoever puts a job in, ends one or gives one back keeps it so.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_JOBS_H
#define AGENTGRAPH_STORAGE_SQL_RUN_JOBS_H

#include "storage/sql/engine.h"
#include "storage/sql/run/records.h"

/* As sql/migrations/threads-0007.sql has them, and statements of sql/jobs.sql name them. */
enum job_state { JOB_WAITING, JOB_READY, JOB_LOST, JOB_CLAIMED, JOB_OVER };

/* A job without its texts.  It is over when it is gone, or its thread is. */
struct job_row {
	struct run_job job;
	enum job_state state;
	enum run_status status; /* of its record */
	int64_t claimer;
	bool tells;         /* somebody of its end: it has a webhook */
	int64_t started_at; /* of job_end, where it has begun in that transaction; else 0 */
	bool left;          /* the same: its row says already that it is over (job_leave_ask) */
	bool alone;         /* the same: nothing else waits in its thread */
};

bool job_read(struct db *db, int64_t row, struct job_row *job, struct error *err);

/* A claim as part of a transaction. */
struct job_claim {
	struct shared *shared;
	struct leases *leases; /* NULL: its thread is read with its lease */
	struct arena *arena;
	int64_t claimer, now;

	struct run_job job; /* what it got; thread_id NULL: nothing */
	int64_t next_due;
};

/* The row of the job that is ready and due for longest, by the query of job_next; 0 when there is
 * none at that time, and *next_due when the next one will be due. */
bool job_next_row(struct query *q, int64_t now, int64_t *row, int64_t *next_due);

/* Takes the job of that row, which begins later (queue.h). */
bool job_take(
    struct db *db, struct job_claim *c, int64_t row, struct moves *moves, struct error *err);

/* Takes that of job_next_row, where there is one. */
bool job_take_next(struct db *db, struct job_claim *c, struct moves *moves, struct error *err);

/* The same in two steps where transactions run side by side, so that others may ask meanwhile
 * (query_send). */
bool job_take_ask(struct db *db, const struct job_claim *c, struct query *q, struct error *err);
bool job_take_answer(struct job_claim *c, struct query *q, struct moves *moves);

/* Puts one into the queue of its thread, which may have just been made, and its record: number and
 * row are set. */
bool job_put(
    struct db *db, struct run_job *job, bool new_thread, struct moves *moves, struct error *err);

/* The same of a thread that the latest statement has made, so that others may ask meanwhile
 * (query_send). */
bool job_put_ask(struct db *db, const struct run_job *job, struct query *q, struct error *err);
bool job_put_answer(
    struct db *db, struct run_job *job, struct query *q, struct moves *moves, struct error *err);

/*
 * The first step of job_end, in two of its own and where transactions run side by side: of a job
 * that this process has claimed, which *own says.
 */
bool job_leave_ask(struct storage *st, struct db *db, const struct job_row *job,
    int64_t finished_at, struct query *q, struct error *err);
bool job_leave_answer(struct job_row *job, struct query *q, bool *own);

/* What follows from the end of a run whose record says it. */
bool job_end(struct storage *st, struct db *db, const struct job_row *job, int64_t finished_at,
    struct moves *moves, struct error *err);

/* Ends one, whose run does not write. */
bool job_give_up(struct storage *st, struct db *db, const struct job_row *job,
    enum run_status status, const char *error_json, struct moves *moves, struct error *err);

/*
 * Stops what a thread has in the queue, the last ones first, at most so many, and keeps the order
 * with what has begun; run_id: only that run; *count says how many were stopped.
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
