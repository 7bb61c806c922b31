/* SPDX-License-Identifier: ISC */
/* Reading and listing checkpoints, and copying threads. */
#include "storage/history.h"

#include "base/os/clock.h"
#include "storage/sql/history/checkpoints.h"
#include "storage/sql/history/recent.h"
#include "storage/sql/thread/claims.h"
#include "storage/sql/thread/view.h"

#include <string.h>

/* ---- read ---- */

/* Fills *checkpoint from the row and, for all that checkpoints do not keep, from thread; the texts
 * live as long as the row. */
static void checkpoint_read_row(
    struct query *q, const struct thread *thread, struct checkpoint *checkpoint)
{
	struct thread *t = &checkpoint->thread;
	*checkpoint = (struct checkpoint){
	    .number = query_column_int(q, CHECKPOINT_GET_NUMBER),
	    .parent = query_column_int(q, CHECKPOINT_GET_PARENT),
	    .source = (enum checkpoint_source)query_column_int(q, CHECKPOINT_GET_SOURCE),
	    .message_count = query_column_int(q, CHECKPOINT_GET_MESSAGE_COUNT),
	    .thread = *thread,
	};
	t->run_id = query_column_text(q, CHECKPOINT_GET_RUN_ID);
	t->status = (enum run_status)query_column_int(q, CHECKPOINT_GET_STATUS);
	t->stop = (enum stop_state)query_column_int(q, CHECKPOINT_GET_STOP);
	t->node = query_column_text(q, CHECKPOINT_GET_NODE);
	t->step = query_column_int(q, CHECKPOINT_GET_STEP);
	t->next = query_column_text(q, CHECKPOINT_GET_NEXT);
	t->view.after = query_column_int(q, CHECKPOINT_GET_CONTEXT_AFTER);
	t->view.until = query_column_int(q, CHECKPOINT_GET_UNTIL);
	t->pause_json = t->waiting_json = t->summary = NULL;
	t->fields_json = "{}";
}

/* The checkpoints outside of the table that were looked at so far. */
struct history_passed {
	int64_t keep, count; /* how many the thread keeps (0: all), and how many these are */
	int64_t oldest;      /* number of the last of them */
};

/* Counts another one; false when it is too old to be kept. */
static bool history_pass(struct history_passed *p, const struct checkpoint *checkpoint)
{
	if (p->keep && p->count == p->keep)
		return false;
	p->count++;
	p->oldest = checkpoint->number;
	return true;
}

/* Whether any checkpoint of the table is among those that are kept. */
static bool history_goes_on(const struct history_passed *p)
{
	return !p->keep || p->count < p->keep;
}

/* Binds which checkpoints of the table are kept, even if some of those counted have been moved
 * there meanwhile. */
static void history_bind_kept(struct query *q, const struct history_passed *p)
{
	query_int(q, ":apart", p->count ? p->oldest : INT64_MAX);
	query_int(q, ":keep", p->keep ? p->keep - p->count : 0);
}

/* A search for one checkpoint. */
struct history_search {
	struct history_passed passed;
	int64_t number;
	struct arena *arena;
	struct checkpoint *found;
	bool over;
};

static bool history_search_one(void *arg, const struct checkpoint *checkpoint)
{
	struct history_search *s = arg;
	if (!history_pass(&s->passed, checkpoint))
		return false;
	s->over = checkpoint->number == s->number;
	if (!s->over)
		return true;
	*s->found = *checkpoint;
	engine_thread_hold(s->arena, &s->found->thread);
	return false;
}

