/* SPDX-License-Identifier: ISC */
/* Jobs, as rows: claimed, added to the queue of their thread, and ended. */
#include "storage/sql/run/jobs.h"

#include "base/os/clock.h"
#include "storage/lease.h"
#include "storage/queue.h"
#include "storage/sql/run/pushes.h"
#include "storage/sql/run/runs_engine.h"
#include "storage/sql/thread/thread_row.h"

#include <stdlib.h>
#include <string.h>

#define BODY_SHORT 1000 /* bytes of a body that lies in its job's row */

static struct run_key job_key(const struct run_job *job)
{
	return (struct run_key){job->thread_row, job->number};
}

bool job_read(struct db *db, int64_t row, struct job_row *job, struct error *err)
{
	struct query q;
	*job = (struct job_row){.job = {.row = row}, .state = JOB_OVER};
	query_start(&q, db, SQL_JOB_READ, err);
	query_int(&q, ":row", row);
	if (query_row(&q)) {
		job->job.thread_row = query_column_int(&q, JOB_READ_THREAD);
		job->job.number = query_column_int(&q, JOB_READ_NUMBER);
		job->job.created_at = query_column_int(&q, JOB_READ_CREATED_AT);
		job->job.due_at = query_column_int(&q, JOB_READ_DUE_AT);
		job->job.attempt = query_column_int(&q, JOB_READ_ATTEMPT);
		job->job.given_back = query_column_int(&q, JOB_READ_GIVEN_BACK) != 0;
		job->state = (enum job_state)query_column_int(&q, JOB_READ_STATE);
		job->claimer = query_column_int(&q, JOB_READ_CLAIMER);
		job->tells = query_column_int(&q, JOB_READ_TELLS) != 0;
	}
	return query_end(&q);
}

static void job_hold(struct query *q, struct arena *a, struct run_job *job)
{
	job->row = query_column_int(q, JOB_WHOLE_ROW);
	job->thread_row = query_column_int(q, JOB_WHOLE_THREAD);
	job->number = query_column_int(q, JOB_WHOLE_NUMBER);
	job->created_at = query_column_int(q, JOB_WHOLE_CREATED_AT);
	job->due_at = query_column_int(q, JOB_WHOLE_DUE_AT);
	job->attempt = query_column_int(q, JOB_WHOLE_ATTEMPT);
	job->given_back = query_column_int(q, JOB_WHOLE_GIVEN_BACK) != 0;
	job->thread_id = arena_strdup(a, query_column_text(q, JOB_WHOLE_THREAD_ID));
	job->run_id = arena_strdup(a, query_column_text(q, JOB_WHOLE_RUN_ID));
	job->body_json = arena_strdup(a, query_column_text(q, JOB_WHOLE_BODY));
	job->caller_json = arena_strdup(a, query_column_text(q, JOB_WHOLE_CALLER));
	job->answers_json = arena_strdup(a, query_column_text(q, JOB_WHOLE_ANSWERS));
	job->metadata_json = arena_strdup(a, query_column_text(q, JOB_WHOLE_METADATA));
	job->webhook_url = arena_strdup(a, query_column_text(q, JOB_WHOLE_WEBHOOK));
}

/* ---- claimed ---- */

bool job_next_row(struct query *q, int64_t now, int64_t *row, int64_t *next_due)
{
	*row = 0;
	*next_due = INT64_MAX;
	if (!query_row(q))
		return !q->failed;
	*next_due = query_column_int(q, JOB_NEXT_DUE_AT);
	/* a job without a delay is always due, even if the clock was set back since */
	if (*next_due <= now || *next_due <= query_column_int(q, JOB_NEXT_CREATED_AT))
		*row = query_column_int(q, JOB_NEXT_ROW);
	return true;
}

