/* SPDX-License-Identifier: ISC */
/* Records of runs, written with their threads. */
#include "storage/sql/run/run_write.h"

#include "base/os/clock.h"
#include "storage/sql/run/jobs.h"
#include "storage/sql/run/pushes.h"
#include "storage/sql/thread/claimer.h"

#include <stdatomic.h>

/* The record as the first write has it that has one, and as the last one has it; NULL: none has. */
static const struct run_record *record_first(const struct thread_change *change)
{
	const struct thread_write *second = change->writes[1];
	return change->writes[0]->run ? change->writes[0]->run : second ? second->run : NULL;
}

static const struct run_record *record_last(const struct thread_change *change)
{
	const struct thread_write *second = change->writes[1];
	return second && second->run ? second->run : change->writes[0]->run;
}

static void job_claimed_ask(struct run_writing *w, struct db *db, struct error *err)
{
	struct query *q = &w->asked.job;
	query_start(q, db, SQL_JOB_CLAIMED, err);
	query_int(q, ":row", record_first(w->change)->job);
	query_send(q);
}

static bool run_has_job(struct run_writing *w, struct db *db, struct error *err)
{
	struct run_asked *asked = &w->asked;
	struct query *q = &asked->job;
	bool own, ok;
	if (asked->job.db && record_last(w->change)->status != RUN_RUNNING) {
		ok = job_leave_answer(&asked->leaves, &asked->job, &own);
	} else {
		if (!asked->job.db)
			job_claimed_ask(w, db, err);
		own = query_row(q) &&
		    query_column_int(q, JOB_CLAIMED_CLAIMER) ==
			claimer_number(engine_of(w->st)->claimer);
		asked->leaves.tells = own && query_column_int(q, JOB_CLAIMED_TELLS) != 0;
		asked->leaves.alone = own && query_column_int(q, JOB_CLAIMED_OTHERS) == 0;
		ok = query_end(q);
	}
	return ok && (own || thread_lost(w->change->lease->thread_id, err));
}

/* Prepares a claim of another job, where the process that ends this one wants it; else false. */
static bool job_comes_along(struct run_writing *w)
{
	const struct run_claim *wanted = record_last(w->change)->claims;
	struct engine *e = engine_of(w->st);
	if (!wanted || wanted->job.row || atomic_load(wanted->unless))
		return false;
	w->asked.claim = (struct job_claim){.shared = e->shared,
	    .leases = e->instances ? NULL : e->leases,
	    .arena = wanted->arena,
	    .claimer = claimer_number(e->claimer),
	    .now = clock_now()};
	return true;
}

bool run_claims(const struct thread_change *change)
{
	const struct run_record *latest = record_last(change);
	return latest && latest->claims;
}

bool run_ask(struct run_writing *w, struct db *db, struct error *err)
{
	const struct run_record *begun = record_first(w->change), *latest = record_last(w->change);
	struct run_asked *asked = &w->asked;
	*asked = (struct run_asked){0};
	if (!begun || !begun->job)
		return true;
	asked->leaves = (struct job_row){.job = {.row = begun->job, .number = begun->number},
	    .state = JOB_CLAIMED,
	    .claimer = claimer_number(engine_of(w->st)->claimer),
	    .started_at = begun->started_at};
	if (!db->driver->send)
		return true;
	if (latest->status == RUN_RUNNING) {
		job_claimed_ask(w, db, err);
		return !asked->job.failed;
	}
	return job_leave_ask(w->st, db, &asked->leaves, latest->finished_at, &asked->job, err) &&
	    (!job_comes_along(w) || job_take_ask(db, &asked->claim, &asked->next, err));
}

void run_number_ask(
    struct db *db, const struct thread_change *change, struct query *q, struct error *err)
{
	const struct run_record *begun = record_first(change);
	*q = (struct query){0};
	if (begun && !begun->number)
		record_number_ask(db, change->writes[0]->thread->row, begun->keeps, q, err);
}

const struct run_record *run_keeps(const struct thread_change *change, int64_t *number)
{
	const struct run_record *begun = record_first(change), *latest = record_last(change);
	if (!latest || latest->status == RUN_RUNNING || begun->job)
		return NULL;
	*number = begun->number ? begun->number : *number;
	return latest;
}

bool run_prepare(struct run_writing *w, struct db *db, struct error *err)
{
	const struct run_record *begun = record_first(w->change);
	struct run_asked *asked = &w->asked;
	int64_t thread_row = w->change->writes[0]->thread->row;
	struct query q;
	bool buries = w->change->writes[0]->rewind || (begun && !begun->number && begun->buries);
	if (begun && begun->job && !run_has_job(w, db, err))
		return false;
	if (asked->next.db && !job_take_answer(&asked->claim, &asked->next, &w->written.moves))
		return false;
	if (!buries)
		return true;
	query_start(&q, db, SQL_RUN_BURY, err);
	query_int(&q, ":status", RUN_ERROR);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":running", RUN_RUNNING);
	if (!query_run(&q))
		return false;
	query_start(&q, db, SQL_KEPT_BURY, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":keep", w->st->chunks_keep);
	return query_run(&q);
}

/* Binds the columns that the end of a run replaces; fastest in the order of the statements. */
static void record_bind(struct query *q, const struct run_record *r, int64_t until)
{
	query_int(q, ":status", r->status);
	query_int(q, ":finished_at", r->finished_at);
	query_text(q, ":node", r->node);
	query_int(q, ":step", r->step);
	query_int(q, ":prompt", r->usage.prompt);
	query_int(q, ":completion", r->usage.completion);
	query_int(q, ":reasoning", r->usage.reasoning);
	query_int(q, ":total", r->usage.total);
	query_int(q, ":until", until);
	query_text(q, ":error", r->error_json);
}

