/* SPDX-License-Identifier: ISC */
/* Records of files: a database of their own, which most processes only read. */
#include "storage/file_records.h"

#include "base/memory.h"
#include "storage/sql/engine.h"

#include <pthread.h>
#include <stdlib.h>

/* The layout of the region SHARED_FILE_RECORDS. */
_Static_assert(
    sizeof(struct turnstile) <= SHARED_FILE_RECORDS_SIZE, "SHARED_FILE_RECORDS is too small");

struct records {
	struct file_records records; /* first, so that one pointer is both */
	struct db_source source;     /* files.db */
	enum db_mode mode;
	struct turnstile *turnstile;
	struct pool *pool;
	pthread_mutex_t lock; /* guards db */
	struct db *db;        /* NULL before something is written */
};

static struct records *records_of(struct file_records *records)
{
	return (struct records *)records;
}

static struct file_records *records_open(struct storage *st)
{
	const struct engine *e = engine_of(st);
	struct records *r = xcalloc(1, sizeof(*r));
	r->records.ops = &sql_file_records;
	engine_source(e, "files", &r->source);
	r->mode = e->mode;
	r->turnstile = engine_turnstile(e, SHARED_FILE_RECORDS);
	r->pool = pool_new(&r->source);
	pthread_mutex_init(&r->lock, NULL);
	return &r->records;
}

static void records_close(struct file_records *records)
{
	struct records *r = records_of(records);
	pool_free(r->pool);
	db_close(r->db);
	pthread_mutex_destroy(&r->lock);
	free(r->source.path);
	free(r);
}

static bool records_prepare(
    struct file_records *records, const struct storage_context *ctx, bool make, struct error *err)
{
	const struct records *r = records_of(records);
	struct db *db;
	(void)ctx;
	if (!make && !database_is_there(&r->source))
		return true;
	db = database_open(&r->source, "files", r->mode, r->turnstile, err);
	db_close(db);
	return db != NULL;
}

/* ---- reading ---- */

static void records_query(struct records *r, const struct storage_context *ctx, struct query *q,
    enum sql_id id, struct error *err)
{
	pool_query(r->pool, q, id, err);
	if (ctx)
		query_watch(q, ctx->waiter);
}

static bool records_get(struct file_records *records, const struct storage_context *ctx,
    struct arena *a, const char *file_id, struct file_record *record, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	bool found;
	records_query(r, ctx, &q, SQL_FILE_GET, err);
	query_text(&q, ":file_id", file_id);
	found = query_row(&q);
	if (found)
		*record = (struct file_record){
		    .file_id = arena_strdup(a, query_column_text(&q, FILE_GET_FILE_ID)),
		    .owner = arena_strdup(a, query_column_text(&q, FILE_GET_OWNER)),
		    .filename = arena_strdup(a, query_column_text(&q, FILE_GET_FILENAME)),
		    .mime_type = arena_strdup(a, query_column_text(&q, FILE_GET_MIME_TYPE)),
		    .size = query_column_int(&q, FILE_GET_SIZE),
		    .sha256 = arena_strdup(a, query_column_text(&q, FILE_GET_SHA256)),
		    .created_at = query_column_int(&q, FILE_GET_CREATED_AT),
		    .backend = arena_strdup(a, query_column_text(&q, FILE_GET_BACKEND)),
		    .key = arena_strdup(a, query_column_text(&q, FILE_GET_KEY)),
		    .text_state = (enum text_state)query_column_int(&q, FILE_GET_TEXT_STATE),
		    .touched_at = query_column_int(&q, FILE_GET_TOUCHED_AT),
		};
	return pool_query_end(r->pool, &q) && found;
}

/* The text of the first row, which may be none. */
static char *records_take_text(struct records *r, struct query *q)
{
	char *text = query_row(q) ? xstrdup(query_column_text(q, FILE_TEXT_TEXT)) : NULL;
	if (pool_query_end(r->pool, q))
		return text;
	free(text);
	return NULL;
}

static char *records_text(struct file_records *records, const struct storage_context *ctx,
    const char *file_id, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	records_query(r, ctx, &q, SQL_FILE_TEXT, err);
	query_text(&q, ":file_id", file_id);
	return records_take_text(r, &q);
}

static char *records_same_text(struct file_records *records, const struct storage_context *ctx,
    const char *sha256, const char *mime_type, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	records_query(r, ctx, &q, SQL_FILE_SAME_TEXT, err);
	query_text(&q, ":sha256", sha256);
	query_text(&q, ":mime_type", mime_type);
	return records_take_text(r, &q);
}

static bool records_untouched(struct file_records *records, const struct storage_context *ctx,
    struct arena *a, struct untouched *old, struct error *err)
{
	(void)ctx;
	return engine_untouched(records_of(records)->pool, SQL_FILES_UNTOUCHED, a, old, err);
}

/* ---- writing ---- */

/* Enters the turnstile and begins a statement, in a transaction of its own. */
static void file_records_begin(
    struct records *r, struct query *q, enum sql_id id, struct error *err)
{
	pthread_mutex_lock(&r->lock);
	turnstile_enter(r->turnstile);
	if (!r->db && (r->db = db_open(&r->source, r->mode, err)) &&
	    !db_exec(r->db, SQL_FILES_CONNECTION, err)) {
		db_close(r->db);
		r->db = NULL;
	}
	query_start(q, r->db, id, err);
}

static bool records_end(struct records *r, struct query *q)
{
	bool ok = query_run(q);
	turnstile_leave(r->turnstile);
	pthread_mutex_unlock(&r->lock);
	return ok;
}

static bool file_records_add(struct file_records *records, const struct storage_context *ctx,
    const struct file_record *record, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	(void)ctx;
	file_records_begin(r, &q, SQL_FILE_INSERT, err);
	query_text(&q, ":file_id", record->file_id);
	query_text(&q, ":owner", record->owner);
	query_text(&q, ":filename", record->filename);
	query_text(&q, ":mime_type", record->mime_type);
	query_int(&q, ":size", record->size);
	query_text(&q, ":sha256", record->sha256);
	query_int(&q, ":created_at", record->created_at);
	query_text(&q, ":backend", record->backend);
	query_text(&q, ":key", record->key);
	query_int(&q, ":text_state", record->text_state);
	query_text(&q, ":text", record->text);
	return records_end(r, &q);
}

static bool records_touch(struct file_records *records, const struct storage_context *ctx,
    const char *file_id, int64_t now, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	(void)ctx;
	file_records_begin(r, &q, SQL_FILE_TOUCH, err);
	query_text(&q, ":file_id", file_id);
	query_int(&q, ":now", now);
	return records_end(r, &q);
}

static bool records_remove(struct file_records *records, const struct storage_context *ctx,
    const char *file_id, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	(void)ctx;
	file_records_begin(r, &q, SQL_FILE_DELETE, err);
	query_text(&q, ":file_id", file_id);
	return records_end(r, &q);
}

static bool records_forget(struct file_records *records, const struct storage_context *ctx,
    const char *backend, struct error *err)
{
	struct records *r = records_of(records);
	struct query q;
	(void)ctx;
	file_records_begin(r, &q, SQL_FILES_FORGET, err);
	query_text(&q, ":backend", backend);
	return records_end(r, &q);
}

const struct file_record_ops sql_file_records = {
    .open = records_open,
    .close = records_close,
    .prepare = records_prepare,
    .get = records_get,
    .text = records_text,
    .same_text = records_same_text,
    .untouched = records_untouched,
    .add = file_records_add,
    .touch = records_touch,
    .remove = records_remove,
    .forget = records_forget,
};