bool job_take(
    struct db *db, struct job_claim *c, int64_t row, struct moves *moves, struct error *err)
{
	struct thread *thread;
	struct query q;
	query_start(&q, db, SQL_JOB_CLAIM, err);
	query_int(&q, ":claimer", c->claimer);
	query_int(&q, ":row", row);
	if (!query_run(&q))
		return false;
	moves->waiting--;
	queue_claimed(c->shared, row, c->claimer);
	c->job = (struct run_job){.row = row}; /* its thread_id stays NULL where it is gone */
	query_start(&q, db, SQL_JOB_WHOLE, err);
	query_int(&q, ":row", row);
	if (query_row(&q))
		job_hold(&q, c->arena, &c->job);
	if (!query_end(&q))
		return false;
	if (!c->leases || !c->job.thread_id)
		return true;
	/* Reads the thread for later use.  Nobody writes during this transaction; if anybody who
	 * holds the thread now changes it, the number of ended leases will have changed as well. */
	c->job.ended = lease_ended(c->leases, c->job.thread_id);
	query_start(&q, db, SQL_THREAD_OF_JOB, err);
	query_int(&q, ":row", c->job.thread_row);
	if (query_row(&q)) {
		c->job.thread = thread = arena_alloc(c->arena, sizeof(*thread));
		thread_row_copy(&q, c->arena, thread);
	}
	return query_end(&q);
}

bool job_take_ask(struct db *db, const struct job_claim *c, struct query *q, struct error *err)
{
	query_start(q, db, SQL_JOB_TAKE, err);
	query_int(q, ":now", c->now);
	query_int(q, ":claimer", c->claimer);
	query_send(q);
	return !q->failed;
}

bool job_take_answer(struct job_claim *c, struct query *q, struct moves *moves)
{
	c->job = (struct run_job){0};
	c->next_due = INT64_MAX;
	if (query_row(q)) {
		c->next_due = query_column_int(q, JOB_WHOLE_DUE_AT);
		if (query_column_int(q, JOB_WHOLE_ROW)) {
			job_hold(q, c->arena, &c->job);
			moves->waiting--;
			queue_claimed(c->shared, c->job.row, c->claimer);
		}
	}
	return query_end(q);
}

bool job_take_next(struct db *db, struct job_claim *c, struct moves *moves, struct error *err)
{
	struct query q;
	int64_t row;
	bool ok;
	if (db->driver->side_by_side)
		return job_take_ask(db, c, &q, err) && job_take_answer(c, &q, moves);
	query_start(&q, db, SQL_JOB_NEXT_FREE, err);
	query_int(&q, ":now", c->now);
	ok = job_next_row(&q, c->now, &row, &c->next_due);
	return query_end(&q) && ok && (!row || job_take(db, c, row, moves, err));
}

/* ---- in ---- */

static bool job_insert(struct db *db, struct run_job *job, bool first, struct error *err)
{
	/* longer bodies have a row of their own, since each change of a job writes its row whole;
	 * so have all bodies where instances of the previous version may run beside this one */
	bool holds = !db->driver->side_by_side && strlen(job->body_json) <= BODY_SHORT;
	struct query q;
	query_start(&q, db, SQL_JOB_INSERT, err);
	query_int(&q, ":now", clock_now());
	run_key_bind(&q, job_key(job));
	query_text(&q, ":run_id", job->run_id);
	query_int(&q, ":state", first ? JOB_READY : JOB_WAITING);
	query_int(&q, ":due_at", job->due_at);
	query_text(&q, ":webhook", job->webhook_url);
	query_text(&q, ":caller", job->caller_json);
	query_text(&q, ":metadata", job->metadata_json);
	if (holds)
		query_text(&q, ":body", job->body_json);
	if (!query_run(&q))
		return false;
	job->row = db_last_row(db);
	if (holds)
		return true;
	query_start(&q, db, SQL_JOB_BODY_INSERT, err);
	query_int(&q, ":row", job->row);
	query_text(&q, ":body", job->body_json);
	return query_run(&q);
}

