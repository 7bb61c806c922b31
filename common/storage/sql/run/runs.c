/* SPDX-License-Identifier: ISC */
/* Records of runs, read, listed and removed; and the table of operations on runs. */
#include "storage/runs.h"

#include "base/memory.h"
#include "storage/sql/run/records.h"
#include "storage/sql/run/runs_engine.h"
#include "storage/sql/thread/claims.h"

#include <stdlib.h>

/* ---- read ---- */

static bool runs_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char *run_id, struct run_record *r, struct error *err)
{
	struct query q;
	bool found;
	engine_query(st, ctx, &q, SQL_RUN_GET, err);
	query_text(&q, ":thread_id", thread_id);
	query_text(&q, ":run_id", run_id);
	found = query_row(&q);
	if (found) {
		record_read_row(&q, r);
		r->run_id = arena_strdup(a, r->run_id);
		r->node = arena_strdup(a, r->node);
		r->error_json = arena_strdup(a, r->error_json);
		r->thread_id = arena_strdup(a, r->thread_id);
		r->metadata_json = arena_strdup(a, r->metadata_json);
		r->webhook.url = arena_strdup(a, r->webhook.url);
	}
	return pool_query_end(engine_of(st)->pool, &q) && found;
}

static bool runs_messages(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, enum run_share which, message_fn fn, void *arg,
    struct error *err)
{
	int64_t begin = record->after + record->brought;
	struct query q;
	bool more = true;
	engine_query(st, ctx, &q, SQL_CONTEXT, err);
	query_int(&q, ":thread", record->thread_row);
	query_int(&q, ":after", which == RUN_MADE ? begin : record->after);
	query_int(&q, ":until", which == RUN_MADE ? record->until : begin);
	while (more && query_row(&q))
		more = fn(arg, query_column_text(&q, CONTEXT_MESSAGE_ID),
		    query_column_text(&q, CONTEXT_BODY));
	return pool_query_end(engine_of(st)->pool, &q);
}

struct record_removal {
	struct unit unit;
	const struct storage *st;
	const struct run_record *record;
	struct moves moves;
};

static bool runs_remove_row(struct db *db, struct unit *unit, struct error *err)
{
	struct record_removal *r = (struct record_removal *)unit;
	r->moves = (struct moves){0};
	return claim_lock(db, SQL_THREAD_LOCK, r->record->thread_row, err) &&
	    record_drop(r->st, db, record_key(r->record), &r->moves, err);
}

static bool runs_remove(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, struct error *err)
{
	struct record_removal r = {.unit = {.run = runs_remove_row}, .st = st, .record = record};
	(void)ctx;
	return writer_run(engine_of(st)->writer, &r.unit, err) && moves_tell(st, &r.moves);
}

/* ---- listed ---- */

/* Records that were read, but may be older than one still to be read: a heap with the newest at its
 * top. */
struct record_heap {
	struct run_record **items;
	size_t count, size;
};

static bool record_newer(const struct run_record *a, const struct run_record *b)
{
	if (a->created_at != b->created_at)
		return a->created_at > b->created_at;
	if (a->thread_row != b->thread_row)
		return a->thread_row > b->thread_row;
	return a->number > b->number;
}

static void record_free(struct run_record *r)
{
	free((char *)r->run_id);
	free((char *)r->node);
	free((char *)r->error_json);
	free((char *)r->thread_id);
	free((char *)r->metadata_json);
	free((char *)r->webhook.url);
	free(r);
}

