/* SPDX-License-Identifier: ISC */
/* Trimming: checkpoints that are too old, and messages and branches that nothing shows any more. */
#include "storage/sql/sweep.h"

#include "base/memory.h"
#include "storage/sql/history/recent.h"

#include <stdlib.h>

/* The thread that is trimmed, and how far. */
struct trim {
	struct db *db;
	int64_t thread_row;
	int64_t keep; /* how many checkpoints stay, unless the thread was removed */
	int64_t most; /* most rows that are deleted at once */

	/* where its checkpoints lie, as trim_piece finds it */
	bool plain;   /* the thread has no branches, so it shows all that it has */
	int64_t kept; /* how many checkpoints it has kept in all, those trimmed since included */
	int64_t kept_from; /* the first record with checkpoints; 0: none has any */
	int64_t apart;     /* how many checkpoints are not in the table */
};

static void trim_start(const struct trim *t, struct query *q, enum sql_id id, struct error *err)
{
	query_start(q, t->db, id, err);
	query_int(q, ":thread", t->thread_row);
}

static bool trim_run(
    const struct trim *t, enum sql_id id, const char *name, int64_t value, struct error *err)
{
	struct query q;
	trim_start(t, &q, id, err);
	query_int(&q, name, value);
	return query_run(&q);
}

/* Deletes checkpoints of the table that are older than first, the first one that stays; *count says
 * how many. */
static bool trim_before(const struct trim *t, int64_t first, int64_t *count, struct error *err)
{
	int64_t upto = 0, states = 0;
	struct query q;
	*count = 0;
	trim_start(t, &q, SQL_TRIM_UPTO, err);
	query_int(&q, ":first", first);
	query_int(&q, ":limit", t->most);
	if (query_row(&q)) {
		upto = query_column_int(&q, TRIM_UPTO_NUMBER);
		*count = query_column_int(&q, TRIM_UPTO_COUNT);
		states = query_column_int(&q, TRIM_UPTO_STATES);
	}
	if (!query_end(&q) || !*count)
		return !error_is_set(err);
	return (!states || trim_run(t, SQL_TRIM_STATES, ":upto", upto, err)) &&
	    trim_run(t, SQL_TRIM_CHECKPOINTS, ":upto", upto, err);
}

/* Deletes the oldest checkpoints of the table.  Of the keep that stay, those that lie elsewhere are
 * the latest. */
static bool trim_oldest(const struct trim *t, int64_t *count, struct error *err)
{
	int64_t first = 0;
	struct query q;
	if (t->keep <= t->apart)
		return trim_before(t, INT64_MAX, count, err);
	trim_start(t, &q, SQL_TRIM_FIRST, err);
	query_int(&q, ":keep", t->keep - t->apart);
	if (query_row(&q))
		first = query_column_int(&q, TRIM_FIRST_NUMBER);
	return query_end(&q) && trim_before(t, first, count, err);
}

/* ---- branches ---- */

/* Places up to which a branch is shown: where lists end, and where branches that are shown
 * begin. */
struct trim_marks {
	int64_t *places;
	size_t count;
};

static void trim_mark(struct trim_marks *m, int64_t place)
{
	m->places = xgrow(m->places, m->count, sizeof(*m->places));
	m->places[m->count++] = place;
}

/* The highest mark from first to last; without one, the place before first. */
static int64_t trim_reach(const struct trim_marks *m, int64_t first, int64_t last)
{
	int64_t reach = first - 1;
	for (size_t i = 0; i < m->count; i++) {
		if (m->places[i] > reach && m->places[i] <= last)
			reach = m->places[i];
	}
	return reach;
}

static bool trim_delete_range(
    const struct trim *t, enum sql_id id, int64_t after, int64_t until, struct error *err)
{
	struct query q;
	trim_start(t, &q, id, err);
	query_int(&q, ":after", after);
	query_int(&q, ":until", until);
	return query_run(&q);
}

/* Deletes some messages of a range that nothing shows or, when none are left, its branch; *count is
 * 0 when there was nothing to delete. */
static bool trim_range(
    const struct trim *t, int64_t after, int64_t until, int64_t *count, struct error *err)
{
	int64_t last = 0, bytes = 0;
	struct query q;
	trim_start(t, &q, SQL_TRIM_RANGE, err);
	query_int(&q, ":after", after);
	query_int(&q, ":until", until);
	query_int(&q, ":limit", t->most);
	if (query_row(&q)) {
		last = query_column_int(&q, TRIM_RANGE_SEQ);
		bytes = query_column_int(&q, TRIM_RANGE_BYTES);
	}
	if (!query_end(&q))
		return false;
	if (!last) {
		if (!trim_delete_range(t, SQL_TRIM_ENTERED_DELETE, after, until, err) ||
		    !trim_delete_range(t, SQL_TRIM_BRANCH_DELETE, after, until, err))
			return false;
		*count = db_changes(t->db);
		return true;
	}
	*count = 1;
	if (!trim_delete_range(t, SQL_TRIM_BODIES_DELETE, after, last, err) ||
	    !trim_delete_range(t, SQL_TRIM_MESSAGES_DELETE, after, last, err))
		return false;
	query_start(&q, t->db, SQL_THREAD_SHRINK, err);
	query_int(&q, ":bytes", bytes);
	query_int(&q, ":messages", 0);
	query_int(&q, ":row", t->thread_row);
	return query_run(&q);
}

