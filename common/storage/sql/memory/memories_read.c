/* SPDX-License-Identifier: ISC */
/* Memories in rows: queries by id, filter, time, link and words. */
#include "storage/sql/memory/memories_engine.h"

#include "base/buf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 64 /* of a query; more make it slow, and say no more */

void memories_owner_word(const char *user_id, char word[OWNER_WORD_SIZE])
{
	snprintf(word, OWNER_WORD_SIZE, "u%016" PRIx64, vector_word(user_id));
}

void memories_bind_filter(struct query *q, const struct memory_filter *filter)
{
	query_text(q, ":user_id", filter->user_id);
	query_text(q, ":thread_id", filter->thread_id);
	query_text(q, ":memory_type", filter->memory_type);
	query_text(q, ":category", filter->category);
	query_text(q, ":filters", filter->filters_json);
}

/* A query with conditions may take long, so it ends without its waiter. */
static void memories_watch_filter(
    struct query *q, const struct storage_context *ctx, const struct memory_filter *filter)
{
	if (ctx && filter->filters_json)
		query_watch(q, ctx->waiter);
}

/* ---- one memory ---- */

/* Ends a query for at most one memory; false where there is none, or with the error set. */
static bool memories_take_row(struct pool *pool, struct query *q, struct arena *a, struct memory *m)
{
	bool found = query_row(q);
	if (found)
		*m = (struct memory){
		    .memory_id = arena_strdup(a, query_column_text(q, MEMORY_GET_MEMORY_ID)),
		    .user_id = arena_strdup(a, query_column_text(q, MEMORY_GET_USER_ID)),
		    .thread_id = arena_strdup(a, query_column_text(q, MEMORY_GET_THREAD_ID)),
		    .memory_type = arena_strdup(a, query_column_text(q, MEMORY_GET_MEMORY_TYPE)),
		    .category = arena_strdup(a, query_column_text(q, MEMORY_GET_CATEGORY)),
		    .created_at = query_column_int(q, MEMORY_GET_CREATED_AT),
		    .metadata_json = arena_strdup(a, query_column_text(q, MEMORY_GET_METADATA)),
		    .content = arena_strdup(a, query_column_text(q, MEMORY_GET_CONTENT)),
		};
	return pool_query_end(pool, q) && found;
}

bool memories_get(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *scope, const char *memory_id, struct memory *m, struct error *err)
{
	struct pool *pool = memories_engine_of(set)->pool;
	struct query q;
	(void)ctx;
	pool_query(pool, &q, SQL_MEMORY_GET, err);
	query_text(&q, ":memory_id", memory_id);
	query_text(&q, ":user_id", scope->user_id);
	query_text(&q, ":thread_id", scope->thread_id);
	return memories_take_row(pool, &q, a, m);
}

bool memories_load(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *filter, int64_t row, struct memory *m, struct error *err)
{
	struct pool *pool = memories_engine_of(set)->pool;
	struct query q;
	(void)ctx;
	pool_query(pool, &q, SQL_MEMORY_LOAD, err);
	query_int(&q, ":row", row);
	memories_bind_filter(&q, filter);
	return memories_take_row(pool, &q, a, m);
}

/* ---- searches ---- */

static bool memories_collect(
    struct memories_engine *e, struct query *q, bool weighed, struct memory_hits *hits)
{
	hits->count = 0;
	while (hits->count < hits->limit && query_row(q)) {
		struct memory_hit *hit = &hits->items[hits->count++];
		hit->row = query_column_int(q, MEMORY_MATCHING_ROW);
		hit->created_at = query_column_int(q, MEMORY_MATCHING_CREATED_AT);
		hit->score = weighed ? query_column_double(q, MEMORY_MATCHING_WEIGHT) : 0;
	}
	return pool_query_end(e->pool, q);
}

void memories_rows_query(struct memories_engine *e, const struct storage_context *ctx,
    struct query *q, const struct memory_filter *filter, int64_t newest, size_t limit,
    struct error *err)
{
	pool_query(e->pool, q, filter->user_id ? SQL_MEMORY_ROWS_OWNED : SQL_MEMORY_ROWS, err);
	if (filter->user_id)
		query_text(q, ":user_id", filter->user_id);
	query_text(q, ":thread_id", filter->thread_id);
	query_text(q, ":memory_type", filter->memory_type);
	query_text(q, ":category", filter->category);
	query_text(q, ":filters", filter->filters_json);
	memories_watch_filter(q, ctx, filter);
	query_int(q, ":newest", newest);
	query_int(q, ":limit", limit > INT64_MAX ? INT64_MAX : (int64_t)limit);
}

void memories_vectors_query(struct memories_engine *e, const struct storage_context *ctx,
    struct query *q, const struct memory_filter *filter, struct error *err)
{
	pool_query(e->pool, q, SQL_MEMORY_VECTORS, err);
	memories_bind_filter(q, filter);
	query_int(q, ":model", e->model);
	memories_watch_filter(q, ctx, filter);
}

bool memories_recent(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, struct memory_hits *hits, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct query q;
	memories_rows_query(e, ctx, &q, filter, INT64_MAX, hits->limit, err);
	return memories_collect(e, &q, false, hits);
}

