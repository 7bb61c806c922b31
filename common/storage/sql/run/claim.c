/* SPDX-License-Identifier: ISC */
/* Jobs that are claimed, given back or ended without a run, and those of dead processes. */
#include "base/memory.h"
#include "storage/queue.h"
#include "storage/sql/run/jobs.h"
#include "storage/sql/run/runs_engine.h"
#include "storage/sql/thread/claimer.h"
#include "storage/sql/thread/claims.h"

#include <stdlib.h>

struct claiming {
	struct unit unit;
	int64_t row;
	struct query asked; /* claims any job that is ready */

	struct job_claim what;
	struct moves moves;
};

static bool claim_unit_ask(struct db *db, struct unit *unit, struct error *err)
{
	struct claiming *c = (struct claiming *)unit;
	return c->row || job_take_ask(db, &c->what, &c->asked, err);
}

static bool claim_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct claiming *c = (struct claiming *)unit;
	struct job_row job;
	c->what.job = (struct run_job){0};
	c->moves = (struct moves){0};
	if (c->row) /* only if its latest attempt was lost */
		return job_read(db, c->row, &job, err) &&
		    (job.state != JOB_LOST || job_take(db, &c->what, c->row, &c->moves, err));
	return db->driver->send ? job_take_answer(&c->what, &c->asked, &c->moves)
				: job_take_next(db, &c->what, &c->moves, err);
}

/* A mere read first shows whether a transaction is worth it, unless the queue flows. */
bool engine_claim(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t row, int64_t now, struct run_job *job, int64_t *next_due, struct error *err)
{
	struct engine *e = engine_of(st);
	struct claiming c = {.unit = {.run = claim_unit, .ask = claim_unit_ask, .patient = true},
	    .row = row,
	    .what = {.shared = e->shared,
		.leases = e->instances ? NULL : e->leases,
		.arena = a,
		.now = now}};
	struct query q;
	bool ok = true;
	*next_due = INT64_MAX;
	if (e->instances)
		ok = instances_process(e->instances, &c.what.claimer, err);
	else
		c.what.claimer = claimer_begin(e->claimer, err);
	if (!ok || !c.what.claimer)
		return false;
	if (!row && !e->queue_flows) {
		engine_query(st, ctx, &q, SQL_JOB_NEXT, err);
		query_int(&q, ":now", now);
		ok = job_next_row(&q, now, &row, next_due);
		if (!pool_query_end(e->pool, &q) || !ok || !row)
			return false;
	}
	ok = writer_run(e->writer, &c.unit, err);
	e->queue_flows = ok && c.what.job.thread_id;
	if (!ok)
		return false;
	moves_tell(st, &c.moves);
	*next_due = c.row ? INT64_MAX : c.what.next_due;
	*job = c.what.job;
	return job->thread_id != NULL;
}

struct job_change {
	struct unit unit;
	struct storage *st;
	int64_t row;
	enum run_status status;
	const char *error_json;
	bool loses; /* the attempt counts */

	struct job_row job;
	struct moves moves;
};

static bool job_give_back_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct job_change *c = (struct job_change *)unit;
	c->moves = (struct moves){0};
	if (!job_read(db, c->row, &c->job, err))
		return false;
	if (c->job.state != JOB_CLAIMED ||
	    c->job.claimer != claimer_number(engine_of(c->st)->claimer))
		return true;
	c->moves = (struct moves){.waiting = 1, .queue = true};
	if (c->loses)
		return db_run_on_row(db, SQL_JOB_LOSE, c->row, err);
	return db_run_on_row(db,
	    queue_is_unbegun(engine_of(c->st)->shared, c->row, c->job.claimer) ? SQL_JOB_UNCLAIM
									       : SQL_JOB_GIVE_BACK,
	    c->row, err);
}

void engine_begins(struct storage *st, const struct run_job *job)
{
	queue_begun(engine_of(st)->shared, job->row);
}

/* This process has nothing more to do with the job. */
static bool job_let_go(struct job_change *c, struct error *err)
{
	if (!writer_run(engine_of(c->st)->writer, &c->unit, err))
		return false;
	queue_begun(engine_of(c->st)->shared, c->row);
	return moves_tell(c->st, &c->moves);
}

bool engine_give_back(struct storage *st, const struct storage_context *ctx,
    const struct run_job *job, struct error *err)
{
	struct job_change c = {.unit = {.run = job_give_back_unit}, .st = st, .row = job->row};
	(void)ctx;
	return job_let_go(&c, err);
}

bool engine_lose(struct storage *st, const struct storage_context *ctx, const struct run_job *job,
    bool *lost, struct error *err)
{
	struct job_change c = {
	    .unit = {.run = job_give_back_unit}, .st = st, .row = job->row, .loses = true};
	bool ok;
	(void)ctx;
	ok = job_let_go(&c, err);
	*lost = c.moves.waiting != 0;
	return ok;
}