/* Looks for places that nothing shows, from the last branch to the first, so that branches that
 * begin in a branch are looked at before it. */
static bool trim_hidden(const struct trim *t, int64_t *count, struct error *err)
{
	struct trim_marks marks = {0};
	int64_t last = INT64_MAX;
	struct query q;
	bool ok;
	*count = 0;
	trim_start(t, &q, SQL_TRIM_TIPS, err);
	while (query_row(&q))
		trim_mark(&marks, query_column_int(&q, TRIM_TIPS_UNTIL));
	ok = query_end(&q);
	trim_start(t, &q, SQL_TRIM_BRANCHES, err);
	while (ok && !*count && last) {
		bool branch = query_row(&q);
		int64_t first = branch ? query_column_int(&q, TRIM_BRANCHES_FIRST) : 1;
		int64_t reach = trim_reach(&marks, first, last);
		if (branch && reach >= first)
			trim_mark(&marks, query_column_int(&q, TRIM_BRANCHES_UNTIL));
		ok = trim_range(t, reach, last, count, err);
		last = first - 1;
	}
	free(marks.places);
	return query_end(&q) && ok;
}

bool trim_removed(struct db *db, int64_t thread_row, int64_t most, bool *last, struct error *err)
{
	static const enum sql_id steps[] = {
	    SQL_REMOVED_BRANCHES_DELETE, SQL_REMOVED_ENTERED_DELETE};
	const struct trim t = {.db = db, .thread_row = thread_row, .most = most};
	int64_t count;
	bool ok = trim_before(&t, INT64_MAX, &count, err);
	for (size_t i = 0; ok && !count && i < sizeof(steps) / sizeof(steps[0]); i++) {
		ok = trim_run(&t, steps[i], ":limit", most, err);
		count = db_changes(db);
	}
	*last = count == 0;
	return ok;
}

/* ---- elsewhere ---- */

/* Finds the first record with checkpoints; *count is how many the thread had kept with its last
 * one. */
static bool trim_first_record(struct trim *t, int64_t *count, struct error *err)
{
	struct recent_row row;
	struct query q;
	trim_start(t, &q, SQL_RECENT_RECORDS, err);
	query_int(&q, ":from", t->kept_from);
	query_int(&q, ":last", INT64_MAX);
	t->kept_from = *count = 0;
	if (query_row(&q)) {
		recent_look(query_column_text(&q, RECENT_RECORDS_LINES), &row);
		t->kept_from = query_column_int(&q, RECENT_RECORDS_NUMBER);
		*count = query_column_int(&q, RECENT_RECORDS_KEPT_COUNT);
		t->apart = t->kept - *count + row.count;
	}
	return query_end(&q);
}

/* Clears records all of whose checkpoints are too old. */
static bool trim_records(struct trim *t, struct error *err)
{
	int64_t from = t->kept_from, count;
	struct query q;
	if (!trim_first_record(t, &count, err))
		return false;
	if (t->kept_from && count <= t->kept - t->keep) {
		trim_start(t, &q, SQL_RECENT_RECORDS_CLEAR, err);
		query_int(&q, ":from", t->kept_from);
		query_int(&q, ":last", INT64_MAX);
		query_int(&q, ":upto", t->kept - t->keep);
		if (!query_run(&q) || !trim_first_record(t, &count, err))
			return false;
	}
	if (t->kept_from == from)
		return true;
	query_start(&q, t->db, SQL_RECENT_BEGIN, err);
	if (t->kept_from)
		query_int(&q, ":from", t->kept_from);
	query_int(&q, ":row", t->thread_row);
	return query_run(&q);
}

bool trim_piece(
    struct db *db, int64_t thread_row, int64_t keep, int64_t most, bool *last, struct error *err)
{
	struct trim t = {.db = db, .thread_row = thread_row, .keep = keep, .most = most};
	struct recent_row row;
	int64_t count = 0;
	struct query q;
	bool ok;
	query_start(&q, db, SQL_TRIM_STANDING, err);
	query_int(&q, ":row", thread_row);
	if (query_row(&q)) {
		recent_look(query_column_text(&q, TRIM_STANDING_RECENT), &row);
		t.plain = query_column_int(&q, TRIM_STANDING_PLAIN) != 0;
		t.kept = query_column_int(&q, TRIM_STANDING_CHECKPOINTS);
		t.kept_from = query_column_int(&q, TRIM_STANDING_KEPT_FROM);
		t.apart = row.count;
	}
	ok = query_end(&q);
	if (ok && t.plain) {
		ok = !t.kept_from || trim_records(&t, err);
	} else if (ok) {
		/* where branches may be deleted all checkpoints are moved to the table first, so
		 * that they are all looked at */
		t.apart = 0;
		ok = recent_spill(db, thread_row, err);
	}
	ok = ok && trim_oldest(&t, &count, err) &&
	    (count || t.plain || trim_hidden(&t, &count, err));
	*last = t.plain ? count < most : count == 0;
	return ok;
}
