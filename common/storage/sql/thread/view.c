/* SPDX-License-Identifier: ISC */
/* Finding the places that a thread shows, over branches and second places. */
#include "storage/sql/thread/view.h"

#include "base/memory.h"

#include <stdlib.h>

/* Where queries run: each on a connection of the pool or, where db is set, all on that. */
struct view_source {
	struct storage *st;
	const struct storage_context *ctx;
	struct db *db;
};

static void view_query(
    const struct view_source *s, struct query *q, enum sql_id id, struct error *err)
{
	if (s->db)
		query_start(q, s->db, id, err);
	else
		engine_query(s->st, s->ctx, q, id, err);
}

static bool view_query_end(const struct view_source *s, struct query *q)
{
	return s->db ? query_end(q) : pool_query_end(engine_of(s->st)->pool, q);
}

static void view_add(
    struct view_range **ranges, size_t *count, int64_t after, int64_t until, int64_t second)
{
	if (until <= after)
		return;
	*ranges = xgrow(*ranges, *count, sizeof(**ranges));
	(*ranges)[(*count)++] = (struct view_range){after, until, second};
}

/* Reads the ranges of the list from its end to its beginning, then reverses them. */
static bool view_read_list(struct view *v, const struct view_source *s, struct error *err)
{
	int64_t until = v->shown.until;
	struct query q;
	view_query(s, &q, SQL_VIEW_BRANCHES, err);
	query_int(&q, ":thread", v->thread);
	query_int(&q, ":until", until);
	while (until && query_row(&q)) {
		int64_t first = query_column_int(&q, VIEW_BRANCHES_FIRST);
		if (first > until)
			continue; /* a branch that the list is not on */
		view_add(&v->list, &v->list_count, first - 1, until, 0);
		until = query_column_int(&q, VIEW_BRANCHES_UNTIL);
	}
	view_add(&v->list, &v->list_count, 0, until, 0);
	for (size_t i = 0, j = v->list_count; i + 1 < j--; i++) {
		struct view_range range = v->list[i];
		v->list[i] = v->list[j];
		v->list[j] = range;
	}
	return view_query_end(s, &q);
}

static int view_by_message(const void *left, const void *right)
{
	const struct view_range *a = left, *b = right;
	if (a->until != b->until)
		return a->until < b->until ? -1 : 1;
	return (a->second > b->second) - (a->second < b->second);
}

/* Reads the messages that entered the context again.  Where one did so several times, the last time
 * counts.  One that did so before the context begins is not in the context. */
static bool view_read_again(struct view *v, const struct view_source *s, struct error *err)
{
	size_t kept = 0;
	struct query q;
	view_query(s, &q, SQL_VIEW_ENTERED, err);
	query_int(&q, ":thread", v->thread);
	query_int(&q, ":after", v->shown.after);
	query_int(&q, ":until", v->shown.until);
	while (query_row(&q)) {
		int64_t number = query_column_int(&q, VIEW_ENTERED_NUMBER);
		int64_t seq = query_column_int(&q, VIEW_ENTERED_SEQ);
		if (view_has(v, number))
			view_add(&v->again, &v->again_count, seq - 1, seq, number);
	}
	if (!view_query_end(s, &q) || v->again_count < 2)
		return !error_is_set(err);
	qsort(v->again, v->again_count, sizeof(*v->again), view_by_message);
	for (size_t i = 0; i < v->again_count; i++) {
		if (i + 1 == v->again_count || v->again[i + 1].until != v->again[i].until)
			v->again[kept++] = v->again[i];
	}
	v->again_count = kept;
	return true;
}

static bool view_fill(struct view *v, const struct view_source *s, int64_t thread_row,
    const struct thread_view *shown, struct error *err)
{
	struct query q;
	*v = (struct view){.thread = thread_row};
	if (shown) {
		v->shown = *shown;
	} else {
		view_query(s, &q, SQL_VIEW, err);
		query_int(&q, ":thread", thread_row);
		if (query_row(&q))
			v->shown =
			    (struct thread_view){.after = query_column_int(&q, VIEW_CONTEXT_AFTER),
				.until = query_column_int(&q, VIEW_UNTIL),
				.last = query_column_int(&q, VIEW_LAST_NUMBER),
				.plain = query_column_int(&q, VIEW_PLAIN) != 0};
		if (!view_query_end(s, &q))
			return false;
	}
	if (!v->shown.plain)
		return view_read_list(v, s, err) && view_read_again(v, s, err);
	v->one = (struct view_range){.until = v->shown.until};
	v->list = &v->one;
	v->list_count = 1;
	return true;
}

