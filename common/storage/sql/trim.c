/* SPDX-License-Identifier: ISC */
/* Rows in a database: checkpoints that are too old, and branches that nothing shows any more. */
#include "storage/sql/sweep.h"

#include "base/memory.h"
#include "storage/sql/history/recent.h"

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

/* Those in the table before the first one that stays; *count says how many went. */
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
	return (!states || trim_run(db, SQL_TRIM_STATES, thread_row, ":upto", upto, err)) &&
	    trim_run(db, SQL_TRIM_CHECKPOINTS, thread_row, ":upto", upto, err);
}

/* Of the table so many stay. */
static bool trim_oldest(struct db *db, int64_t thread_row, int64_t keep, int64_t most,
    int64_t *count, struct error *err)
{
	int64_t first = 0;
	struct query q;

	if (keep <= 0)
		return trim_before(db, thread_row, INT64_MAX, most, count, err);
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
	m->places = xgrow(m->places, m->count, sizeof(*m->places));
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

/* ---- elsewhere ---- */

/* Where the checkpoints of a thread lie. */
struct trim_standing {
	bool plain;        /* it shows whatever it has */
	int64_t kept;      /* so many in all, those that were trimmed included */
	int64_t kept_from; /* the first record with some; 0: there is none */
	int64_t apart;     /* so many are not in the table */
};

static bool trim_stand(
    struct db *db, int64_t thread_row, struct trim_standing *s, struct error *err)
{
	struct recent_row row;
	struct query q;

	*s = (struct trim_standing){0};
	query_start(&q, db, SQL_TRIM_STANDING, err);
	query_int(&q, ":row", thread_row);
	if (query_row(&q)) {
		recent_look(query_column_text(&q, TRIM_STANDING_RECENT), &row);
		*s = (struct trim_standing){query_column_int(&q, TRIM_STANDING_PLAIN) != 0,
		    query_column_int(&q, TRIM_STANDING_CHECKPOINTS),
		    query_column_int(&q, TRIM_STANDING_KEPT_FROM), row.count};
	}
	return query_end(&q);
}

/* The first record that has some, *count with the last of which so many were kept. */
static bool trim_first_record(
    struct db *db, int64_t thread_row, struct trim_standing *s, int64_t *count, struct error *err)
{
	struct recent_row row;
	struct query q;

	query_start(&q, db, SQL_RECENT_RECORDS, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":from", s->kept_from);
	query_int(&q, ":last", INT64_MAX);
	s->kept_from = *count = 0;
	if (query_row(&q)) {
		recent_look(query_column_text(&q, RECENT_RECORDS_LINES), &row);
		s->kept_from = query_column_int(&q, RECENT_RECORDS_NUMBER);
		*count = query_column_int(&q, RECENT_RECORDS_KEPT_COUNT);
		s->apart = s->kept - *count + row.count;
	}
	return query_end(&q);
}

/* Those in records of which the last is too old. */
static bool trim_records(
    struct db *db, int64_t thread_row, int64_t keep, struct trim_standing *s, struct error *err)
{
	int64_t from = s->kept_from, count;
	struct query q;

	if (!trim_first_record(db, thread_row, s, &count, err))
		return false;
	if (s->kept_from && count <= s->kept - keep) {
		query_start(&q, db, SQL_RECENT_RECORDS_CLEAR, err);
		query_int(&q, ":thread", thread_row);
		query_int(&q, ":from", s->kept_from);
		query_int(&q, ":last", INT64_MAX);
		query_int(&q, ":upto", s->kept - keep);
		if (!query_run(&q) || !trim_first_record(db, thread_row, s, &count, err))
			return false;
	}
	if (s->kept_from == from)
		return true;
	query_start(&q, db, SQL_RECENT_BEGIN, err);
	if (s->kept_from)
		query_int(&q, ":from", s->kept_from);
	query_int(&q, ":row", thread_row);
	return query_run(&q);
}

/* Where branches may go all that shows them is looked at in one place. */
static bool trim_apart(
    struct db *db, int64_t thread_row, int64_t keep, struct trim_standing *s, struct error *err)
{
	if (s->plain)
		return !s->kept_from || trim_records(db, thread_row, keep, s, err);
	s->apart = 0;
	return recent_spill(db, thread_row, err);
}

bool trim_piece(
    struct db *db, int64_t thread_row, int64_t keep, int64_t most, bool *last, struct error *err)
{
	struct trim_standing s;
	int64_t count = 0;
	bool ok = trim_stand(db, thread_row, &s, err) &&
	    trim_apart(db, thread_row, keep, &s, err) &&
	    trim_oldest(db, thread_row, keep - s.apart, most, &count, err) &&
	    (count || s.plain || trim_hidden(db, thread_row, most, &count, err));

	*last = s.plain ? count < most : count == 0;
	return ok;
}
