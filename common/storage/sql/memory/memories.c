/* SPDX-License-Identifier: ISC */
/* Memories: opening, closing, and the table of its operations. */
#include "base/memory.h"
#include "storage/sql/engine.h"
#include "storage/sql/memory/memories_engine.h"

#include <pthread.h>
#include <stdlib.h>

/* The layout of the region SHARED_STORE. */
_Static_assert(sizeof(struct turnstile) <= SHARED_STORE_SIZE, "SHARED_STORE is too small");

static void memory_set_close(struct memory_set *set)
{
	struct memories_engine *e = memories_engine_of(set);
	if (e->keeper)
		e->source.driver->keeper_free(e->keeper);
	pool_free(e->pool);
	writer_free(e->writer);
	vector_file_close(e->vectors);
	pthread_mutex_destroy(&e->opening);
	free(e->source.path);
	free(e->state_dir);
	free(e);
}

static bool memory_set_find_model(
    struct memories_engine *e, const char *name, bool *found, struct error *err)
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

static bool memory_set_insert_model(struct db *db, struct unit *unit, struct error *err)
{
	struct new_model *m = (struct new_model *)unit;
	struct query q;
	query_start(&q, db, SQL_MODEL_INSERT, err);
	query_text(&q, ":name", m->name);
	query_int(&q, ":dimension", m->dimension);
	return query_run(&q);
}

/* Finds the number of the model, which is new in a database that has not seen it. */
static bool memory_set_settle_model(struct memories_engine *e, const char *name, struct error *err)
{
	struct new_model m = {{.run = memory_set_insert_model}, name, (int64_t)e->dimension};
	bool found;
	if (!memory_set_find_model(e, name, &found, err))
		return false;
	return found ||
	    (writer_run(e->writer, &m.unit, err) && memory_set_find_model(e, name, &found, err));
}

/* ---- opening ---- */

static struct memory_set *memory_set_open(struct storage *st, const struct storage_context *ctx,
    const char *model, size_t dimension, struct error *err)
{
	const struct engine *engine = engine_of(st);
	struct turnstile *t = engine_turnstile(engine, SHARED_STORE);
	struct memories_engine *e = xcalloc(1, sizeof(*e));
	const struct db_driver *driver;
	struct db *db;
	(void)ctx;
	pthread_mutex_init(&e->opening, NULL);
	e->set.ops = &sql_memories;
	engine_source(engine, "store", &e->source);
	e->state_dir = xstrdup(engine->state_dir);
	e->dimension = dimension;
	db = database_open(&e->source, "store", engine->mode, t, err);
	if (db) {
		e->writer = writer_new(db, t);
		e->pool = pool_new(&e->source);
	}
	driver = e->source.driver;
	if (db &&
	    (!driver->keeper_new ||
		driver->keeper_new(&e->source, engine->shared, t, &e->keeper, err)) &&
	    memory_set_settle_model(e, model, err))
		return &e->set;
	memory_set_close(&e->set);
	return NULL;
}

const struct memory_ops sql_memories = {
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
    .census = memories_census,
    .has_foreign = memories_has_foreign,
};
