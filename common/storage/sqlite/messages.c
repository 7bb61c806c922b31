/* SPDX-License-Identifier: ISC */
/* The SQLite engine: reading the messages of a thread and its context. */
#include "storage/sqlite/engine.h"

void engine_bind_page(struct query *q, const struct page *page)
{
	bool all = !page->search || page->search[0] == '\0';

	query_text(q, ":search", all ? NULL : page->search);
	query_int(q, ":limit", page->limit);
	query_int(q, ":offset", page->offset);
}

/* Hands out rows of place, message id and body; *place becomes that of the last one.  How many
 * there were. */
static int64_t sqlite_messages_walk(struct query *q, int64_t *place, message_fn fn, void *arg)
{
	int64_t count = 0;
	bool more = true;

	while (more && query_row(q)) {
		*place = query_column_int(q, CONTEXT_PLACE);
		more = fn(arg, query_column_text(q, CONTEXT_MESSAGE_ID),
		    query_column_text(q, CONTEXT_BODY));
		count++;
	}
	return count;
}

bool engine_message_part(struct storage *st, int64_t thread_row, struct page *page, message_fn fn,
    void *arg, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;
	int64_t count;

	pool_query(pool, &q, SQL_MESSAGE_LIST, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":after", page->after);
	engine_bind_page(&q, page);
	count = sqlite_messages_walk(&q, &page->after, fn, arg);
	if (count)
		page->offset = 0;
	page->limit -= count;
	return pool_query_end(pool, &q);
}

bool engine_message_list(struct storage *st, int64_t thread_row, const struct page *page,
    message_fn fn, void *arg, struct error *err)
{
	struct page copy = *page;

	return engine_message_part(st, thread_row, &copy, fn, arg, err);
}

/* Starts a query on one message. */
static void query_message(struct pool *pool, struct query *q, enum sql_id id, int64_t thread_row,
    const char *message_id, struct error *err)
{
	pool_query(pool, q, id, err);
	query_int(q, ":thread", thread_row);
	query_text(q, ":message_id", message_id);
}

bool engine_message_get(struct storage *st, struct arena *a, int64_t thread_row,
    const char *message_id, const char **body, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	*body = NULL;
	query_message(pool, &q, SQL_MESSAGE_GET, thread_row, message_id, err);
	if (query_row(&q))
		*body = arena_strdup(a, query_column_text(&q, MESSAGE_GET_BODY));
	return pool_query_end(pool, &q);
}

bool engine_message_known(struct storage *st, int64_t thread_row, const char *message_id,
    bool *known, bool *in_context, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	query_message(pool, &q, SQL_MESSAGE_KNOWN, thread_row, message_id, err);
	*known = query_row(&q);
	*in_context = *known && query_column_int(&q, MESSAGE_KNOWN_IN_CONTEXT) != 0;
	return pool_query_end(pool, &q);
}

bool engine_context_span(
    struct storage *st, int64_t thread_row, struct context_span *span, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	*span = (struct context_span){0};
	pool_query(pool, &q, SQL_CONTEXT_SPAN, err);
	query_int(&q, ":thread", thread_row);
	if (query_row(&q))
		*span = (struct context_span){query_column_int(&q, CONTEXT_SPAN_CONTEXT_AFTER),
		    query_column_int(&q, CONTEXT_SPAN_LAST_NUMBER)};
	return pool_query_end(pool, &q);
}

bool engine_context_part(struct storage *st, int64_t thread_row, struct context_span *span,
    message_fn fn, void *arg, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	pool_query(pool, &q, SQL_CONTEXT, err);
	query_int(&q, ":thread", thread_row);
	query_int(&q, ":after", span->after);
	query_int(&q, ":until", span->until);
	sqlite_messages_walk(&q, &span->after, fn, arg);
	return pool_query_end(pool, &q);
}

bool engine_context(
    struct storage *st, int64_t thread_row, message_fn fn, void *arg, struct error *err)
{
	struct context_span span;

	return engine_context_span(st, thread_row, &span, err) &&
	    engine_context_part(st, thread_row, &span, fn, arg, err);
}

bool engine_context_count(struct storage *st, int64_t thread_row, int64_t *count, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	*count = 0;
	pool_query(pool, &q, SQL_CONTEXT_COUNT, err);
	query_int(&q, ":thread", thread_row);
	if (query_row(&q))
		*count = query_column_int(&q, CONTEXT_COUNT_COUNT);
	return pool_query_end(pool, &q);
}
