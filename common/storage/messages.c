#include "storage/engine.h"

void engine_bind_page(struct query *q, const struct page *page)
{
	bool all = !page->search || page->search[0] == '\0';

	query_text(q, ":search", all ? NULL : page->search);
	query_int(q, ":limit", page->limit);
	query_int(q, ":offset", page->offset);
}

/* Hands out message id and body, which are the columns from first on. */
static void walk(struct query *q, int first, message_fn fn, void *arg)
{
	while (query_row(q)) {
		if (!fn(arg, query_column_text(q, first), query_column_text(q, first + 1)))
			break;
	}
}

bool engine_message_list(struct storage *st, int64_t thread_row, const struct page *page,
    message_fn fn, void *arg, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	pool_query(pool, &q, SQL_MESSAGE_LIST, err);
	query_int(&q, ":thread", thread_row);
	engine_bind_page(&q, page);
	walk(&q, 0, fn, arg);
	return pool_query_end(pool, &q);
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
		*body = arena_strdup(a, query_column_text(&q, 0));
	return pool_query_end(pool, &q);
}

bool engine_message_known(struct storage *st, int64_t thread_row, const char *message_id,
    bool *known, bool *in_context, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	query_message(pool, &q, SQL_MESSAGE_KNOWN, thread_row, message_id, err);
	*known = query_row(&q);
	*in_context = *known && query_column_int(&q, 0) != 0;
	return pool_query_end(pool, &q);
}

bool engine_context(
    struct storage *st, int64_t thread_row, message_fn fn, void *arg, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	pool_query(pool, &q, SQL_CONTEXT, err);
	query_int(&q, ":thread", thread_row);
	walk(&q, 1, fn, arg);
	return pool_query_end(pool, &q);
}

bool engine_context_count(struct storage *st, int64_t thread_row, int64_t *count, struct error *err)
{
	struct pool *pool = engine_of(st)->pool;
	struct query q;

	*count = 0;
	pool_query(pool, &q, SQL_CONTEXT_COUNT, err);
	query_int(&q, ":thread", thread_row);
	if (query_row(&q))
		*count = query_column_int(&q, 0);
	return pool_query_end(pool, &q);
}
