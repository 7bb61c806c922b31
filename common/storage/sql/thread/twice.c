/* SPDX-License-Identifier: ISC */
/* Checks that the lists of a thread, on all its branches, have each id only once.  One walk
 * through the tree of branches takes time in proportion to messages and branches, however the
 * branches lie. */
#include "storage/sql/thread/view.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A stop of the walk: a message at its place, or a branch at the place that it follows. */
struct stop {
	int64_t at;
	const char *message_id; /* NULL: a branch */
	size_t number;          /* a number for the id */
	int64_t first, last;    /* first and last place of the branch */
	struct stop *from;      /* the branch that the walk was in before */
};

struct stops {
	struct stop *all;
	size_t count;
	struct arena *ids;
};

static void stops_add(struct stops *s, struct stop stop)
{
	s->all = xgrow(s->all, s->count, sizeof(*s->all));
	s->all[s->count++] = stop;
}

static bool stops_read(
    struct stops *s, struct db *db, int64_t thread_row, struct stop *trunk, struct error *err)
{
	struct query q;
	query_start(&q, db, SQL_VIEW_BRANCHES, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":until", INT64_MAX);
	while (query_row(&q)) { /* the last branch first */
		int64_t first = query_column_int(&q, VIEW_BRANCHES_FIRST);

		stops_add(s,
		    (struct stop){.at = query_column_int(&q, VIEW_BRANCHES_UNTIL),
			.first = first,
			.last = trunk->last});
		trunk->last = first - 1;
	}
	if (!query_end(&q))
		return false;
	query_start(&q, db, SQL_MESSAGE_IDS, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":after", 0);
	query_int(&q, ":until", INT64_MAX);
	while (query_row(&q))
		stops_add(s,
		    (struct stop){.at = query_column_int(&q, MESSAGE_IDS_SEQ),
			.message_id =
			    arena_strdup(s->ids, query_column_text(&q, MESSAGE_IDS_MESSAGE_ID))});
	return query_end(&q);
}

static int stop_by_id(const void *left, const void *right)
{
	const struct stop *a = left, *b = right;
	if (!a->message_id || !b->message_id)
		return (a->message_id != NULL) - (b->message_id != NULL);
	return strcmp(a->message_id, b->message_id);
}

/* A branch comes behind the message that it follows. */
static int stop_by_place(const void *left, const void *right)
{
	const struct stop *a = left, *b = right;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->message_id == NULL) - (b->message_id == NULL);
}

/* The first stop at this place or behind it. */
static struct stop *stops_at(const struct stops *s, int64_t place)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (s->all[middle].at < place)
			low = middle + 1;
		else
			high = middle;
	}
	return s->all + low;
}

/* Walks into each branch where it passes one, and back; shown says which ids the list has at that
 * point.  Returns the place of a second one, or 0. */
static int64_t stops_walk(const struct stops *s, struct stop *trunk, bool *shown)
{
	struct stop *branch = trunk, *stop = s->all, *end = s->all + s->count;
	for (;;) {
		if (stop < end && stop->at <= branch->last && !stop->message_id) {
			stop->from = branch;
			branch = stop;
			stop = stops_at(s, branch->first);
		} else if (stop < end && stop->at <= branch->last) {
			if (shown[stop->number])
				return stop->at;
			shown[stop++->number] = true;
		} else {
			while (stop > s->all && stop[-1].at >= branch->first)
				if ((--stop)->message_id)
					shown[stop->number] = false;
			if (branch == trunk)
				return 0;
			stop = branch + 1;
			branch = branch->from;
		}
	}
}

bool view_find_twice(struct db *db, int64_t thread_row, int64_t *place, struct error *err)
{
	struct stops s = {.ids = arena_new()};
	struct stop trunk = {.last = INT64_MAX};
	bool ok = stops_read(&s, db, thread_row, &trunk, err), *shown;
	*place = 0;
	if (ok && s.count) {
		qsort(s.all, s.count, sizeof(*s.all), stop_by_id);
		for (size_t i = 1; i < s.count; i++)
			s.all[i].number =
			    s.all[i - 1].number + (stop_by_id(&s.all[i - 1], &s.all[i]) != 0);
		qsort(s.all, s.count, sizeof(*s.all), stop_by_place);
		shown = xcalloc(s.count, sizeof(*shown));
		*place = stops_walk(&s, &trunk, shown);
		free(shown);
	}
	free(s.all);
	arena_free(s.ids);
	return ok;
}
