/* SPDX-License-Identifier: ISC */
/* The SQLite engine: opening, closing, and the table of its operations. */
#include "base/memory.h"
#include "config/config.h"
#include "storage/sql/reserve.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/sqlite_db.h"

_Static_assert(sizeof(struct turnstile) <= SHARED_WRITER_SIZE, "SHARED_WRITER is too small");

static bool sqlite_make_room(struct storage *st)
{
	return reserve_give_up(engine_of(st)->reserve);
}

static void sqlite_close_engine(struct storage *st)
{
	engine_release(engine_of(st));
}

static struct storage *sqlite_open_engine(
    const struct config *config, struct shared *shared, struct error *err)
{
	if (!restore_check(config->state_dir, err))
		return NULL;
	struct engine *e = xcalloc(1, sizeof(*e));
	e->storage.engine = &sqlite_engine;
	e->state_dir = xstrdup(config->state_dir);
	e->mode = engine_write_mode(config->env.synchronous_full);
	e->source = sqlite_source(xasprintf("%s/threads.db", config->state_dir));
	e->reserve = xasprintf("%s/reserve", config->state_dir);
	e->shared = shared;
	if (engine_start(e, err))
		return &e->storage;
	engine_release(e);
	return NULL;
}

const struct storage_engine sqlite_engine = {
    .name = "sqlite",
    .can = {.backup = true, .reserve = true},
    .open = sqlite_open_engine,
    .close = sqlite_close_engine,
    .backup = engine_backup,
    .may_restore = engine_may_restore,
    .restore = engine_restore,
    .copy = &sqlite_copy,
    .make_room = sqlite_make_room,
    .threads = &sql_threads,
    .memories = &sql_memories,
    .file_records = &sql_file_records,
    .trace_records = &sql_trace_records,
    .runs = &sql_runs,
    .history = &sql_history,
};