/* The table is read last, because checkpoints that lie elsewhere are moved there. */
static bool history_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const struct thread *thread, int64_t number, struct checkpoint *checkpoint, struct error *err)
{
	struct history_search s = {.passed = {.keep = st->history_keep},
	    .number = number,
	    .arena = a,
	    .found = checkpoint};
	struct thread *t = &checkpoint->thread;
	struct query q;
	bool found;
	if (!recent_walk(st, ctx, thread, history_search_one, &s, err))
		return false;
	if (s.over || !history_goes_on(&s.passed))
		return s.over;
	engine_query(st, ctx, &q, SQL_CHECKPOINT_GET, err);
	query_int(&q, ":thread", thread->row);
	query_int(&q, ":number", number);
	history_bind_kept(&q, &s.passed);
	found = query_row(&q);
	if (found) {
		checkpoint_read_row(&q, thread, checkpoint);
		t->pause_json = query_column_text(&q, CHECKPOINT_GET_PAUSE);
		t->waiting_json = query_column_text(&q, CHECKPOINT_GET_WAITING);
		t->summary = query_column_text(&q, CHECKPOINT_GET_SUMMARY);
		if (query_column_text(&q, CHECKPOINT_GET_FIELDS))
			t->fields_json = query_column_text(&q, CHECKPOINT_GET_FIELDS);
		engine_thread_hold(a, t);
	}
	return pool_query_end(engine_of(st)->pool, &q) && found;
}

struct history_listing {
	struct history_passed passed;
	struct checkpoint_filter rest; /* what is still wanted from the table */
	checkpoint_fn fn;
	void *arg;
	bool over;
};

static bool history_list_one(void *arg, const struct checkpoint *checkpoint)
{
	struct history_listing *l = arg;
	struct checkpoint c = *checkpoint;
	if (l->rest.limit <= 0 || !history_pass(&l->passed, &c))
		return false;
	if (l->rest.before && c.number >= l->rest.before)
		return true;
	l->rest.before = c.number;
	if (l->rest.run_id && strcmp(c.thread.run_id, l->rest.run_id) != 0)
		return true;
	c.thread.fields_json = "{}"; /* as the table's are listed */
	l->rest.limit--;
	l->over = !l->fn(l->arg, &c);
	return !l->over;
}

static bool sql_history_list(struct storage *st, const struct storage_context *ctx,
    const struct thread *thread, const struct checkpoint_filter *filter, checkpoint_fn fn,
    void *arg, struct error *err)
{
	struct history_listing l = {
	    .passed = {.keep = st->history_keep}, .rest = *filter, .fn = fn, .arg = arg};
	struct checkpoint checkpoint;
	struct query q;
	bool more = true;
	if (!recent_walk(st, ctx, thread, history_list_one, &l, err))
		return false;
	if (l.over || l.rest.limit <= 0 || !history_goes_on(&l.passed))
		return true;
	engine_query(st, ctx, &q, SQL_CHECKPOINT_LIST, err);
	query_int(&q, ":thread", thread->row);
	query_int(&q, ":before", l.rest.before ? l.rest.before : INT64_MAX);
	query_text(&q, ":run_id", l.rest.run_id);
	history_bind_kept(&q, &l.passed);
	query_int(&q, ":limit", l.rest.limit);
	while (more && query_row(&q)) {
		checkpoint_read_row(&q, thread, &checkpoint);
		more = fn(arg, &checkpoint);
	}
	return pool_query_end(engine_of(st)->pool, &q);
}

/* ---- copied ---- */

struct copying {
	struct unit unit;
	struct storage *st;
	const struct lease *lease;
	const struct thread *from;
	struct thread *to;
	int64_t row; /* the new thread's */
};

/* Counts the messages of the view's list, and their bytes. */
static bool history_copy_count(
    struct db *db, const struct view *v, int64_t *bytes, int64_t *count, struct error *err)
{
	bool ok = true;
	*bytes = *count = 0;
	for (size_t i = 0; ok && i < v->list_count; i++) {
		struct query q;
		query_start(&q, db, SQL_COPY_SIZE, err);
		query_int(&q, ":thread", v->thread);
		query_int(&q, ":after", v->list[i].after);
		query_int(&q, ":until", v->list[i].until);
		if (query_row(&q)) {
			*bytes += query_column_int(&q, COPY_SIZE_BYTES);
			*count += query_column_int(&q, COPY_SIZE_COUNT);
		}
		ok = query_end(&q);
	}
	return ok;
}

/* Copies a range of messages.  They keep their places; their bodies get new rows in the same
 * order. */
