/* SPDX-License-Identifier: ISC */
/* Opening the stores of bytes, and adding, finding, reading and sweeping records. */
#include "storage/files.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/blob/blob.h"
#include "storage/blob/s3.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOUCH_US (3600 * INT64_C(1000000)) /* how exactly it is known when a file was used */
#define MEMORY_MAX (1LL << 30)             /* most bytes of all files in memory together */

/* The layout of the region SHARED_FILES. */
struct files_region {
	struct shared_head head; /* its first mutex guards begun */
	bool begun;              /* what an earlier life left in memory is forgotten */
	_Atomic int64_t memory_used;
};

_Static_assert(sizeof(struct files_region) <= SHARED_FILES_SIZE, "SHARED_FILES is too small");

enum store { STORE_MEMORY, STORE_LOCAL, STORE_CLOUD, STORE_DATABASE, STORES };

struct files {
	struct files_region *region;
	struct file_records *records;
	pthread_mutex_t lock; /* guards begun */
	bool begun; /* the records are prepared, and those that an earlier life left in memory are
		       gone */
	struct blobs *stores[STORES]; /* NULL: none of that kind is configured */
	struct blobs *current;        /* one of them */
};

/* ---- opening ---- */

/*
 * Prepares the records, and forgets what an earlier life left in memory.  On a full disk not even
 * the records may open; the service then serves all that needs no files, and the next upload tries
 * again before it has any bytes.  Call with the lock held, except at the start.
 */
static bool files_begin(struct files *f, const struct storage_context *ctx, struct error *err)
{
	const struct file_record_ops *ops = f->records->ops;
	if (!f->begun && ops->prepare(f->records, ctx, true, err)) {
		/* the first process of the instance finds the region as it was made: all zero */
		shared_lock(&f->region->head.mutex[0]);
		if (!f->region->begun) {
			f->region->begun = ops->forget(f->records, ctx, BLOBS_MEMORY, err);
			f->stores[STORE_MEMORY]->ops->clear(f->stores[STORE_MEMORY]);
		}
		f->begun = f->region->begun;
		shared_unlock(&f->region->head.mutex[0]);
	}
	return f->begun;
}

static enum blob_named files_is_recorded(const char *file_id, void *arg)
{
	struct arena *arena = arena_new();
	struct file_record record;
	struct error err = {0};
	enum blob_named named =
	    files_get(arg, NULL, arena, file_id, &record, &err) ? BLOB_NAMED : BLOB_UNNAMED;
	if (error_is_set(&err))
		named = BLOB_UNKNOWN;
	error_release(&err);
	arena_free(arena);
	return named;
}

