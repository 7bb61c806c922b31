/* SPDX-License-Identifier: ISC */
/* Threads, as rows: read, listed and deleted. */
#include "storage/sql/engine.h"

#include "storage/queue.h"
#include "storage/sql/moves.h"
#include "storage/sql/thread/claims.h"
#include "storage/sql/thread/thread_row.h"

#include <stdlib.h>

bool engine_thread_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, struct thread *thread, struct error *err)
{
	struct query q;
	bool found;
	engine_query(st, ctx, &q, SQL_THREAD_GET, err);
	query_text(&q, ":thread_id", thread_id);
	found = query_row(&q);
	if (found)
		thread_row_copy(&q, a, thread);
	return pool_query_end(engine_of(st)->pool, &q) && found;
}

bool engine_thread_owner(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char **owner, struct error *err)
{
	struct query q;
	*owner = NULL;
	engine_query(st, ctx, &q, SQL_THREAD_OWNER, err);
	query_text(&q, ":thread_id", thread_id);
	if (query_row(&q))
		*owner = arena_strdup(a, query_column_text(&q, THREAD_OWNER_USER_ID));
	return pool_query_end(engine_of(st)->pool, &q);
}

bool engine_thread_waiting(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *owner, const char *call_id, const char **thread_id, struct error *err)
{
	struct query q;
	*thread_id = NULL;
	engine_query(st, ctx, &q, SQL_THREAD_WAITING, err);
	query_text(&q, ":owner", owner);
	query_text(&q, ":call_id", call_id);
	if (query_row(&q))
		*thread_id = arena_strdup(a, query_column_text(&q, THREAD_WAITING_THREAD_ID));
	return pool_query_end(engine_of(st)->pool, &q);
}

bool engine_untouched(
    struct pool *pool, enum sql_id sql, struct arena *a, struct untouched *old, struct error *err)
{
	struct query q;
	size_t room = old->count;
	old->count = 0;
	pool_query(pool, &q, sql, err);
	query_int(&q, ":skip", old->skip);
	query_int(&q, ":before", old->before);
	query_int(&q, ":limit", (int64_t)room);
	while (old->count < room && query_row(&q))
		old->ids[old->count++] =
		    arena_strdup(a, query_column_text(&q, THREADS_UNTOUCHED_ID));
	return pool_query_end(pool, &q);
}

bool engine_threads_untouched(struct storage *st, const struct storage_context *ctx,
    struct arena *a, struct untouched *old, struct error *err)
{
	(void)ctx;
	return engine_untouched(engine_of(st)->pool, SQL_THREADS_UNTOUCHED, a, old, err);
}

bool engine_thread_list(struct storage *st, const struct storage_context *ctx, const char *owner,
    const struct page *page, const struct thread_filter *filter, thread_fn fn, void *arg,
    struct error *err)
{
	char *rows, *labels;
	struct thread t;
	struct query q;
	bool ok;
	if (!engine_labels_narrow(st, ctx, owner, filter, &rows, err))
		return false;
	engine_query(st, ctx, &q,
	    rows        ? SQL_THREAD_LIST_OF
		: owner ? SQL_THREAD_LIST_OWNED
			: SQL_THREAD_LIST,
	    err);
	if (rows)
		query_text(&q, ":rows", rows);
	if (owner || rows)
		query_text(&q, ":owner", owner);
	engine_bind_filter(&q, filter, &labels);
	engine_bind_page(&q, page);
	while (query_row(&q)) {
		thread_row_read(&q, &t);
		if (!fn(arg, &t))
			break;
	}
	ok = pool_query_end(engine_of(st)->pool, &q);
	free(labels);
	free(rows);
	return ok;
}

struct removal {
	struct unit unit;
	const struct lease *lease;
	int64_t row;

	struct moves moves;
};

/* Removes only the thread's row, which is quick and needs next to no room; the rest is left to the
 * sweeper.  None of its jobs can be claimed any more, since none becomes ready. */
static bool removal_unit(struct db *db, struct unit *unit, struct error *err)
{
	struct removal *r = (struct removal *)unit;
	struct query q;
	r->moves = (struct moves){0};
	if (!claim_holds(db, r->lease, err))
		return false;
	query_start(&q, db, SQL_JOBS_COUNT_THREAD, err);
	query_int(&q, ":row", r->row);
	if (query_row(&q))
		r->moves.waiting = -query_column_int(&q, JOBS_COUNT_COUNT);
	return query_end(&q) && db_run_on_row(db, SQL_REMOVED_FIRST_JOB, r->row, err) &&
	    db_run_on_row(db, SQL_THREAD_REMOVE, r->row, err) &&
	    db_run_on_row(db, SQL_THREAD_DELETE, r->row, err);
}

bool engine_thread_delete(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, int64_t thread_row, struct error *err)
{
	struct engine *e = engine_of(st);
	struct removal r = {.unit = {.run = removal_unit}, .lease = lease, .row = thread_row};
	(void)ctx;
	if (!writer_run(e->writer, &r.unit, err))
		return false;
	sweeper_wake(e->sweeper);
	chunks_moved_all(e->shared);
	return moves_tell(st, &r.moves);
}
