/* SPDX-License-Identifier: ISC */
/*
 * Nearness by vectors: keeps the file of vectors up to date and searches it.
 *
 * For a user who has few of many memories the database gives the vectors, because a search of the
 * file would pass over those of all others.  So the time of a search depends on what its user has,
 * and not on what others have.
 *
 * What the file finds is only a proposal.  The database says what still exists and fulfils the
 * filter; when too few of the proposed do, the rows that the filter holds are listed first and only
 * their vectors are compared.  So there are never fewer results than there could be.
 */
#include "storage/sql/memory/memories_engine.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "storage/vector/vector_search.h"

#include <stdlib.h>
#include <string.h>

#define CHANGES_AT_ONCE 512
#define PROPOSED_EACH 4 /* proposals for each result, where the database may refuse some */
#define PROPOSED_MORE 64

/* ---- the file ---- */

static struct vector_file *memories_vectors(struct memories_engine *e, struct error *err)
{
	struct vector_file *f = atomic_load(&e->vectors);
	if (f)
		return f;
	pthread_mutex_lock(&e->opening);
	f = atomic_load(&e->vectors);
	if (!f)
		f = vector_file_open(e->state_dir, e->model, e->dimension, err);
	atomic_store(&e->vectors, f);
	pthread_mutex_unlock(&e->opening);
	return f;
}

struct changes {
	struct vector_entry entries[CHANGES_AT_ONCE];
	size_t count;
	int64_t last;
	char *vectors; /* copies */
};

/* Reads up to limit changes after the number last; *more says whether there were any. */
static bool memories_read_changes(
    struct memories_engine *e, struct changes *c, size_t limit, bool *more, struct error *err)
{
	size_t size, want = e->dimension * sizeof(float);
	struct query q;
	c->count = 0;
	*more = false;
	pool_query(e->pool, &q, SQL_VECTOR_CHANGES, err);
	query_int(&q, ":model", e->model);
	query_int(&q, ":after", c->last);
	query_int(&q, ":limit", (int64_t)limit);
	while (query_row(&q)) {
		const char *user = query_column_text(&q, VECTOR_CHANGES_USER_ID),
			   *thread = query_column_text(&q, VECTOR_CHANGES_THREAD_ID);
		const void *vector = query_column_blob(&q, VECTOR_CHANGES_VECTOR, &size);
		char *copy = c->vectors + c->count * want;
		*more = true;
		c->last = query_column_int(&q, VECTOR_CHANGES_CHANGE);
		if (size != want)
			continue; /* not ours: no vector of this model has another size */
		memcpy(copy, vector, want);
		c->entries[c->count++] =
		    (struct vector_entry){.row = query_column_int(&q, VECTOR_CHANGES_MEMORY),
			.owner = vector_word(user),
			.thread = thread ? vector_word(thread) : 0,
			.vector = copy};
	}
	return pool_query_end(e->pool, &q);
}

static bool memories_bring_up_to_date(
    struct memories_engine *e, struct vector_file *f, struct error *err)
{
	struct changes *c = xmalloc(sizeof(*c));
	bool more, ok;
	c->vectors = xmalloc(CHANGES_AT_ONCE * e->dimension * sizeof(float));
	c->last = vector_file_applied(f);
	ok = memories_read_changes(e, c, 1, &more, err);
	if (ok && more) {
		vector_file_lock(f);
		c->last = vector_file_applied(f);
		while (ok && more)
			ok = memories_read_changes(e, c, CHANGES_AT_ONCE, &more, err) &&
			    (!more || vector_file_add(f, c->entries, c->count, c->last, err));
		vector_file_unlock(f);
	}
	free(c->vectors);
	free(c);
	return ok;
}

void memories_drop_vectors(struct memories_engine *e, int64_t *rows, size_t count)
{
	struct error err = {0};
	struct vector_file *f = memories_vectors(e, &err);
	if (f) {
		vector_file_lock(f);
		vector_file_drop(f, rows, count, &err);
		vector_file_unlock(f);
	}
	if (error_is_set(&err))
		log_warning("the vectors of deleted memories stay in memory: %s", err.cause);
	error_release(&err);
}

/* ---- searching ---- */

struct nearness {
	struct memories_engine *e;
	const struct storage_context *ctx;
	struct vector_file *file;
	const struct memory_filter *filter;
	struct vector_query query;
	struct vector_hit *found;
	size_t found_count;
	struct memory_hits *hits; /* what is wanted */
};

static bool memories_look(struct nearness *n, size_t limit, struct error *err)
{
	n->query.limit = limit;
	n->found = xrealloc(n->found, limit * sizeof(*n->found));
	return vector_search(n->file, &n->query, n->found, &n->found_count, err);
}

