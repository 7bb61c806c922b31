/* SPDX-License-Identifier: ISC */
/* Opening the stores of bytes, and adding, finding, reading and sweeping records. */
#include "storage/files.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "storage/blob/blob.h"
#include "storage/blob/s3.h"
#include "storage/sqlite/engine.h"
#include "storage/sqlite/migrate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY_US (86400 * INT64_C(1000000))
#define MEMORY_MAX (1LL << 30) /* bytes of all files in memory together */

/* The layout of the region SHARED_FILES. */
struct files_region {
	struct turnstile turnstile;
	_Atomic uint32_t begun; /* what an earlier life left in memory is forgotten */
	_Atomic int64_t memory_used;
};

_Static_assert(sizeof(struct files_region) <= SHARED_FILES_SIZE, "SHARED_FILES is too small");

struct files {
	struct files_region *region;
	char *path; /* of files.db */
	enum db_mode mode;
	struct pool *pool;
	pthread_mutex_t lock; /* guards db */
	struct db *db;        /* NULL before something is written: most processes only read */
	bool begun;           /* the database was opened once; guarded after the start */
	struct blobs *memory, *local;
	struct blobs *cloud;   /* NULL: none is configured */
	struct blobs *current; /* one of them */
};

/* ---- opening ---- */

static bool storage_files_forget(struct db *db, const char *backend, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_FILES_FORGET, err);
	query_text(&q, ":backend", backend);
	return query_run(&q);
}

/* The first process of the instance finds the region as it was made: all zero. */
static bool begin_life(struct files *f, struct error *err)
{
	bool ok = true;

	turnstile_enter(&f->region->turnstile);
	if (!atomic_load(&f->region->begun)) {
		ok = storage_files_forget(f->db, BLOBS_MEMORY, err);
		f->memory->ops->clear(f->memory);
		atomic_store(&f->region->begun, ok);
	}
	turnstile_leave(&f->region->turnstile);
	return ok;
}

static void storage_files_rest(struct files *f)
{
	db_close(f->db);
	f->db = NULL;
}

/*
 * A disk that is full does not even let a database be opened that nobody else has open.  What needs
 * no files is served all the same, and the next one that writes tries again.
 */
static bool open_records(struct files *f, struct error *err)
{
	f->db = database_open(f->path, "files", f->mode, &f->region->turnstile, err);
	f->begun = f->db && begin_life(f, err);
	storage_files_rest(f);
	return f->begun;
}

static bool open_at_start(struct files *f, struct error *err)
{
	f->pool = pool_new(f->path);
	if (open_records(f, err))
		return true;
	if (err->kind != ERR_TRANSIENT_STORAGE)
		return false;
	log_warning("%s; files wait until there is room", err->cause[0] ? err->cause : err->detail);
	error_release(err);
	return true;
}

static bool is_recorded(const char *file_id, void *arg)
{
	struct arena *arena = arena_new();
	struct file_record record;
	struct error err = {0};
	bool recorded = files_get(arg, arena, file_id, &record, &err) || error_is_set(&err);

	error_release(&err);
	arena_free(arena);
	return recorded;
}

static void sweep(struct files *f)
{
	f->memory->ops->sweep(f->memory, is_recorded, f);
	f->local->ops->sweep(f->local, is_recorded, f);
	if (f->cloud)
		f->cloud->ops->sweep(f->cloud, is_recorded, f);
}

static void make_stores(struct files *f, const struct config *config)
{
	char *path = blobs_memory_path(config->state_dir);

	f->memory = blobs_memory(path, &f->region->memory_used, MEMORY_MAX);
	f->local = blobs_local(config->env.media_storage_path);
	free(path);
}

/* The bucket of earlier days is read from as long as it is configured. */
static bool make_cloud(struct files *f, const struct config *config, struct error *err)
{
	struct error ignored = {0};
	bool current = strcmp(config->env.media_storage_type, BLOBS_CLOUD) == 0;
	bool usable = (current || config->env.media_cloud_bucket) &&
	    s3_check(&config->env, current ? err : &ignored);

	error_release(&ignored);
	if (usable)
		f->cloud = blobs_cloud(config);
	return usable || !current;
}

static bool choose_store(struct files *f, const struct config *config, struct error *err)
{
	const char *type = config->env.media_storage_type;

	if (!make_cloud(f, config, err))
		return false;
	if (strcmp(type, BLOBS_CLOUD) == 0)
		f->current = f->cloud;
	else
		f->current = strcmp(type, BLOBS_MEMORY) == 0 ? f->memory : f->local;
	return true;
}