bool job_put(
    struct db *db, struct run_job *job, bool new_thread, struct moves *moves, struct error *err)
{
	struct query q;
	int64_t other = 0; /* a job of the thread before which this one comes */
	bool first = true;
	job->number = 1;
	if (!new_thread) {
		record_number_ask(db, job->thread_row, true, &q, err);
		if (!record_number_answer(&q, &job->number))
			return false;
		query_start(&q, db, SQL_JOB_FIRST, err);
		query_int(&q, ":thread", job->thread_row);
		if (query_row(&q)) {
			first = query_column_int(&q, JOB_FIRST_STATE) == JOB_READY &&
			    job->due_at < query_column_int(&q, JOB_FIRST_DUE_AT);
			other = first ? query_column_int(&q, JOB_FIRST_ROW) : 0;
		}
		if (!query_end(&q))
			return false;
	}
	if (other) {
		query_start(&q, db, SQL_JOB_SET_STATE, err);
		query_int(&q, ":state", JOB_WAITING);
		query_int(&q, ":row", other);
		if (!query_run(&q))
			return false;
	}
	if (!job_insert(db, job, first, err))
		return false;
	moves->waiting++;
	moves->queue |= first;
	query_start(&q, db, SQL_RUN_QUEUE, err);
	run_key_bind(&q, job_key(job));
	query_text(&q, ":run_id", job->run_id);
	query_int(&q, ":created_at", job->created_at);
	query_int(&q, ":job", job->row);
	return query_run(&q) &&
	    (!db->driver->side_by_side || record_keep_chunks(db, job_key(job), true, 0, err)) &&
	    push_put_first(db, job_key(job), job->push, err);
}

bool job_put_ask(struct db *db, const struct run_job *job, struct query *q, struct error *err)
{
	query_start(q, db, SQL_JOB_PUT, err);
	query_int(q, ":number", 1);
	query_text(q, ":run_id", job->run_id);
	query_int(q, ":state", JOB_READY);
	query_int(q, ":due_at", job->due_at);
	query_text(q, ":webhook", job->webhook_url);
	query_text(q, ":caller", job->caller_json);
	query_text(q, ":metadata", job->metadata_json);
	query_text(q, ":body", job->body_json);
	query_int(q, ":created_at", job->created_at);
	query_send(q);
	return !q->failed;
}

bool job_put_answer(
    struct db *db, struct run_job *job, struct query *q, struct moves *moves, struct error *err)
{
	job->number = 1;
	if (query_row(q))
		job->row = query_column_int(q, JOB_PUT_ROW);
	moves->waiting++;
	moves->queue = true;
	return query_end(q) && push_put_first(db, job_key(job), job->push, err);
}

/* ---- over ---- */

/* Puts the job's webhook into the outbox. */
static bool job_tell(struct storage *st, struct db *db, const struct run_job *job,
    struct moves *moves, struct error *err)
{
	struct run_record record;
	char *body = NULL;
	struct query q;
	bool ok = true;
	query_start(&q, db, SQL_RUN_READ, err);
	run_key_bind(&q, job_key(job));
	if (query_row(&q)) {
		record_read_row(&q, &record);
		if (record.webhook.url && st->webhook_body)
			body = st->webhook_body(st->webhook_arg, &record);
		const struct outgoing out = {.job = record.job,
		    .thread = record.thread_row,
		    .url = record.webhook.url,
		    .body = body};
		ok = !body || outbox_put(db, &out, err);
		moves->outbox |= body != NULL;
	}
	free(body);
	return query_end(&q) && ok;
}

bool job_leave_ask(struct storage *st, struct db *db, const struct job_row *job,
    int64_t finished_at, struct query *q, struct error *err)
{
	query_start(q, db, SQL_JOB_LEAVE, err);
	if (job->started_at)
		query_int(q, ":started_at", job->started_at);
	query_int(q, ":row", job->job.row);
	query_int(q, ":claimer", job->claimer);
	query_int(q, ":until", finished_at + st->chunks_keep);
	query_send(q);
	return !q->failed;
}

bool job_leave_answer(struct job_row *job, struct query *q, bool *own)
{
	*own = query_row(q);
	if (*own) {
		job->left = true;
		job->tells = query_column_int(q, JOB_LEAVE_TELLS) != 0;
		job->alone = query_column_int(q, JOB_LEAVE_OTHERS) == 0;
	}
	return query_end(q);
}

