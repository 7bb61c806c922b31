/* SPDX-License-Identifier: ISC */
/* The PostgreSQL engine: opening, closing, and the table of its operations. */
#include "base/memory.h"
#include "config/config.h"
#include "storage/postgresql/postgresql_db.h"
#include "storage/postgresql/postgresql_schema.h"
#include "storage/sql/engine.h"
#include "storage/sql/instances.h"

#include <stdatomic.h>

/* How long a statement of a migration may take at the start of a process, which has a minute
 * (cli/serve/probe.c), waiting for another one's migration included. */
#define FIRST_MIGRATION_MS 20000

static void postgresql_close_engine(struct storage *st)
{
	struct postgresql_server *server = engine_of(st)->source.server;
	engine_release(engine_of(st));
	postgresql_server_free(server);
}

static struct storage *postgresql_open_engine(
    const struct config *config, struct shared *shared, struct error *err)
{
	struct postgresql_server *server = postgresql_server_new(config->database, err);
	static _Atomic bool tried;
	struct engine *e;
	int64_t within_ms;
	if (!server)
		return NULL;
	e = xcalloc(1, sizeof(*e));
	e->storage.engine = &postgresql_engine;
	e->state_dir = xstrdup(config->state_dir);
	e->mode = DB_DURABLE;
	e->source = (struct db_source){.driver = &postgresql_driver, .server = server};
	e->shared = shared;
	/* a longer migration is done when the process tries again; it answers with 503 meanwhile */
	within_ms = atomic_exchange(&tried, true) ? 0 : FIRST_MIGRATION_MS;
	if (postgresql_migrate(server, within_ms, err) && engine_start(e, err))
		return &e->storage;
	postgresql_close_engine(&e->storage);
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
    .can = {.instances = true},
    .backup_tools = "pg_dump and pg_restore",
    .open = postgresql_open_engine,
    .close = postgresql_close_engine,
    .examine = postgresql_examine,
    .instances = instances_each,
    .copy = &postgresql_copy,
    .threads = &sql_threads,
    .memories = &sql_memories,
    .file_records = &sql_file_records,
    .bytes = &sql_file_bytes,
    .trace_records = &sql_trace_records,
    .runs = &sql_runs,
    .history = &sql_history,
};
