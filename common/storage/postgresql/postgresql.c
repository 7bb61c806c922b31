/* SPDX-License-Identifier: ISC */
/* The PostgreSQL engine: opening, closing, and the table of its operations. */
#include "base/memory.h"
#include "config/config.h"
#include "storage/postgresql/postgresql_db.h"
#include "storage/postgresql/postgresql_instance.h"
#include "storage/postgresql/postgresql_schema.h"
#include "storage/sql/engine.h"

#include <stdlib.h>

struct postgresql_engine_state {
	struct engine engine; /* first, so that one pointer is all */
	struct postgresql_instance *instance;
};

static void postgresql_close_engine(struct storage *st)
{
	struct postgresql_engine_state *e = (struct postgresql_engine_state *)st;
	struct postgresql_server *server = e->engine.source.server;

	postgresql_instance_end(e->instance);
	engine_release(&e->engine);
	postgresql_server_free(server);
}

static bool postgresql_engine_start(struct postgresql_engine_state *e, struct error *err)
{
	struct postgresql_server *server = e->engine.source.server;
	int64_t number = postgresql_instance_number(e->engine.state_dir, err);

	if (!number || !postgresql_migrate(server, err))
		return false;
	e->instance = postgresql_instance_begin(server, e->engine.state_dir, number, err);
	if (!e->instance)
		return false;
	postgresql_server_belongs(server, number);
	return engine_start(&e->engine, err);
}

static struct storage *postgresql_open_engine(
    const struct config *config, struct shared *shared, struct error *err)
{
	struct postgresql_server *server = postgresql_server_new(config->database, err);
	struct postgresql_engine_state *e;

	if (!server)
		return NULL;
	e = xcalloc(1, sizeof(*e));
	e->engine.state_dir = xstrdup(config->state_dir);
	e->engine.mode = DB_DURABLE;
	e->engine.source = (struct db_source){.driver = &postgresql_driver, .server = server};
	e->engine.shared = shared;
	if (postgresql_engine_start(e, err))
		return &e->engine.storage;
	postgresql_close_engine(&e->engine.storage);
	return NULL;
}

static char *postgresql_examine(const struct config *config, struct error *err)
{
	struct postgresql_server *server = postgresql_server_new(config->database, err);
	char *text = server ? postgresql_look(server, err) : NULL;

	postgresql_server_free(server);
	return text;
}

const struct storage_engine postgresql_engine = {
    .name = "postgresql",
    .backup_tools = "pg_dump and pg_restore",
    .open = postgresql_open_engine,
    .close = postgresql_close_engine,
    .examine = postgresql_examine,
    .threads = &sql_threads,
    .memories = &sql_memories,
    .file_records = &sql_file_records,
    .trace_records = &sql_trace_records,
    .runs = &sql_runs,
    .history = &sql_history,
};