static void memories_add_found(struct nearness *n, const struct vector_hit *found)
{
	n->hits->items[n->hits->count++] =
	    (struct memory_hit){found->row, 0, vector_similarity(n->query.metric, found->rank)};
}

/* Keeps those hits that the database confirms. */
static bool memories_confirm(struct nearness *n, struct error *err)
{
	struct arena *a = arena_new();
	struct memory m;
	n->hits->count = 0;
	for (size_t i = 0; i < n->found_count && n->hits->count < n->hits->limit; i++) {
		if (memories_load(&n->e->set, n->ctx, a, n->filter, n->found[i].row, &m, err))
			memories_add_found(n, &n->found[i]);
		if (error_is_set(err))
			break;
	}
	arena_free(a);
	return !error_is_set(err);
}

static bool memories_find_near(struct nearness *n, struct error *err)
{
	const struct memory_filter *filter = n->filter;
	bool conditions = filter->memory_type || filter->category || filter->filters_json;
	size_t limit = n->hits->limit,
	       proposed = conditions ? limit * PROPOSED_EACH + PROPOSED_MORE : limit;
	if (!memories_look(n, proposed, err) || !memories_confirm(n, err))
		return false;
	/* all that there is was proposed, or enough of it confirmed */
	if (n->hits->count == limit || n->found_count < proposed)
		return true;
	/* else look again, among all rows for which the filter holds */
	size_t count = 0, size = 1024;
	int64_t *rows = xmalloc(size * sizeof(*rows));
	struct row_set set;
	struct query q;
	memories_rows_query(n->e, n->ctx, &q, filter, INT64_MAX, INT64_MAX, err);
	while (query_row(&q)) {
		if (count == size)
			rows = xrealloc(rows, (size *= 2) * sizeof(*rows));
		rows[count++] = query_column_int(&q, MEMORY_MATCHING_ROW);
	}
	bool ok = pool_query_end(n->e->pool, &q);
	row_set_init(&set, count);
	for (size_t i = 0; i < count; i++)
		row_set_add(&set, rows[i]);
	free(rows);

	n->query.only = &set;
	ok = ok && memories_look(n, limit, err) && memories_confirm(n, err);
	n->query.only = NULL;
	row_set_release(&set);
	return ok;
}

/* ---- few of many ---- */

static int memories_nearer_first(const void *a, const void *b)
{
	const struct vector_hit *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->row < y->row) - (x->row > y->row);
}

static bool memories_compare_few(struct nearness *n, struct error *err)
{
	size_t padded = vector_padded(n->e->dimension), room = 0, size;
	float *vector = xcalloc(padded, sizeof(*vector));
	struct query q;
	memories_vectors_query(n->e, n->ctx, &q, n->filter, err);
	while (query_row(&q)) {
		const void *stored = query_column_blob(&q, MEMORY_VECTORS_VECTOR, &size);
		if (size != n->e->dimension * sizeof(*vector))
			continue;
		memcpy(vector, stored, size);
		if (n->found_count == room)
			n->found = xrealloc(n->found, (room = room * 2 + 64) * sizeof(*n->found));
		n->found[n->found_count++] =
		    (struct vector_hit){query_column_int(&q, MEMORY_VECTORS_ROW),
			vector_rank(n->query.metric, vector, n->query.vector, padded)};
	}
	free(vector);
	if (!pool_query_end(n->e->pool, &q))
		return false;
	if (n->found_count)
		qsort(n->found, n->found_count, sizeof(*n->found), memories_nearer_first);
	for (size_t i = 0; i < n->hits->limit && i < n->found_count; i++)
		memories_add_found(n, &n->found[i]);
	return true;
}

bool memories_similar(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const float *vector, enum vector_metric metric,
    struct memory_hits *hits, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct nearness n = {.e = e, .ctx = ctx, .filter = filter, .hits = hits};
	float *padded = xcalloc(vector_padded(e->dimension), sizeof(*padded));
	bool few = false, ok = true;
	struct query q;
	hits->count = 0;
	memcpy(padded, vector, e->dimension * sizeof(*padded));
	n.query = (struct vector_query){
	    .vector = padded,
	    .metric = metric,
	    .owner = filter->user_id ? vector_word(filter->user_id) : 0,
	    .thread = filter->thread_id ? vector_word(filter->thread_id) : 0,
	};
	if (filter->user_id) {
		pool_query(e->pool, &q, SQL_MEMORY_FEW, err);
		query_text(&q, ":user_id", filter->user_id);
		few = query_row(&q) && query_column_int(&q, MEMORY_FEW_FEW);
		ok = pool_query_end(e->pool, &q);
	}
	if (ok && few)
		ok = memories_compare_few(&n, err);
	else if (ok)
		ok = (n.file = memories_vectors(e, err)) &&
		    memories_bring_up_to_date(e, n.file, err) && memories_find_near(&n, err);
	free(n.found);
	free(padded);
	return ok;
}