struct files *files_open(const struct config *config, struct shared *shared, struct error *err)
{
	struct files *f = xcalloc(1, sizeof(*f));
	bool ok;

	f->path = xasprintf("%s/files.db", config->state_dir);
	pthread_mutex_init(&f->lock, NULL);
	f->region = shared_region(shared, SHARED_FILES);
	f->mode = engine_write_mode(config->env.synchronous_full);
	make_stores(f, config);
	ok = choose_store(f, config, err) && open_at_start(f, err);
	if (ok) {
		sweep(f);
		return f;
	}
	files_close(f);
	return NULL;
}

bool files_check(const struct config *config, struct shared *shared, struct error *err)
{
	struct files f = {.path = xasprintf("%s/files.db", config->state_dir),
	    .mode = engine_write_mode(config->env.synchronous_full),
	    .region = shared_region(shared, SHARED_FILES)};
	bool good = access(f.path, F_OK) != 0 ||
	    (f.db = database_open(f.path, "files", f.mode, &f.region->turnstile, err)) != NULL;

	db_close(f.db);
	free(f.path);
	return good;
}

void files_close(struct files *f)
{
	if (!f)
		return;
	pool_free(f->pool);
	db_close(f->db);
	f->memory->ops->close(f->memory);
	f->local->ops->close(f->local);
	if (f->cloud)
		f->cloud->ops->close(f->cloud);
	pthread_mutex_destroy(&f->lock);
	free(f->path);
	free(f);
}

struct blobs *files_store(struct files *f)
{
	return f->current;
}

struct blobs *files_store_of(struct files *f, const struct file_record *record, struct error *err)
{
	if (strcmp(record->backend, BLOBS_MEMORY) == 0)
		return f->memory;
	if (strcmp(record->backend, BLOBS_LOCAL) == 0)
		return f->local;
	if (strcmp(record->backend, BLOBS_CLOUD) == 0 && f->cloud)
		return f->cloud;
	error_set(err, ERR_STORAGE, NULL);
	error_cause(err, "file %s is in the store %s, which is not configured", record->file_id,
	    record->backend);
	return NULL;
}

/* ---- records ---- */

static void copy_record(struct query *q, struct arena *a, struct file_record *r)
{
	*r = (struct file_record){
	    .file_id = arena_strdup(a, query_column_text(q, FILE_GET_FILE_ID)),
	    .owner = arena_strdup(a, query_column_text(q, FILE_GET_OWNER)),
	    .filename = arena_strdup(a, query_column_text(q, FILE_GET_FILENAME)),
	    .mime_type = arena_strdup(a, query_column_text(q, FILE_GET_MIME_TYPE)),
	    .size = query_column_int(q, FILE_GET_SIZE),
	    .sha256 = arena_strdup(a, query_column_text(q, FILE_GET_SHA256)),
	    .created_at = query_column_int(q, FILE_GET_CREATED_AT),
	    .backend = arena_strdup(a, query_column_text(q, FILE_GET_BACKEND)),
	    .key = arena_strdup(a, query_column_text(q, FILE_GET_KEY)),
	    .text_state = (enum text_state)query_column_int(q, FILE_GET_TEXT_STATE),
	    .touched_at = query_column_int(q, FILE_GET_TOUCHED_AT),
	};
}

bool files_get(struct files *f, struct arena *arena, const char *file_id,
    struct file_record *record, struct error *err)
{
	struct query q;
	bool found;

	pool_query(f->pool, &q, SQL_FILE_GET, err);
	query_text(&q, ":file_id", file_id);
	found = query_row(&q);
	if (found)
		copy_record(&q, arena, record);
	return pool_query_end(f->pool, &q) && found;
}

char *files_text(struct files *f, const char *file_id, struct error *err)
{
	struct query q;
	char *text = NULL;

	pool_query(f->pool, &q, SQL_FILE_TEXT, err);
	query_text(&q, ":file_id", file_id);
	if (query_row(&q))
		text = xstrdup(query_column_text(&q, FILE_TEXT_TEXT));
	if (pool_query_end(f->pool, &q))
		return text;
	free(text);
	return NULL;
}

char *files_same_text(struct files *f, const char *sha256, const char *mime_type)
{
	struct error err = {0};
	struct query q;
	char *text = NULL;

	pool_query(f->pool, &q, SQL_FILE_SAME_TEXT, &err);
	query_text(&q, ":sha256", sha256);
	query_text(&q, ":mime_type", mime_type);
	if (query_row(&q))
		text = xstrdup(query_column_text(&q, FILE_TEXT_TEXT));
	pool_query_end(f->pool, &q);
	if (error_is_set(&err))
		log_warning("files.db: %s", err.cause);
	error_release(&err);
	return text;
}