static bool job_leave(struct storage *st, struct db *db, const struct job_row *job,
    int64_t finished_at, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_JOB_END, err);
	if (job->started_at)
		query_int(&q, ":started_at", job->started_at);
	query_int(&q, ":row", job->job.row);
	return query_run(&q) &&
	    record_keep_chunks_of_job(db, job_key(&job->job), finished_at + st->chunks_keep, err) &&
	    db_run_on_row(db, SQL_JOB_BODY_DELETE, job->job.row, err);
}

/* Makes the next job of the thread ready. */
static bool job_promote(struct db *db, int64_t thread, struct moves *moves, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_JOB_PROMOTE, err);
	query_int(&q, ":thread", thread);
	if (!query_run(&q))
		return false;
	moves->queue |= db_changes(db) != 0;
	return true;
}

bool job_end(struct storage *st, struct db *db, const struct job_row *job, int64_t finished_at,
    struct moves *moves, struct error *err)
{
	const struct push_end end = {job_key(&job->job), RUN_IDLE};
	moves->waiting -= job->state < JOB_CLAIMED;
	return (job->left || job_leave(st, db, job, finished_at, err)) &&
	    (!job->tells || job_tell(st, db, &job->job, moves, err)) &&
	    pushes_tell(st, db, &end, moves, err) &&
	    (job->alone || job_promote(db, job->job.thread_row, moves, err)) &&
	    record_trim_ended(st, db, end.run, st->runs_keep, moves, err);
}

bool job_give_up(struct storage *st, struct db *db, const struct job_row *job,
    enum run_status status, const char *error_json, struct moves *moves, struct error *err)
{
	int64_t now = clock_now();
	struct query q;
	query_start(&q, db, SQL_RUN_GIVE_UP_THREAD, err);
	query_int(&q, ":status", status);
	query_int(&q, ":stop", status == RUN_STOPPED ? STOP_DONE : STOP_NONE);
	run_key_bind(&q, job_key(&job->job));
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_RUN_GIVE_UP, err);
	query_int(&q, ":status", status);
	query_int(&q, ":finished_at", now);
	query_text(&q, ":error", error_json);
	run_key_bind(&q, job_key(&job->job));
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_JOB_THREAD_MOVES, err);
	query_int(&q, ":now", now);
	query_int(&q, ":row", job->job.thread_row);
	return query_run(&q) && job_end(st, db, job, now, moves, err);
}

bool jobs_stop(struct storage *st, struct db *db, const struct jobs_stop *stop, int64_t *count,
    struct moves *moves, struct error *err)
{
	int64_t rows[JOBS_STOPPED_AT_ONCE];
	struct job_row job;
	struct query q;
	bool ok;
	*count = 0;
	query_start(&q, db, stop->run_id ? SQL_JOB_STOPPABLE : SQL_JOBS_STOPPABLE, err);
	query_int(&q, ":thread", stop->thread);
	query_int(&q, ":ends_begun", stop->order < ORDER_ROLLBACK);
	if (stop->run_id)
		query_text(&q, ":run_id", stop->run_id);
	else
		query_int(&q, ":limit", JOBS_STOPPED_AT_ONCE);
	while (*count < JOBS_STOPPED_AT_ONCE && query_row(&q))
		rows[(*count)++] = query_column_int(&q, JOBS_STOPPABLE_ROW);
	if (!query_end(&q))
		return false;
	query_start(&q, db, SQL_JOB_ORDER, err);
	query_int(&q, ":order", stop->order);
	query_int(&q, ":thread", stop->thread);
	query_text(&q, ":run_id", stop->run_id);
	ok = query_run(&q);
	for (int64_t i = 0; ok && i < *count; i++)
		ok = job_read(db, rows[i], &job, err) &&
		    job_give_up(st, db, &job, RUN_STOPPED, NULL, moves, err);
	return ok;
}