static bool history_copy_range(struct db *db, const struct view *v, const struct view_range *range,
    int64_t to, struct error *err)
{
	static const enum sql_id steps[] = {SQL_COPY_BODIES, SQL_COPY_MESSAGES};
	int64_t highest = 0;
	struct query q;
	bool ok;
	query_start(&q, db, SQL_BODY_HIGHEST, err);
	if (query_row(&q))
		highest = query_column_int(&q, BODY_HIGHEST_ROW);
	ok = query_end(&q);
	for (size_t i = 0; ok && i < 2; i++) {
		query_start(&q, db, steps[i], err);
		query_int(&q, ":thread", v->thread);
		query_int(&q, ":after", range->after);
		query_int(&q, ":until", range->until);
		query_int(&q, ":highest", highest);
		if (steps[i] == SQL_COPY_MESSAGES)
			query_int(&q, ":to", to);
		ok = query_run(&q);
	}
	return ok;
}

static bool history_copy_all(
    struct db *db, struct copying *c, const struct view *v, struct error *err)
{
	const struct thread_write first = {.thread = c->to, .checkpoint = CHECKPOINT_COPY};
	struct standing now = {.view = v->shown, .next = clock_now()};
	int64_t bytes, max = c->st->thread_max_bytes;
	struct query q;
	if (!history_copy_count(db, v, &bytes, &now.messages, err))
		return false;
	if (max && bytes + thread_state_size(c->to) > max)
		return thread_too_large(c->to, max, err);
	if (!engine_thread_insert(c->st, db, c->to, &c->row, err))
		return false;
	for (size_t i = 0; i < v->list_count; i++) {
		if (!history_copy_range(db, v, &v->list[i], c->row, err))
			return false;
	}
	for (size_t i = 0; i < v->again_count; i++) {
		query_start(&q, db, SQL_CONTEXT_ENTER, err);
		query_int(&q, ":thread", c->row);
		query_int(&q, ":number", v->again[i].second);
		query_int(&q, ":seq", v->again[i].until);
		if (!query_run(&q))
			return false;
	}
	if (!checkpoint_keep(db, c->row, &first, &now, err))
		return false;
	query_start(&q, db, SQL_COPY_STAND, err);
	query_int(&q, ":last", v->shown.until);
	query_int(&q, ":after", v->shown.after);
	query_int(&q, ":plain", v->again_count == 0);
	query_int(&q, ":changed", 0);
	query_int(&q, ":bytes", bytes);
	query_int(&q, ":messages", now.messages);
	query_int(&q, ":checkpoint", now.checkpoint);
	query_int(&q, ":checkpoints", now.checkpoints);
	query_int(&q, ":row", c->row);
	return query_run(&q);
}

/* Nobody holds the lease of the thread that is copied: its messages may have been removed since,
 * but do not change. */
static bool history_copy_apply(struct db *db, struct unit *unit, struct error *err)
{
	struct copying *c = (struct copying *)unit;
	struct thread_view now;
	struct view v;
	bool ok;
	if (!claim_holds(db, c->lease, err) || !claim_lock(db, SQL_THREAD_LOCK, c->from->row, err))
		return false;
	if (!view_read_in(&v, db, c->from->row, NULL, err))
		return false;
	now = v.shown;
	view_release(&v);
	if (!now.last && !now.plain) {
		error_set(err, ERR_STORAGE, NULL);
		return error_cause(err, "thread row %lld is gone", (long long)c->from->row);
	}
	/* it may have got branches since it was read */
	now.until = c->from->view.until;
	now.after = c->from->view.after < now.until ? c->from->view.after : now.until;
	ok = view_read_in(&v, db, c->from->row, &now, err) && history_copy_all(db, c, &v, err);
	view_release(&v);
	return ok;
}

static bool sql_history_copy(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, const struct thread *from, struct thread *to, struct error *err)
{
	struct copying c = {
	    .unit = {.run = history_copy_apply}, .st = st, .lease = lease, .from = from, .to = to};
	(void)ctx;
	if (!writer_run(engine_of(st)->writer, &c.unit, err))
		return false;
	to->row = c.row;
	return true;
}

const struct history_ops sql_history = {
    .get = history_get,
    .list = sql_history_list,
    .copy = sql_history_copy,
    .places = parts_places,
    .origin = parts_origin,
    .make = parts_make,
};
