/* SPDX-License-Identifier: ISC */
/* Jobs that are submitted, stopped before they begin, and counted. */
#include "storage/queue.h"
#include "storage/sql/run/jobs.h"
#include "storage/sql/run/runs_engine.h"
#include "storage/sql/thread/claims.h"

#include <assert.h>

struct submission {
	struct unit unit;
	struct storage *st;
	const struct lease *lease;
	const struct thread *thread;
	const struct run_job *job;
	int64_t after; /* records up to this number are known to have other ids */

	struct query hold, made, put; /* queries of a thread that is made with its job */

	struct run_job stored;
	enum submit_result result;
	bool stopped; /* other jobs of the thread were stopped */
	bool more;    /* more have to be stopped first, in another transaction */
	struct moves moves;
};

/* Says in s->result whether the thread can take the job: it is there, and has no job and no record
 * of this id. */
static bool submit_look(struct db *db, struct submission *s, struct error *err)
{
	struct query q;
	bool there, known;
	query_start(&q, db, SQL_JOB_THREAD, err);
	query_int(&q, ":row", s->thread->row);
	there = query_row(&q);
	if (!query_end(&q))
		return false;
	s->result = there ? SUBMIT_DONE : SUBMIT_THREAD_GONE;
	if (!there || s->job->fresh_id)
		return true;
	query_start(&q, db, SQL_JOB_KNOWN, err);
	query_int(&q, ":thread", s->thread->row);
	query_text(&q, ":run_id", s->job->run_id);
	known = query_row(&q);
	if (!query_end(&q))
		return false;
	if (!known) {
		query_start(&q, db, SQL_RUN_KNOWN, err);
		query_int(&q, ":thread", s->thread->row);
		query_text(&q, ":run_id", s->job->run_id);
		query_int(&q, ":after", s->after);
		known = query_row(&q);
		if (!query_end(&q))
			return false;
	}
	if (known)
		s->result = SUBMIT_KNOWN;
	return true;
}

/* Makes a new thread and its job in one trip to the server. */
static bool submit_ask(struct db *db, struct unit *unit, struct error *err)
{
	struct submission *s = (struct submission *)unit;
	s->hold = s->made = s->put = (struct query){0};
	return s->thread->row != 0 ||
	    (claim_ask(db, s->lease, &s->hold, err) &&
		engine_thread_insert_ask(s->st, db, s->thread, &s->made, err) &&
		job_put_ask(db, s->job, &s->put, err));
}

static bool submit_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct submission *s = (struct submission *)unit;
	bool is_new = s->thread->row == 0;
	struct query q;
	s->stored = *s->job;
	s->stored.thread_row = s->thread->row;
	s->result = SUBMIT_DONE;
	s->stopped = s->more = false;
	s->moves = (struct moves){0};
	if (is_new && db->driver->send)
		return claim_answer(s->lease, &s->hold, err) &&
		    engine_thread_insert_answer(
			db, s->thread, &s->made, &s->stored.thread_row, err) &&
		    job_put_answer(db, &s->stored, &s->put, &s->moves, err);
	if (is_new) {
		if (!claim_holds(db, s->lease, err) ||
		    !engine_thread_insert(s->st, db, s->thread, &s->stored.thread_row, err))
			return false;
	} else {
		const struct jobs_stop all = {.thread = s->thread->row, .order = s->job->orders};
		int64_t count = 0;
		if (!submit_look(db, s, err))
			return false;
		if (s->result != SUBMIT_DONE)
			return true;
		/* the thread's other jobs; of a long queue one piece at a time */
		if (all.order && !jobs_stop(s->st, db, &all, &count, &s->moves, err))
			return false;
		s->stopped = count > 0;
		s->more = count == JOBS_STOPPED_AT_ONCE;
		query_start(&q, db, SQL_JOB_THREAD_MOVES, err);
		query_int(&q, ":now", s->job->created_at);
		query_int(&q, ":row", s->thread->row);
		if (!query_run(&q))
			return false;
	}
	return s->more || job_put(db, &s->stored, is_new, &s->moves, err);
}

/* Looks through the records that exist already, of which there can be very many, outside of the
 * transaction. */