struct files *files_open(
    const struct config *config, struct storage *storage, struct shared *shared, struct error *err)
{
	const char *type = config->env.media_storage_type;
	bool in_cloud = strcmp(type, BLOBS_CLOUD) == 0;
	char *path = blobs_memory_path(config->state_dir);
	struct error ignored = {0};
	struct files *f = xcalloc(1, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	f->region = shared_region(shared, SHARED_FILES);
	f->records = storage->engine->file_records->open(storage);
	f->stores[STORE_MEMORY] = blobs_memory(path, &f->region->memory_used, MEMORY_MAX);
	f->stores[STORE_LOCAL] = blobs_local(config->env.media_storage_path);
	free(path);
	/* a bucket that is still configured is read from even where new bytes go elsewhere */
	if ((in_cloud || config->env.media_cloud_bucket) &&
	    s3_check(&config->env, in_cloud ? err : &ignored))
		f->stores[STORE_CLOUD] = blobs_cloud(config);
	error_release(&ignored);
	if (storage->engine->bytes)
		f->stores[STORE_DATABASE] =
		    blobs_database(config->state_dir, storage->engine->bytes, storage);
	for (enum store i = 0; i < STORES; i++)
		if (f->stores[i] && strcmp(f->stores[i]->ops->name, type) == 0)
			f->current = f->stores[i];
	if (!f->current && !error_is_set(err))
		files_type_check(config, err);
	if (!f->current || (!files_begin(f, NULL, err) && err->kind != ERR_TRANSIENT_STORAGE)) {
		files_close(f);
		return NULL;
	}
	if (error_is_set(err))
		log_warning("%s; files wait until there is room", error_why(err));
	error_release(err);
	for (enum store i = 0; i < STORES; i++)
		if (f->stores[i])
			f->stores[i]->ops->sweep(f->stores[i], files_is_recorded, f);
	return f;
}

bool files_type_check(const struct config *config, struct error *err)
{
	const struct storage_engine *engine = storage_engine_of(config, err);
	if (!engine || engine->bytes || strcmp(config->env.media_storage_type, BLOBS_DATABASE) != 0)
		return engine != NULL;
	return error_set(err, ERR_STORAGE,
	    "MEDIA_STORAGE_TYPE: database is for PostgreSQL (DATABASE_URL), and the database is %s",
	    engine->name);
}

bool files_check(struct storage *storage, struct error *err)
{
	struct file_records *records = storage->engine->file_records->open(storage);
	bool good = records->ops->prepare(records, NULL, false, err);
	records->ops->close(records);
	return good;
}

void files_close(struct files *f)
{
	if (!f)
		return;
	f->records->ops->close(f->records);
	for (enum store i = 0; i < STORES; i++)
		if (f->stores[i])
			f->stores[i]->ops->close(f->stores[i]);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

struct blobs *files_store(struct files *f, const struct storage_context *ctx, struct error *err)
{
	pthread_mutex_lock(&f->lock);
	bool begun = files_begin(f, ctx, err);
	pthread_mutex_unlock(&f->lock);
	return begun ? f->current : NULL;
}

struct blobs *files_store_of(struct files *f, const struct file_record *record, struct error *err)
{
	for (enum store i = 0; i < STORES; i++)
		if (f->stores[i] && strcmp(record->backend, f->stores[i]->ops->name) == 0)
			return f->stores[i];
	error_set(err, ERR_STORAGE, NULL);
	error_cause(err, "file %s is in the store %s, which is not configured", record->file_id,
	    record->backend);
	return NULL;
}

bool files_here(struct files *f, const struct file_record *record)
{
	struct error ignored = {0};
	struct blobs *blobs = files_store_of(f, record, &ignored);
	error_release(&ignored);
	return !blobs || !blobs->ops->here || blobs->ops->here(blobs, record->key);
}

/* ---- records ---- */

bool files_get(struct files *f, const struct storage_context *ctx, struct arena *arena,
    const char *file_id, struct file_record *record, struct error *err)
{
	return f->records->ops->get(f->records, ctx, arena, file_id, record, err);
}

char *files_text(
    struct files *f, const struct storage_context *ctx, const char *file_id, struct error *err)
{
	return f->records->ops->text(f->records, ctx, file_id, err);
}

char *files_same_text(
    struct files *f, const struct storage_context *ctx, const char *sha256, const char *mime_type)
{
	struct error err = {0};
	char *text = f->records->ops->same_text(f->records, ctx, sha256, mime_type, &err);
	if (error_is_set(&err))
		log_warning("records of files: %s", err.cause);
	error_release(&err);
	return text;
}

bool files_add(struct files *f, const struct storage_context *ctx, const struct file_record *record,
    struct error *err)
{
	return f->records->ops->add(f->records, ctx, record, err);
}

void files_touch(
    struct files *f, const struct storage_context *ctx, const struct file_record *record)
{
	struct error err = {0};
	int64_t now = clock_now();
	if (now - record->touched_at < TOUCH_US)
		return;
	if (!f->records->ops->touch(f->records, ctx, record->file_id, now, &err))
		log_warning("records of files: %s", err.cause);
	error_release(&err);
}

bool files_untouched(struct files *f, const struct storage_context *ctx, struct arena *a,
    struct untouched *old, struct error *err)
{
	return f->records->ops->untouched(f->records, ctx, a, old, err);
}

bool files_remove(struct files *f, const struct storage_context *ctx,
    const struct file_record *record, struct error *err)
{
	struct blobs *blobs = files_store_of(f, record, err);
	return blobs && blobs->ops->remove(blobs, record->key, err) &&
	    f->records->ops->remove(f->records, ctx, record->file_id, err);
}

/* ---- bytes ---- */

char *files_read(struct files *f, const struct file_record *record, int64_t max, struct error *err)
{
	struct blobs *blobs = files_store_of(f, record, err);
	struct blob *blob;
	int64_t have = 0;
	ssize_t n;
	char *data;
	if (!blobs)
		return NULL;
	if (record->size > max) {
		error_set(err, ERR_FILE_TOO_LARGE, "File %s has more than %lld bytes",
		    record->file_id, (long long)max);
		return NULL;
	}
	blob = blobs->ops->open(blobs, record->key, err);
	if (!blob)
		return NULL;
	data = xmalloc((size_t)record->size + 1);
	data[record->size] = '\0';
	while (have < record->size &&
	    (n = blobs->ops->read(blob, data + have, (size_t)(record->size - have), have, err)) > 0)
		have += n;
	if (have != record->size) {
		error_set(err, ERR_STORAGE, NULL);
		error_cause(err, "a file has %lld bytes instead of %lld", (long long)have,
		    (long long)record->size);
		free(data);
		data = NULL;
	}
	blobs->ops->shut(blob);
	return data;
}
