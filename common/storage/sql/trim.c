/* SPDX-License-Identifier: ISC */
/* Rows in a database: checkpoints that are too old, and branches that nothing shows any more. */
#include "storage/sql/sweep.h"

#include "base/memory.h"
#include "storage/sql/recent.h"

#include <stdlib.h>

static bool trim_run(struct db *db, enum sql_id id, int64_t thread_row, const char *name,
    int64_t value, struct error *err)
{
	struct query q;

	query_start(&q, db, id, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, name, value);
	return query_run(&q);
}

/* Those before the first one that stays; *count says how many went. */
static bool trim_before(struct db *db, int64_t thread_row, int64_t first, int64_t most,
    int64_t *count, struct error *err)
{
	int64_t upto = 0, states = 0;
	struct query q;

	*count = 0;
	query_start(&q, db, SQL_TRIM_UPTO, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":first", first);
	query_int(&q, ":limit", most);
	if (query_row(&q)) {
		upto = query_column_int(&q, TRIM_UPTO_NUMBER);
		*count = query_column_int(&q, TRIM_UPTO_COUNT);
		states = query_column_int(&q, TRIM_UPTO_STATES);
	}
	if (!query_end(&q) || !*count)
		return !error_is_set(err);
	if ((states && !trim_run(db, SQL_TRIM_STATES, thread_row, ":upto", upto, err)) ||
	    !trim_run(db, SQL_TRIM_CHECKPOINTS, thread_row, ":upto", upto, err))
		return false;
	query_start(&q, db, SQL_TRIM_COUNT, err);
	query_int(&q, ":count", *count);
	query_int(&q, ":row", thread_row);
	return query_run(&q);
}

static bool trim_oldest(struct db *db, int64_t thread_row, int64_t keep, int64_t most,
    int64_t *count, struct error *err)
{
	int64_t first = 0;
	struct query q;

	query_start(&q, db, SQL_TRIM_FIRST, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":keep", keep);
	if (query_row(&q))
		first = query_column_int(&q, TRIM_FIRST_NUMBER);
	return query_end(&q) && trim_before(db, thread_row, first, most, count, err);
}

/* ---- branches ---- */

/* Places up to which something is shown: where lists end, and where branches that are shown leave
 * others. */
struct trim_marks {
	int64_t *places;
	size_t count;
};

static void trim_mark(struct trim_marks *m, int64_t place)
{
	if ((m->count & (m->count - 1)) == 0)
		m->places = xrealloc(m->places, (m->count ? m->count * 2 : 1) * sizeof(*m->places));
	m->places[m->count++] = place;
}

/* The highest one from first to last, else the place before first. */
static int64_t trim_reach(const struct trim_marks *m, int64_t first, int64_t last)
{
	int64_t reach = first - 1;

	for (size_t i = 0; i < m->count; i++) {
		if (m->places[i] > reach && m->places[i] <= last)
			reach = m->places[i];
	}
	return reach;
}

static bool trim_read_tips(
    struct db *db, int64_t thread_row, struct trim_marks *marks, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_TRIM_TIPS, err);
	query_int(&q, ":thread", thread_row);
	while (query_row(&q))
		trim_mark(marks, query_column_int(&q, TRIM_TIPS_UNTIL));
	return query_end(&q);
}

static bool trim_delete_range(struct db *db, enum sql_id id, int64_t thread_row, int64_t after,
    int64_t until, struct error *err)
{
	struct query q;

	query_start(&q, db, id, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":after", after);
	query_int(&q, ":until", until);
	return query_run(&q);
}

/* Some messages of what nothing shows; *count says whether there were any, or the branch itself. */
static bool trim_range(struct db *db, int64_t thread_row, int64_t after, int64_t until,
    int64_t most, int64_t *count, struct error *err)
{
	int64_t last = 0, bytes = 0;
	struct query q;

	query_start(&q, db, SQL_TRIM_RANGE, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":after", after);
	query_int(&q, ":until", until);
	query_int(&q, ":limit", most);
	if (query_row(&q)) {
		last = query_column_int(&q, TRIM_RANGE_SEQ);
		bytes = query_column_int(&q, TRIM_RANGE_BYTES);
	}
	if (!query_end(&q))
		return false;
	if (!last) {
		if (!trim_delete_range(
			db, SQL_TRIM_ENTERED_DELETE, thread_row, after, until, err) ||
		    !trim_delete_range(db, SQL_TRIM_BRANCH_DELETE, thread_row, after, until, err))
			return false;
		*count = db_changes(db);
		return true;
	}
	*count = 1;
	if (!trim_delete_range(db, SQL_TRIM_BODIES_DELETE, thread_row, after, last, err) ||
	    !trim_delete_range(db, SQL_TRIM_MESSAGES_DELETE, thread_row, after, last, err))
		return false;
	query_start(&q, db, SQL_THREAD_SHRINK, err);
	query_int(&q, ":bytes", bytes);
	query_int(&q, ":messages", 0);
	query_int(&q, ":row", thread_row);
	return query_run(&q);
}

/* From the last branch to the first, so that one is looked at when all that begin in it were. */
static bool trim_hidden(
    struct db *db, int64_t thread_row, int64_t most, int64_t *count, struct error *err)
{
	struct trim_marks marks = {0};
	int64_t last = INT64_MAX;
	struct query q;
	bool ok = trim_read_tips(db, thread_row, &marks, err);

	*count = 0;
	query_start(&q, db, SQL_TRIM_BRANCHES, err);
	query_int(&q, ":thread", thread_row);
	while (ok && !*count && last) {
		bool branch = query_row(&q);
		int64_t first = branch ? query_column_int(&q, TRIM_BRANCHES_FIRST) : 1;
		int64_t reach = trim_reach(&marks, first, last);

		if (branch && reach >= first)
			trim_mark(&marks, query_column_int(&q, TRIM_BRANCHES_UNTIL));
		ok = trim_range(db, thread_row, reach, last, most, count, err);
		last = first - 1;
	}
	free(marks.places);
	return query_end(&q) && ok;
}

bool trim_removed(struct db *db, int64_t thread_row, int64_t most, bool *last, struct error *err)
{
	static const enum sql_id steps[] = {
	    SQL_REMOVED_BRANCHES_DELETE, SQL_REMOVED_ENTERED_DELETE};
	int64_t count;
	bool ok = trim_before(db, thread_row, INT64_MAX, most, &count, err);

	for (size_t i = 0; ok && !count && i < sizeof(steps) / sizeof(steps[0]); i++) {
		ok = trim_run(db, steps[i], thread_row, ":limit", most, err);
		count = db_changes(db);
	}
	*last = count == 0;
	return ok;
}

static bool trim_is_plain(struct db *db, int64_t thread_row, bool *plain, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_TRIM_PLAIN, err);
	query_int(&q, ":row", thread_row);
	*plain = query_row(&q) && query_column_int(&q, TRIM_PLAIN_PLAIN);
	return query_end(&q);
}

bool trim_piece(
    struct db *db, int64_t thread_row, int64_t keep, int64_t most, bool *last, struct error *err)
{
	int64_t count = 0;
	bool plain = false;
	bool ok = recent_spill(db, thread_row, err) && trim_is_plain(db, thread_row, &plain, err) &&
	    trim_oldest(db, thread_row, keep, most, &count, err) &&
	    (count || plain || trim_hidden(db, thread_row, most, &count, err));

	*last = plain ? count < most : count == 0;
	return ok;
}
