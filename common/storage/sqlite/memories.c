/* SPDX-License-Identifier: ISC */
/* Memories in SQLite: opening, closing, and the table of its operations. */
#include "base/json.h"
#include "base/memory.h"
#include "storage/memory_filter.h"
#include "storage/sqlite/engine.h"
#include "storage/sqlite/memories_read.h"
#include "storage/sqlite/memories_similar.h"
#include "storage/sqlite/memories_write.h"
#include "storage/sqlite/migrate.h"

#include <pthread.h>
#include <stdlib.h>

/* The layout of the region SHARED_STORE. */
_Static_assert(sizeof(struct turnstile) <= SHARED_STORE_SIZE, "SHARED_STORE is too small");

static void memory_set_close(struct memory_set *set)
{
	struct memories_engine *e = memories_engine_of(set);

	wal_keeper_free(e->wal_keeper);
	pool_free(e->pool);
	writer_free(e->writer);
	vector_file_close(e->vectors);
	pthread_mutex_destroy(&e->opening);
	free(e->path);
	free(e->state_dir);
	free(e);
}

static bool find_model(struct memories_engine *e, const char *name, bool *found, struct error *err)
{
	struct query q;

	pool_query(e->pool, &q, SQL_MODEL_FIND, err);
	query_text(&q, ":name", name);
	query_int(&q, ":dimension", (int64_t)e->dimension);
	*found = query_row(&q);
	if (*found)
		e->model = query_column_int(&q, MODEL_FIND_MODEL);
	return pool_query_end(e->pool, &q);
}

struct new_model {
	struct unit unit;
	const char *name;
	int64_t dimension;
};

static bool insert_model(struct db *db, struct unit *unit, struct error *err)
{
	struct new_model *m = (struct new_model *)unit;
	struct query q;

	query_start(&q, db, SQL_MODEL_INSERT, err);
	query_text(&q, ":name", m->name);
	query_int(&q, ":dimension", m->dimension);
	return query_run(&q);
}

static bool settle_model(struct memories_engine *e, const char *name, struct error *err)
{
	struct new_model m = {{.run = insert_model}, name, (int64_t)e->dimension};
	bool found;

	if (!find_model(e, name, &found, err))
		return false;
	return found || (writer_run(e->writer, &m.unit, err) && find_model(e, name, &found, err));
}

/* ---- conditions in SQL ---- */

static cJSON *memory_fits_parse(sqlite3_value *value)
{
	const char *text = (const char *)sqlite3_value_text(value);
	return text ? json_parse(text, (size_t)sqlite3_value_bytes(value), JSON_TRUSTED_DEPTH, NULL)
		    : NULL;
}

static void memory_fits_delete(void *tree)
{
	cJSON_Delete(tree);
}

/* The filters are the same in every row, so they are parsed once for a statement. */
static void memory_fits(sqlite3_context *context, int count, sqlite3_value **values)
{
	cJSON *filters = sqlite3_get_auxdata(context, 1), *made = NULL;
	(void)count;
	if (!filters)
		filters = made = memory_fits_parse(values[1]);
	cJSON *metadata = memory_fits_parse(values[0]);
	sqlite3_result_int(context, metadata && filters && memory_filter_fits(metadata, filters));
	cJSON_Delete(metadata);
	if (made)
		sqlite3_set_auxdata(context, 1, made, memory_fits_delete);
}

static int memory_fits_add(sqlite3 *handle, const char **message, const void *api)
{
	(void)message;
	(void)api;
	return sqlite3_create_function(handle, "memory_fits", 2,
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, memory_fits, NULL, NULL);
}

static void memory_fits_add_everywhere(void)
{
	sqlite3_auto_extension((void (*)(void))memory_fits_add);
}

/* Makes memory_fits(metadata, filters), on JSON texts, known to every connection opened from now
 * on.
 */
static void memory_fits_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, memory_fits_add_everywhere);
}

/* ---- opening ---- */

static bool memory_set_open_database(
    struct memories_engine *e, const struct engine *engine, struct error *err)
{
	struct turnstile *t = shared_region(engine->shared, SHARED_STORE);
	struct db *db = database_open(e->path, "store", engine->mode, t, err);

	if (!db)
		return false;
	e->writer = writer_new(db, t);
	e->pool = pool_new(e->path);
	if (!(db = db_open(e->path, DB_WRITE, err)))
		return false;
	e->wal_keeper = wal_keeper_new(db, engine->shared, t, err);
	return e->wal_keeper != NULL;
}

static struct memory_set *memory_set_open(struct storage *st, const struct storage_context *ctx,
    const char *model, size_t dimension, struct error *err)
{
	const struct engine *engine = engine_of(st);
	struct memories_engine *e = xcalloc(1, sizeof(*e));

	(void)ctx;
	memory_fits_register();
	pthread_mutex_init(&e->opening, NULL);
	e->set.ops = &sqlite_memories;
	e->path = xasprintf("%s/store.db", engine->state_dir);
	e->state_dir = xstrdup(engine->state_dir);
	e->dimension = dimension;
	if (memory_set_open_database(e, engine, err) && settle_model(e, model, err))
		return &e->set;
	memory_set_close(&e->set);
	return NULL;
}

const struct memory_ops sqlite_memories = {
    .open = memory_set_open,
    .close = memory_set_close,
    .put = memories_put,
    .get = memories_get,
    .load = memories_load,
    .update = memories_update,
    .remove = memories_remove,
    .forget = memories_forget,
    .recent = memories_recent,
    .similar = memories_similar,
    .matching = memories_matching,
    .linked = memories_linked,
    .known_vector = memories_known_vector,
    .unembedded = memories_unembedded,
    .adopt = memories_adopt,
    .models = memories_models,
    .has_foreign = memories_has_foreign,
};
