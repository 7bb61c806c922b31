/* SPDX-License-Identifier: ISC */
/* The SQLite engine: threads read, listed, written and deleted. */
#include "storage/sqlite/change.h"
#include "storage/sqlite/engine.h"

/* The columns that every query on threads begins with.  The texts live as long as the row. */
static void read_record(struct query *q, struct thread *t)
{
	*t = (struct thread){
	    .row = query_column_int(q, THREAD_GET_ROW),
	    .thread_id = query_column_text(q, THREAD_GET_THREAD_ID),
	    .user_id = query_column_text(q, THREAD_GET_USER_ID),
	    .created_at = query_column_int(q, THREAD_GET_CREATED_AT),
	    .updated_at = query_column_int(q, THREAD_GET_UPDATED_AT),
	    .thread_name = query_column_text(q, THREAD_GET_THREAD_NAME),
	    .metadata_json = query_column_text(q, THREAD_GET_METADATA),
	    .run_id = query_column_text(q, THREAD_GET_RUN_ID),
	    .status = (enum run_status)query_column_int(q, THREAD_GET_STATUS),
	    .stop = (enum stop_state)query_column_int(q, THREAD_GET_STOP),
	    .node = query_column_text(q, THREAD_GET_NODE),
	    .step = query_column_int(q, THREAD_GET_STEP),
	    .fields_json = "{}",
	};
}

/* All columns, copied into the arena. */
static void copy_thread(struct query *q, struct arena *a, struct thread *t)
{
	read_record(q, t);
	t->thread_id = arena_strdup(a, t->thread_id);
	t->user_id = arena_strdup(a, t->user_id);
	t->thread_name = arena_strdup(a, t->thread_name);
	t->metadata_json = arena_strdup(a, t->metadata_json);
	t->run_id = arena_strdup(a, t->run_id);
	t->node = arena_strdup(a, t->node);
	t->next = arena_strdup(a, query_column_text(q, THREAD_GET_NEXT));
	t->pause_json = arena_strdup(a, query_column_text(q, THREAD_GET_PAUSE));
	t->waiting_json = arena_strdup(a, query_column_text(q, THREAD_GET_WAITING));
	t->summary = arena_strdup(a, query_column_text(q, THREAD_GET_SUMMARY));
	t->fields_json = arena_strdup(a, query_column_text(q, THREAD_GET_FIELDS));
	t->message_bytes = query_column_int(q, THREAD_GET_MESSAGE_BYTES);
}

bool engine_thread_get(struct storage *st, struct arena *a, const char *thread_id,
    struct thread *thread, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;
	bool found;

	pool_query(pool, &q, SQL_THREAD_GET, err);
	query_text(&q, ":thread_id", thread_id);
	found = query_row(&q);
	if (found)
		copy_thread(&q, a, thread);
	return pool_query_end(pool, &q) && found;
}

bool engine_thread_owner(struct storage *st, struct arena *a, const char *thread_id,
    const char **owner, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	*owner = NULL;
	pool_query(pool, &q, SQL_THREAD_OWNER, err);
	query_text(&q, ":thread_id", thread_id);
	if (query_row(&q))
		*owner = arena_strdup(a, query_column_text(&q, THREAD_OWNER_USER_ID));
	return pool_query_end(pool, &q);
}

bool engine_thread_waiting(struct storage *st, struct arena *a, const char *owner,
    const char *call_id, const char **thread_id, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	*thread_id = NULL;
	pool_query(pool, &q, SQL_THREAD_WAITING, err);
	query_text(&q, ":owner", owner);
	query_text(&q, ":call_id", call_id);
	if (query_row(&q))
		*thread_id = arena_strdup(a, query_column_text(&q, THREAD_WAITING_THREAD_ID));
	return pool_query_end(pool, &q);
}

bool engine_untouched(struct pool *pool, enum sql_id sql, struct arena *a, int64_t before,
    int64_t skip, const char **ids, size_t *count, struct error *err)
{
	struct query q;
	size_t room = *count;

	*count = 0;
	pool_query(pool, &q, sql, err);
	query_int(&q, ":skip", skip);
	query_int(&q, ":before", before);
	query_int(&q, ":limit", (int64_t)room);
	while (*count < room && query_row(&q))
		ids[(*count)++] = arena_strdup(a, query_column_text(&q, THREADS_UNTOUCHED_ID));
	return pool_query_end(pool, &q);
}

bool engine_threads_untouched(struct storage *st, struct arena *a, int64_t before, int64_t skip,
    const char **ids, size_t *count, struct error *err)
{
	return engine_untouched(
	    engine_of(st)->pool, SQL_THREADS_UNTOUCHED, a, before, skip, ids, count, err);
}

bool engine_thread_list(struct storage *st, const char *owner, const struct page *page,
    thread_fn fn, void *arg, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct thread t;
	struct query q;

	pool_query(pool, &q, owner ? SQL_THREAD_LIST_OWNED : SQL_THREAD_LIST, err);
	if (owner)
		query_text(&q, ":owner", owner);
	engine_bind_page(&q, page);
	while (query_row(&q)) {
		read_record(&q, &t);
		if (!fn(arg, &t))
			break;
	}
	return pool_query_end(pool, &q);
}

bool engine_thread_write(struct storage *st, struct thread_write *w, struct error *err)
{
	struct deferred *none = NULL;

	return deferrals_write(engine_of(st)->deferrals, &none, w, err);
}

void engine_thread_defer(struct storage *st, struct thread_write *w, struct deferred **pending)
{
	deferrals_add(engine_of(st)->deferrals, w, pending);
}

bool engine_thread_flush(struct storage *st, struct deferred **pending, struct error *err)
{
	return deferrals_write(engine_of(st)->deferrals, pending, NULL, err);
}

bool engine_thread_write_after(
    struct storage *st, struct deferred **pending, struct thread_write *w, struct error *err)
{
	return deferrals_write(engine_of(st)->deferrals, pending, w, err);
}

struct removal {
	struct unit unit;
	int64_t row;
};

/* Only the thread itself, which is quick and needs next to no room; the rest is the sweeper's. */
static bool remove_thread(struct db *db, struct unit *unit, struct error *err)
{
	static const enum sql_id steps[] = {SQL_THREAD_REMOVE, SQL_THREAD_DELETE};
	struct removal *r = (struct removal *)unit;
	struct query q;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		query_start(&q, db, steps[i], err);
		query_int(&q, ":row", r->row);
		if (!query_run(&q))
			return false;
	}
	return true;
}

bool engine_thread_delete(struct storage *st, int64_t thread_row, struct error *err)
{
	struct engine *e = engine_of(st);
	struct removal r = {.unit = {.run = remove_thread}, .row = thread_row};

	if (!writer_run(e->writer, &r.unit, err))
		return false;
	sweeper_wake(e->sweeper);
	return true;
}