static bool insert(struct db *db, const struct file_record *r, struct error *err)
{
	struct query q;

	query_start(&q, db, SQL_FILE_INSERT, err);
	query_text(&q, ":file_id", r->file_id);
	query_text(&q, ":owner", r->owner);
	query_text(&q, ":filename", r->filename);
	query_text(&q, ":mime_type", r->mime_type);
	query_int(&q, ":size", r->size);
	query_text(&q, ":sha256", r->sha256);
	query_int(&q, ":created_at", r->created_at);
	query_text(&q, ":backend", r->backend);
	query_text(&q, ":key", r->key);
	query_int(&q, ":text_state", r->text_state);
	query_text(&q, ":text", r->text);
	return query_run(&q);
}

static bool open_for_writing(struct files *f, struct error *err)
{
	if (!f->db && (f->db = db_open(f->path, f->mode, err)) &&
	    !db_exec(f->db, SQL_FILES_CONNECTION, err))
		storage_files_rest(f);
	return f->db != NULL;
}

bool files_add(struct files *f, const struct file_record *record, struct error *err)
{
	bool ok;

	pthread_mutex_lock(&f->lock);
	ok = f->begun || open_records(f, err); /* which enters the turnstile itself */
	if (ok) {
		turnstile_enter(&f->region->turnstile);
		ok = open_for_writing(f, err) && insert(f->db, record, err);
		turnstile_leave(&f->region->turnstile);
	}
	pthread_mutex_unlock(&f->lock);
	return ok;
}

/* A statement about one file, in a transaction of its own. */
static bool files_write(struct files *f, enum sql_id sql, const char *file_id, struct error *err)
{
	pthread_mutex_lock(&f->lock);
	turnstile_enter(&f->region->turnstile);
	bool ok = open_for_writing(f, err);
	if (ok) {
		struct query q;
		query_start(&q, f->db, sql, err);
		query_text(&q, ":file_id", file_id);
		if (sql == SQL_FILE_TOUCH)
			query_int(&q, ":now", clock_now());
		ok = query_run(&q);
	}
	turnstile_leave(&f->region->turnstile);
	pthread_mutex_unlock(&f->lock);
	return ok;
}

void files_touch(struct files *f, const struct file_record *record)
{
	struct error err = {0};

	if (clock_now() - record->touched_at < DAY_US)
		return;
	if (!files_write(f, SQL_FILE_TOUCH, record->file_id, &err))
		log_warning("files.db: %s", err.cause);
	error_release(&err);
}

bool files_untouched(struct files *f, struct arena *arena, int64_t before, int64_t skip,
    const char **ids, size_t *count, struct error *err)
{
	return engine_untouched(f->pool, SQL_FILES_UNTOUCHED, arena, before, skip, ids, count, err);
}

bool files_remove(struct files *f, const struct file_record *record, struct error *err)
{
	struct blobs *blobs = files_store_of(f, record, err);

	return blobs && blobs->ops->remove(blobs, record->key, err) &&
	    files_write(f, SQL_FILE_DELETE, record->file_id, err);
}

/* ---- bytes ---- */

static bool storage_files_read_all(struct blob *blob, char *out, int64_t size, struct error *err)
{
	const struct blob_ops *ops = blob->blobs->ops;
	int64_t have = 0;

	while (have < size) {
		ssize_t n = ops->read(blob, out + have, (size_t)(size - have), have, err);
		if (n <= 0)
			break;
		have += n;
	}
	if (have == size)
		return true;
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(
	    err, "a file has %lld bytes instead of %lld", (long long)have, (long long)size);
}

static bool storage_files_fits(const struct file_record *record, int64_t max, struct error *err)
{
	return record->size <= max ||
	    error_set(err, ERR_FILE_TOO_LARGE, "File %s has more than %lld bytes", record->file_id,
		(long long)max);
}

char *files_read(struct files *f, const struct file_record *record, int64_t max, struct error *err)
{
	struct blobs *blobs = files_store_of(f, record, err);
	struct blob *blob;
	char *data;

	if (!blobs || !storage_files_fits(record, max, err))
		return NULL;
	blob = blobs->ops->open(blobs, record->key, err);
	if (!blob)
		return NULL;
	data = xmalloc((size_t)record->size + 1);
	data[record->size] = '\0';
	if (!storage_files_read_all(blob, data, record->size, err)) {
		free(data);
		data = NULL;
	}
	blobs->ops->shut(blob);
	return data;
}