bool view_read(struct view *v, struct storage *st, const struct storage_context *ctx,
    int64_t thread_row, const struct thread_view *shown, struct error *err)
{
	const struct view_source source = {.st = st, .ctx = ctx};
	return view_fill(v, &source, thread_row, shown, err);
}

bool view_read_in(struct view *v, struct db *db, int64_t thread_row,
    const struct thread_view *shown, struct error *err)
{
	const struct view_source source = {.db = db};
	return view_fill(v, &source, thread_row, shown, err);
}

void view_release(struct view *v)
{
	if (v->list != &v->one)
		free(v->list);
	free(v->again);
}

/* The range that has this place; NULL: none has. */
static const struct view_range *view_range_of(
    const struct view_range *ranges, size_t count, int64_t place)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (ranges[middle].until < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && ranges[low].after < place ? &ranges[low] : NULL;
}

bool view_has(const struct view *v, int64_t place)
{
	return view_range_of(v->list, v->list_count, place);
}

int64_t view_place(const struct view *v, int64_t seq)
{
	const struct view_range *again = view_range_of(v->again, v->again_count, seq);
	return again ? again->second : seq;
}

bool view_find(
    const struct view *v, struct db *db, const char *message_id, int64_t *seq, struct error *err)
{
	struct query q;
	*seq = 0;
	query_start(&q, db, SQL_MESSAGE_PLACES, err);
	query_int(&q, ":thread", v->thread);
	query_text(&q, ":message_id", message_id);
	while (!*seq && query_row(&q)) {
		int64_t place = query_column_int(&q, MESSAGE_PLACES_SEQ);
		if (view_has(v, place))
			*seq = place;
	}
	return query_end(&q);
}

bool view_count(struct db *db, int64_t thread_row, const struct thread_view *shown, int64_t *count,
    struct error *err)
{
	struct view v;
	bool ok = view_read_in(&v, db, thread_row, shown, err);
	*count = 0;
	for (size_t i = 0; ok && i < v.list_count; i++) {
		struct query q;
		query_start(&q, db, SQL_CONTEXT_COUNT, err);
		query_int(&q, ":thread", thread_row);
		query_int(&q, ":after", v.list[i].after);
		query_int(&q, ":until", v.list[i].until);
		if (query_row(&q))
			*count += query_column_int(&q, CONTEXT_COUNT_COUNT);
		ok = query_end(&q);
	}
	view_release(&v);
	return ok;
}

/* A place at which ranges of the list are cut: a message leaves its first place there, or enters
 * again. */
struct view_cut {
	int64_t place;
	const struct view_range *enters; /* NULL: a message leaves */
};

static int view_by_place(const void *left, const void *right)
{
	const struct view_cut *a = left, *b = right;
	return (a->place > b->place) - (a->place < b->place);
}

struct view_range *view_context(const struct view *v, size_t *count)
{
	size_t cut_count = 2 * v->again_count;
	struct view_cut *cuts = xcalloc(cut_count + 1, sizeof(*cuts)), *cut = cuts;
	struct view_range *ranges = NULL;
	for (size_t i = 0; i < v->again_count; i++) {
		cuts[2 * i] = (struct view_cut){v->again[i].until, NULL};
		cuts[2 * i + 1] = (struct view_cut){v->again[i].second, &v->again[i]};
	}
	qsort(cuts, cut_count, sizeof(*cuts), view_by_place);
	*count = 0;
	for (size_t i = 0; i < v->list_count; i++) {
		int64_t from = v->list[i].after, until = v->list[i].until;
		if (from < v->shown.after)
			from = v->shown.after;
		for (; cut < cuts + cut_count && cut->place <= until; cut++) {
			if (cut->place <= from)
				continue;
			view_add(&ranges, count, from, cut->place - 1, 0);
			if (cut->enters)
				view_add(&ranges, count, cut->enters->after, cut->enters->until,
				    cut->place);
			from = cut->place;
		}
		view_add(&ranges, count, from, until, 0);
	}
	free(cuts);
	return ranges;
}