static void heap_push(struct record_heap *h, const struct run_record *record)
{
	struct run_record *r = xmalloc(sizeof(*r));
	size_t i = h->count++;
	*r = *record;
	r->run_id = xstrdup(r->run_id);
	r->node = xstrdup(r->node);
	r->error_json = xstrdup(r->error_json);
	r->thread_id = xstrdup(r->thread_id);
	r->metadata_json = xstrdup(r->metadata_json);
	r->webhook.url = xstrdup(r->webhook.url);
	if (h->count > h->size) {
		h->size = h->size ? 2 * h->size : 64;
		h->items = xrealloc(h->items, h->size * sizeof(struct run_record *));
	}
	for (; i && record_newer(r, h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = r;
}

static struct run_record *heap_pop(struct record_heap *h)
{
	struct run_record *top = h->items[0], *last = h->items[--h->count];
	size_t i = 0, child;
	while ((child = 2 * i + 1) < h->count) {
		child += child + 1 < h->count && record_newer(h->items[child + 1], h->items[child]);
		if (!record_newer(h->items[child], last))
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = last;
	return top;
}

/* Hands out the records that were created after that time; false when no more are wanted. */
static bool heap_hand_out(struct record_heap *h, int64_t after, record_fn fn, void *arg)
{
	bool more = true;
	while (more && h->count && h->items[0]->created_at > after) {
		struct run_record *r = heap_pop(h);
		more = fn(arg, r);
		record_free(r);
	}
	return more;
}

/* How many of everybody's runs a listing of one user's looks at before it goes through the user's
 * threads. */
#define OTHERS_MOST 1000

#define PAGE_ROWS 128 /* of a listing that takes several queries */

/* How far a listing has come. */
struct record_walk {
	const struct record_filter *filter;
	int64_t from; /* only records created from then on are listed */
	struct run_record last;
	record_fn fn;
	void *arg;
	bool more; /* more records are wanted */
};

/* Lists everybody's runs by the indexes of statuses, however many there are.  In pages, because
 * PostgreSQL would otherwise plan to read all. */
static bool runs_list_indexed(
    struct storage *st, const struct storage_context *ctx, struct record_walk *w, struct error *err)
{
	struct query q;
	int rows;
	w->last = (struct run_record){.created_at = INT64_MAX};
	do {
		engine_query(st, ctx, &q, SQL_RUN_LIST, err);
		query_int(&q, ":statuses", w->filter->statuses);
		query_int(&q, ":from", w->from);
		query_int(&q, ":created_at", w->last.created_at);
		query_int(&q, ":thread", w->last.thread_row);
		query_int(&q, ":number", w->last.number);
		query_text(&q, ":owner", w->filter->owner);
		query_int(&q, ":limit", PAGE_ROWS);
		for (rows = 0; w->more && query_row(&q); rows++) {
			record_read_row(&q, &w->last);
			w->more = w->fn(w->arg, &w->last);
		}
		if (!pool_query_end(engine_of(st)->pool, &q))
			return false;
	} while (w->more && rows == PAGE_ROWS);
	return true;
}

/* Looks for a user's runs among the latest of everybody, then for the rest in the user's own
 * threads.  Those come with the latest change first, and no run is newer than the latest change of
 * its thread.  So all records that are newer than the change of the next thread can be handed
 * out. */
static bool runs_list_owned(
    struct storage *st, const struct storage_context *ctx, struct record_walk *w, struct error *err)
{
	struct record_heap heap = {0};
	struct run_record record;
	bool more = true;
	struct query q;
	engine_query(st, ctx, &q, SQL_RUN_LIST_FROM, err);
	query_int(&q, ":statuses", w->filter->statuses);
	query_int(&q, ":count", OTHERS_MOST);
	if (query_row(&q))
		w->from = query_column_int(&q, RUN_LIST_FROM_CREATED_AT);
	if (!pool_query_end(engine_of(st)->pool, &q) || !runs_list_indexed(st, ctx, w, err))
		return false;
	if (!w->more || w->from == INT64_MIN)
		return true;
	engine_query(st, ctx, &q, SQL_RUN_LIST_OWNED, err);
	query_text(&q, ":owner", w->filter->owner);
	query_int(&q, ":statuses", w->filter->statuses);
	query_int(&q, ":from", w->from);
	while (more && query_row(&q)) {
		more =
		    heap_hand_out(&heap, query_column_int(&q, RUN_GET_UPDATED_AT), w->fn, w->arg);
		record_read_row(&q, &record);
		heap_push(&heap, &record);
	}
	if (more && !q.failed)
		heap_hand_out(&heap, INT64_MIN, w->fn, w->arg);
	while (heap.count)
		record_free(heap_pop(&heap));
	free(heap.items);
	return pool_query_end(engine_of(st)->pool, &q);
}

static bool runs_list(struct storage *st, const struct storage_context *ctx,
    const struct record_filter *filter, record_fn fn, void *arg, struct error *err)
{
	struct record_walk w = {
	    .filter = filter, .from = INT64_MIN, .fn = fn, .arg = arg, .more = true};
	struct query q;
	if (!filter->thread_id)
		return filter->owner ? runs_list_owned(st, ctx, &w, err)
				     : runs_list_indexed(st, ctx, &w, err);
	engine_query(st, ctx, &q, SQL_RUN_LIST_THREAD, err);
	query_text(&q, ":thread_id", filter->thread_id);
	query_text(&q, ":owner", filter->owner);
	query_int(&q, ":statuses", filter->statuses);
	while (w.more && query_row(&q)) {
		record_read_row(&q, &w.last);
		w.more = fn(arg, &w.last);
	}
	return pool_query_end(engine_of(st)->pool, &q);
}

const struct run_ops sql_runs = {
    .get = runs_get,
    .list = runs_list,
    .messages = runs_messages,
    .remove = runs_remove,
    .submit = engine_submit,
    .claim = engine_claim,
    .begins = engine_begins,
    .give_back = engine_give_back,
    .lose = engine_lose,
    .finish = engine_finish,
    .recover = engine_recover,
    .stop_queued = engine_stop_queued,
    .ordered = engine_ordered,
    .arrive = engine_arrive,
    .arrived = engine_arrived,
    .queued_due = engine_queued_due,
    .chunks_append = engine_chunks_append,
    .chunks_read = engine_chunks_read,
    .chunks_last = engine_chunks_last,
    .chunks_forget = engine_chunks_forget,
    .chunks_expire = engine_chunks_expire,
    .webhooks_due = engine_webhooks_due,
    .webhooks_waiting = engine_webhooks_waiting,
    .webhook_settle = engine_webhook_settle,
    .push_put = engine_push_put,
    .pushes_read = engine_pushes_read,
    .push_remove = engine_push_remove,
    .pushes_tell = engine_pushes_tell,
};