static bool submit_prepare(
    struct submission *s, const struct storage_context *ctx, bool *known, struct error *err)
{
	struct pool *pool = engine_of(s->st)->pool;
	struct query q;
	*known = false;
	if (!s->thread->row || s->job->fresh_id)
		return true;
	engine_query(s->st, ctx, &q, SQL_RUN_LAST, err);
	query_int(&q, ":thread", s->thread->row);
	if (query_row(&q))
		s->after = query_column_int(&q, RUN_LAST_NUMBER);
	if (!pool_query_end(pool, &q))
		return false;
	engine_query(s->st, ctx, &q, SQL_RUN_KNOWN, err);
	query_int(&q, ":thread", s->thread->row);
	query_text(&q, ":run_id", s->job->run_id);
	query_int(&q, ":after", 0);
	*known = query_row(&q);
	return pool_query_end(pool, &q);
}

bool engine_submit(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread *thread, struct run_job *job, enum submit_result *result, struct error *err)
{
	struct submission s = {.unit = {.run = submit_unit, .ask = submit_ask},
	    .st = st,
	    .lease = lease,
	    .thread = thread,
	    .job = job};
	int64_t holder = 0;
	bool known;
	assert(thread->row || (lease && job->created_at == thread->created_at));
	if (!submit_prepare(&s, ctx, &known, err) ||
	    (!thread->row && !claim_holder(st, lease, &holder, err)))
		return false;
	*result = SUBMIT_KNOWN;
	if (known)
		return true;
	do {
		if (!writer_run(engine_of(st)->writer, &s.unit, err))
			return false;
		if (s.stopped)
			chunks_moved_all(engine_of(st)->shared);
		moves_tell(st, &s.moves);
	} while (s.more);
	*result = s.result;
	if (s.result == SUBMIT_DONE) {
		if (!thread->row) {
			claim_made(lease, s.stored.thread_row, holder);
			claim_freed(lease);
		}
		thread->row = s.stored.thread_row;
		*job = s.stored;
	}
	return true;
}

/* ---- out of the queue ---- */

struct stop {
	struct unit unit;
	struct storage *st;
	const char *thread_id;
	struct jobs_stop what;
	int64_t count;
	struct moves moves;
};

static bool stop_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct stop *s = (struct stop *)unit;
	struct query q;
	s->count = 0;
	s->what.thread = 0;
	s->moves = (struct moves){0};
	query_start(&q, db, SQL_JOB_THREAD_NAMED, err);
	query_text(&q, ":thread_id", s->thread_id);
	if (query_row(&q))
		s->what.thread = query_column_int(&q, JOB_THREAD_ROW);
	return query_end(&q) && jobs_stop(s->st, db, &s->what, &s->count, &s->moves, err);
}

bool engine_stop_queued(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, const char *run_id, enum lease_order order, struct error *err)
{
	struct stop s = {.unit = {.run = stop_unit},
	    .st = st,
	    .thread_id = thread_id,
	    .what = {.run_id = run_id, .order = order}};
	bool more;
	if (!order)
		return true;
	/* most threads have nothing in the queue, and then this costs no transaction */
	if (!engine_queued_due(st, ctx, thread_id, INT64_MAX, 1, &more, err))
		return false;
	while (more) {
		if (!writer_run(engine_of(st)->writer, &s.unit, err))
			return false;
		if (s.count)
			chunks_moved_all(engine_of(st)->shared);
		moves_tell(st, &s.moves);
		more = s.count == JOBS_STOPPED_AT_ONCE;
	}
	return true;
}

bool engine_ordered(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum lease_order *order, struct error *err)
{
	struct query q;
	*order = ORDER_NONE;
	engine_query(st, ctx, &q, SQL_JOB_ORDERED, err);
	query_int(&q, ":row", job_row);
	if (query_row(&q))
		*order = (enum lease_order)query_column_int(&q, JOB_ORDERED_ORDERED);
	return pool_query_end(engine_of(st)->pool, &q);
}

bool engine_queued_due(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    int64_t now, int64_t at_least, bool *reached, struct error *err)
{
	struct query q;
	*reached = at_least <= 0;
	if (*reached)
		return true;
	engine_query(st, ctx, &q, thread_id ? SQL_JOBS_DUE_THREAD : SQL_JOBS_DUE, err);
	if (thread_id)
		query_text(&q, ":thread_id", thread_id);
	query_int(&q, ":now", now);
	query_int(&q, ":skip", at_least - 1);
	*reached = query_row(&q);
	return pool_query_end(engine_of(st)->pool, &q);
}