static void record_bind_checkpoints(struct query *q, const struct run_place *place)
{
	if (!place->checkpoints)
		return;
	query_text(q, ":checkpoints", place->checkpoints);
	query_int(q, ":kept_count", place->kept_count);
}

bool run_make(struct db *db, int64_t thread_row, const struct run_record *r, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_RUN_INSERT, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":number", r->number);
	query_text(&q, ":run_id", r->run_id);
	query_int(&q, ":created_at", r->created_at);
	query_int(&q, ":after", r->after);
	query_int(&q, ":brought", r->brought);
	record_bind(&q, r, r->until);
	return query_run(&q);
}

/* Until when the run's chunks are kept; 0: it goes on. */
static int64_t record_kept_until(const struct storage *st, const struct run_record *r)
{
	return r->status == RUN_RUNNING ? 0 : r->finished_at + st->chunks_keep;
}

static bool record_insert(
    struct run_writing *w, struct db *db, const struct run_place *place, struct error *err)
{
	const struct run_record *begun = record_first(w->change), *latest = record_last(w->change);
	struct moves *moves = &w->written.moves;
	const struct run_key key = {place->thread_row, place->number};
	struct query q;
	w->written.number = key.number;
	query_start(&q, db, SQL_RUN_INSERT, err);
	run_key_bind(&q, key);
	query_text(&q, ":run_id", begun->run_id);
	query_int(&q, ":created_at", begun->created_at);
	query_int(&q, ":after", place->after);
	query_int(&q, ":brought", begun->brought);
	record_bind(&q, latest, place->until);
	record_bind_checkpoints(&q, place);
	if (!query_run(&q) ||
	    (begun->keeps &&
		!record_keep_chunks(db, key, false, record_kept_until(w->st, latest), err)) ||
	    !push_put_first(db, key, begun->push, err) ||
	    (begun->replaces &&
		!record_drop(w->st, db, (struct run_key){key.thread, begun->replaces}, moves, err)))
		return false;
	return record_trim_begun(w->st, db, key, begun->keep, moves, err);
}

/* Ends a record that an earlier change has made. */
static bool record_end(
    struct run_writing *w, struct db *db, const struct run_place *place, struct error *err)
{
	const struct run_record *latest = record_last(w->change);
	const struct run_key key = {place->thread_row, record_first(w->change)->number};
	struct query q;
	query_start(&q, db, SQL_RUN_END, err);
	record_bind(&q, latest, place->until);
	record_bind_checkpoints(&q, place);
	run_key_bind(&q, key);
	return query_run(&q) &&
	    (!latest->keeps ||
		record_keep_chunks_until(db, key, record_kept_until(w->st, latest), err));
}

/* ---- of a job ---- */

/* Ends the job.  If no job was claimed along yet, the one that is ready now may be, such as the
 * next of this thread. */
static bool job_finish(struct run_writing *w, struct db *db, struct error *err)
{
	struct job_claim *claim = &w->asked.claim;
	struct moves *moves = &w->written.moves;
	bool is_ready = !w->asked.next.db;
	if (!job_end(w->st, db, &w->asked.leaves, record_last(w->change)->finished_at, moves, err))
		return false;
	is_ready |= moves->queue;
	if (!claim->job.row && is_ready && job_comes_along(w) &&
	    !job_take_next(db, claim, moves, err))
		return false;
	w->written.claimed = claim->job;
	return true;
}

static bool job_go_on(
    struct run_writing *w, struct db *db, const struct run_place *place, struct error *err)
{
	const struct run_record *begun = record_first(w->change), *latest = record_last(w->change);
	struct query q;
	query_start(&q, db, SQL_RUN_GO_ON, err);
	record_bind(&q, latest, place->until);
	query_int(&q, ":after", place->after);
	query_int(&q, ":brought", begun->brought);
	query_int(&q, ":thread", place->thread_row);
	query_int(&q, ":number", begun->number);
	if (!query_run(&q))
		return false;
	w->asked.leaves.job.thread_row = place->thread_row;
	if (latest->status != RUN_RUNNING)
		return job_finish(w, db, err);
	query_start(&q, db, SQL_JOB_BEGIN, err);
	if (begun->started_at)
		query_int(&q, ":started_at", begun->started_at);
	query_text(&q, ":answers", begun->answers_json);
	query_int(&q, ":row", begun->job);
	return query_run(&q);
}

bool run_write(
    struct run_writing *w, struct db *db, const struct run_place *place, struct error *err)
{
	const struct run_record *begun = record_first(w->change);
	struct push_end end = {.run = {.thread = place->thread_row}};
	bool ok;
	if (!begun)
		return true;
	w->written.number = begun->number;
	if (begun->job)
		return job_go_on(w, db, place, err);
	ok = begun->number ? record_end(w, db, place, err) : record_insert(w, db, place, err);
	end.run.number = w->written.number;
	return ok &&
	    (record_last(w->change)->status == RUN_RUNNING ||
		pushes_tell(w->st, db, &end, &w->written.moves, err));
}

void run_hand_over(const struct run_writing *w)
{
	if (w->written.claimed.thread_id)
		record_last(w->change)->claims->job = w->written.claimed;
}
