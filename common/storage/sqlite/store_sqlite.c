/* SPDX-License-Identifier: ISC */
/* The memory store's SQLite engine: opening, closing, and the table of its operations. */
#include "base/memory.h"
#include "storage/memory_filter.h"
#include "storage/sqlite/engine.h"
#include "storage/sqlite/migrate.h"
#include "storage/sqlite/store_engine.h"

#include <stdlib.h>

/* The layout of the region SHARED_STORE. */
_Static_assert(sizeof(struct turnstile) <= SHARED_STORE_SIZE, "SHARED_STORE is too small");

static void store_close(struct store *st)
{
	struct store_engine *e = store_engine_of(st);

	wal_keeper_free(e->wal_keeper);
	pool_free(e->pool);
	writer_free(e->writer);
	vector_file_close(e->vectors);
	pthread_mutex_destroy(&e->opening);
	free(e->path);
	free(e->state_dir);
	free(e);
}

static const struct store_ops sqlite_ops = {
    .close = store_close,
    .put = store_put,
    .get = store_get,
    .load = store_load,
    .update = store_update,
    .remove = store_remove,
    .forget = store_forget,
    .recent = store_recent,
    .similar = store_similar,
    .matching = store_matching,
    .linked = store_linked,
    .known_vector = store_known_vector,
    .unembedded = store_unembedded,
    .adopt = store_adopt,
    .models = store_models,
    .has_foreign = store_has_foreign,
};

static bool find_model(struct store_engine *e, const char *name, bool *found, struct error *err)
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

static bool settle_model(struct store_engine *e, const char *name, struct error *err)
{
	struct new_model m = {{.run = insert_model}, name, (int64_t)e->dimension};
	bool found;

	if (!find_model(e, name, &found, err))
		return false;
	return found || (writer_run(e->writer, &m.unit, err) && find_model(e, name, &found, err));
}

static bool store_sqlite_open_database(
    struct store_engine *e, const struct store_setup *setup, struct error *err)
{
	struct turnstile *t = shared_region(setup->shared, SHARED_STORE);
	struct db *db =
	    database_open(e->path, "store", engine_write_mode(setup->synchronous_full), t, err);

	if (!db)
		return false;
	e->writer = writer_new(db, t);
	e->pool = pool_new(e->path);
	if (!(db = db_open(e->path, DB_WRITE, err)))
		return false;
	e->wal_keeper = wal_keeper_new(db, setup->shared, t, err);
	return e->wal_keeper != NULL;
}

struct store *store_open(const struct store_setup *setup, struct error *err)
{
	struct store_engine *e = xcalloc(1, sizeof(*e));

	memory_filter_register();
	pthread_mutex_init(&e->opening, NULL);
	e->store.ops = &sqlite_ops;
	e->path = xasprintf("%s/store.db", setup->state_dir);
	e->state_dir = xstrdup(setup->state_dir);
	e->dimension = setup->dimension;
	if (store_sqlite_open_database(e, setup, err) && settle_model(e, setup->model, err))
		return &e->store;
	store_close(&e->store);
	return NULL;
}