bool memories_linked(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t row, struct memory_hits *hits, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct query q;
	pool_query(e->pool, &q, SQL_MEMORY_LINKED, err);
	query_int(&q, ":row", row);
	memories_bind_filter(&q, filter);
	memories_watch_filter(&q, ctx, filter);
	query_int(&q, ":limit", (int64_t)hits->limit);
	return memories_collect(e, &q, false, hits);
}

/* A byte of a word: letters and digits, and whatever is not ASCII, which the index takes apart
 * itself. */
static bool memories_in_word(char c)
{
	return (unsigned char)c >= 0x80 || isalnum((unsigned char)c);
}

/*
 * The words of a text as a query of FTS5: each is quoted, so that nothing in it is syntax, and any
 * of them will do.  False when there is none.
 */
static bool memories_words_query(
    const struct memory_filter *filter, const char *text, struct buf *out)
{
	char owner[OWNER_WORD_SIZE];
	int words = 0;
	if (filter->user_id) {
		memories_owner_word(filter->user_id, owner);
		buf_printf(out, "owner : %s AND ", owner);
	}
	buf_puts(out, "content : (");
	while (*text && words < WORDS_MAX) {
		size_t len = 0;
		while (*text && !memories_in_word(*text))
			text++;
		while (memories_in_word(text[len]))
			len++;
		if (len == 0)
			break;
		buf_puts(out, words++ ? " OR \"" : "\"");
		buf_add(out, text, len);
		buf_putc(out, '"');
		text += len;
	}
	buf_putc(out, ')');
	return words > 0;
}

bool memories_matching(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const char *text, struct memory_hits *hits,
    struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct buf words = {0};
	struct query q;
	bool ok = true;
	hits->count = 0;
	if (memories_words_query(filter, text, &words)) {
		pool_query(e->pool, &q, SQL_MEMORY_MATCHING, err);
		query_text(&q, ":words", buf_str(&words));
		memories_bind_filter(&q, filter);
		memories_watch_filter(&q, ctx, filter);
		query_int(&q, ":limit", (int64_t)hits->limit);
		ok = memories_collect(e, &q, true, hits);
	}
	buf_release(&words);
	return ok;
}

/* ---- vectors ---- */

bool memories_known_vector(struct memory_set *set, const struct storage_context *ctx,
    const unsigned char *hash, float *vector, bool *found, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct query q;
	const void *stored;
	size_t size;
	(void)ctx;
	*found = false;
	pool_query(e->pool, &q, SQL_VECTOR_KNOWN, err);
	query_blob(&q, ":hash", hash, 32);
	query_int(&q, ":model", e->model);
	if (query_row(&q)) {
		stored = query_column_blob(&q, VECTOR_KNOWN_VECTOR, &size);
		*found = size == e->dimension * sizeof(float);
		if (*found)
			memcpy(vector, stored, size);
	}
	return pool_query_end(e->pool, &q);
}

bool memories_unembedded(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    struct memory_batch *batch, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct query q;
	(void)ctx;
	batch->texts = arena_alloc(a, batch->limit * sizeof(*batch->texts));
	batch->count = 0;
	pool_query(e->pool, &q, batch->all ? SQL_FOREIGN_LIST : SQL_PENDING_LIST, err);
	if (batch->all)
		query_int(&q, ":model", e->model);
	query_int(&q, ":after", batch->after);
	query_int(&q, ":limit", (int64_t)batch->limit);
	while (batch->count < batch->limit && query_row(&q)) {
		struct memory_text *text = &batch->texts[batch->count++];
		text->row = query_column_int(&q, PENDING_LIST_ROW);
		text->content = arena_strdup(a, query_column_text(&q, PENDING_LIST_CONTENT));
	}
	return pool_query_end(e->pool, &q);
}

#define MODELS_MAX 64 /* that are told about */

bool memories_census(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    struct memory_census *census, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct query q;
	(void)ctx;
	*census =
	    (struct memory_census){.models = arena_alloc(a, MODELS_MAX * sizeof(*census->models))};
	pool_query(e->pool, &q, SQL_MODEL_COUNTS, err);
	query_int(&q, ":model", e->model);
	while (census->model_count < MODELS_MAX && query_row(&q))
		census->models[census->model_count++] = (struct memory_model){
		    .name = arena_strdup(a, query_column_text(&q, MODEL_COUNTS_NAME)),
		    .dimension = query_column_int(&q, MODEL_COUNTS_DIMENSION),
		    .vectors = query_column_int(&q, MODEL_COUNTS_VECTORS),
		    .current = query_column_int(&q, MODEL_COUNTS_CURRENT) != 0,
		};
	if (!pool_query_end(e->pool, &q))
		return false;
	pool_query(e->pool, &q, SQL_MEMORY_COUNT, err);
	if (query_row(&q))
		census->memories = query_column_int(&q, MEMORY_COUNT_COUNT);
	return pool_query_end(e->pool, &q);
}

bool memories_has_foreign(
    struct memory_set *set, const struct storage_context *ctx, bool *foreign, struct error *err)
{
	struct memories_engine *e = memories_engine_of(set);
	struct query q;
	(void)ctx;
	pool_query(e->pool, &q, SQL_MODEL_OTHERS, err);
	query_int(&q, ":model", e->model);
	*foreign = query_row(&q) && query_column_int(&q, MODEL_OTHERS_FOUND);
	return pool_query_end(e->pool, &q);
}
