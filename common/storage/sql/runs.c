/* SPDX-License-Identifier: ISC */
/* Rows in a database: records of runs read, listed and removed, and the table of what there is of
 * runs. */
#include "storage/runs.h"

#include "base/memory.h"
#include "storage/sql/claims.h"
#include "storage/sql/records.h"
#include "storage/sql/runs_engine.h"

#include <stdlib.h>

/* ---- read ---- */

static void record_keep(struct arena *a, struct run_record *r)
{
	r->run_id = arena_strdup(a, r->run_id);
	r->node = arena_strdup(a, r->node);
	r->error_json = arena_strdup(a, r->error_json);
	r->thread_id = arena_strdup(a, r->thread_id);
	r->metadata_json = arena_strdup(a, r->metadata_json);
	r->webhook.url = arena_strdup(a, r->webhook.url);
}

static bool runs_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char *run_id, struct run_record *record, struct error *err)
{
	struct query q;
	bool found;

	engine_query(st, ctx, &q, SQL_RUN_GET, err);
	query_text(&q, ":thread_id", thread_id);
	query_text(&q, ":run_id", run_id);
	found = query_row(&q);
	if (found) {
		record_read_row(&q, record);
		record_keep(a, record);
	}
	return pool_query_end(engine_of(st)->pool, &q) && found;
}

static bool runs_messages(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, bool made, message_fn fn, void *arg, struct error *err)
{
	int64_t begin = record->after + record->brought;
	struct query q;
	bool more = true;

	engine_query(st, ctx, &q, SQL_CONTEXT, err);
	query_int(&q, ":thread", record->thread_row);
	query_int(&q, ":after", made ? begin : record->after);
	query_int(&q, ":until", made ? record->until : begin);
	while (more && query_row(&q))
		more = fn(arg, query_column_text(&q, CONTEXT_MESSAGE_ID),
		    query_column_text(&q, CONTEXT_BODY));
	return pool_query_end(engine_of(st)->pool, &q);
}

struct record_removal {
	struct unit unit;
	const struct run_record *record;
	struct moves moves;
};

static bool runs_remove_row(struct db *db, struct unit *unit, struct error *err)
{
	struct record_removal *r = (struct record_removal *)unit;

	r->moves = (struct moves){0};
	return claim_lock(db, SQL_THREAD_LOCK, r->record->thread_row, err) &&
	    record_drop(db, r->record->thread_row, r->record->number, &r->moves, err);
}

static bool runs_remove(struct storage *st, const struct storage_context *ctx,
    const struct run_record *record, struct error *err)
{
	struct record_removal r = {.unit = {.run = runs_remove_row}, .record = record};

	(void)ctx;
	return writer_run(engine_of(st)->writer, &r.unit, err) && moves_tell(st, &r.moves);
}

/* ---- listed ---- */

/* Records that were read, but may be older than one that is still to come: a heap, the newest at
 * its top. */
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

/* Hands out those that began after that; false when no more are wanted. */
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

/* No run began after the latest change of its thread, so whatever is newer than that of the thread
 * that comes next is in its place. */
static void runs_merge(struct query *q, record_fn fn, void *arg)
{
	struct record_heap heap = {0};
	struct run_record record;
	bool more = true;

	while (more && query_row(q)) {
		more = heap_hand_out(&heap, query_column_int(q, RUN_GET_UPDATED_AT), fn, arg);
		record_read_row(q, &record);
		heap_push(&heap, &record);
	}
	if (more && !q->failed)
		heap_hand_out(&heap, INT64_MIN, fn, arg);
	while (heap.count)
		record_free(heap_pop(&heap));
	free(heap.items);
}

static void runs_in_order(struct query *q, record_fn fn, void *arg)
{
	struct run_record record;
	bool more = true;

	while (more && query_row(q)) {
		record_read_row(q, &record);
		more = fn(arg, &record);
	}
}

/* So many of others' runs are looked at before all of a user's threads are. */
#define OTHERS_MOST 1000

/* Statuses that the index has, which are asked for alone, or with those that say that they run. */
static bool status_has_index(unsigned statuses, enum run_status *status)
{
	unsigned asked = statuses == 1U << RUN_RUNNING ? statuses : statuses & ~(1U << RUN_RUNNING);

	*status = RUN_RUNNING;
	while (*status < RUN_QUEUED && asked != 1U << *status)
		++*status;
	return asked == 1U << *status && *status != RUN_COMPLETED;
}

static bool status_is_common(struct storage *st, const struct storage_context *ctx,
    enum run_status status, bool *common, struct error *err)
{
	struct query q;

	engine_query(st, ctx, &q, SQL_RUN_MANY, err);
	query_int(&q, ":status", status);
	query_int(&q, ":count", OTHERS_MOST);
	*common = query_row(&q);
	return pool_query_end(engine_of(st)->pool, &q);
}

static bool runs_list_status(struct storage *st, const struct storage_context *ctx,
    const struct record_filter *filter, enum run_status status, record_fn fn, void *arg,
    struct error *err)
{
	struct query q;

	engine_query(st, ctx, &q, SQL_RUN_LIST_STATUS, err);
	query_int(&q, ":status", status);
	if (filter->statuses != 1U << status)
		query_int(&q, ":other", RUN_RUNNING);
	query_text(&q, ":owner", filter->owner);
	runs_in_order(&q, fn, arg);
	return pool_query_end(engine_of(st)->pool, &q);
}

static bool runs_list(struct storage *st, const struct storage_context *ctx,
    const struct record_filter *filter, record_fn fn, void *arg, struct error *err)
{
	enum run_status status;
	bool common = false;
	struct query q;

	if (!filter->thread_id && status_has_index(filter->statuses, &status)) {
		if (filter->owner && !status_is_common(st, ctx, status, &common, err))
			return false;
		if (!common)
			return runs_list_status(st, ctx, filter, status, fn, arg, err);
	}
	engine_query(st, ctx, &q,
	    filter->thread_id   ? SQL_RUN_LIST_THREAD
		: filter->owner ? SQL_RUN_LIST_OWNED
				: SQL_RUN_LIST,
	    err);
	query_int(&q, ":statuses", filter->statuses);
	if (filter->thread_id)
		query_text(&q, ":thread_id", filter->thread_id);
	if (filter->thread_id || filter->owner)
		query_text(&q, ":owner", filter->owner);
	(filter->thread_id ? runs_in_order : runs_merge)(&q, fn, arg);
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
};