static bool job_finish_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct job_change *c = (struct job_change *)unit;
	c->moves = (struct moves){0};
	if (!claim_lock(db, SQL_JOB_LOCK, c->row, err) || !job_read(db, c->row, &c->job, err))
		return false;
	/* another process may have taken it for lost, and claimed it */
	return c->job.state == JOB_OVER ||
	    (c->job.state == JOB_CLAIMED &&
		c->job.claimer != claimer_number(engine_of(c->st)->claimer)) ||
	    job_give_up(c->st, db, &c->job, c->status, c->error_json, &c->moves, err);
}

bool engine_finish(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum run_status status, const char *error_json, struct error *err)
{
	struct job_change c = {.unit = {.run = job_finish_unit},
	    .st = st,
	    .row = job_row,
	    .status = status,
	    .error_json = error_json};
	(void)ctx;
	if (!writer_run(engine_of(st)->writer, &c.unit, err))
		return false;
	chunks_moved(engine_of(st)->shared, c.job.job.thread_row, c.job.job.number);
	return moves_tell(st, &c.moves);
}

/* ---- of the dead ---- */

#define LOST_AT_ONCE 64

struct loss {
	struct unit unit;
	struct storage *st;
	int64_t claimer, max_attempts;
	bool given_up; /* some of them */
	bool more;
	struct moves moves;
};

struct lost_job {
	int64_t row, attempt;
	bool ordered;
};

/* Takes a lost job from its dead claimer, unless another instance has done so meanwhile. */
static bool loss_take(struct db *db, struct loss *l, const struct lost_job *lost, struct error *err)
{
	bool unbegun = queue_is_unbegun(engine_of(l->st)->shared, lost->row, l->claimer);
	struct job_row job;
	if (!claim_lock(db, SQL_JOB_LOCK, lost->row, err) || !job_read(db, lost->row, &job, err))
		return false;
	if (job.claimer != l->claimer)
		return true;
	if (unbegun || lost->ordered || lost->attempt < l->max_attempts) {
		l->moves.waiting++;
		l->moves.queue = true;
		return db_run_on_row(db, unbegun ? SQL_JOB_UNCLAIM : SQL_JOB_LOSE, lost->row, err);
	}
	l->given_up = true;
	return job_give_up(l->st, db, &job, RUN_ERROR, NULL, &l->moves, err);
}

static bool loss_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct loss *l = (struct loss *)unit;
	struct lost_job lost[LOST_AT_ONCE];
	size_t count = 0;
	struct query q;
	bool ok;
	l->given_up = false;
	l->moves = (struct moves){0};
	query_start(&q, db, SQL_JOBS_OF_CLAIMER, err);
	query_int(&q, ":claimer", l->claimer);
	while (count < LOST_AT_ONCE && query_row(&q))
		lost[count++] = (struct lost_job){query_column_int(&q, JOBS_OF_CLAIMER_ROW),
		    query_column_int(&q, JOBS_OF_CLAIMER_ATTEMPT),
		    query_column_int(&q, JOBS_OF_CLAIMER_ORDERED) != 0};
	ok = query_end(&q);
	for (size_t i = 0; ok && i < count; i++)
		ok = loss_take(db, l, &lost[i], err);
	l->more = count == LOST_AT_ONCE;
	return ok;
}

/* Recovers all jobs that a dead process had claimed. */
static bool loss_recover(
    struct storage *st, int64_t claimer, int64_t max_attempts, struct error *err)
{
	struct loss l = {
	    .unit = {.run = loss_unit}, .st = st, .claimer = claimer, .max_attempts = max_attempts};
	do {
		if (!writer_run(engine_of(st)->writer, &l.unit, err))
			return false;
		if (l.given_up)
			chunks_moved_all(engine_of(st)->shared);
		moves_tell(st, &l.moves);
	} while (l.more);
	return true;
}

bool engine_recover(struct storage *st, const struct storage_context *ctx, int64_t max_attempts,
    int64_t *rows, size_t *count, struct error *err)
{
	struct engine *e = engine_of(st);
	int64_t *dead = NULL;
	size_t room = *count, dead_count = 0;
	struct query q;
	bool ok;
	*count = 0;
	if (e->instances && !instances_bury(e->instances, err))
		return false;
	engine_query(st, ctx, &q, SQL_JOB_CLAIMERS, err);
	while (query_row(&q)) {
		int64_t claimer = query_column_int(&q, JOB_CLAIMERS_CLAIMER);
		/* where there are several instances, the query names only dead ones */
		if (!e->instances && claimer_lives(e->claimer, claimer))
			continue;
		dead = xrealloc(dead, (dead_count + 1) * sizeof(*dead));
		dead[dead_count++] = claimer;
	}
	ok = pool_query_end(e->pool, &q);
	for (size_t i = 0; ok && i < dead_count; i++)
		ok = loss_recover(st, dead[i], max_attempts, err);
	free(dead);
	if (!ok)
		return false;
	engine_query(st, ctx, &q, SQL_JOBS_LOST, err);
	query_int(&q, ":limit", (int64_t)room);
	while (*count < room && query_row(&q))
		rows[(*count)++] = query_column_int(&q, JOBS_LOST_ROW);
	return pool_query_end(e->pool, &q);
}
