/* SPDX-License-Identifier: ISC */
/* The SQLite engine: opening, closing, and the table of its operations. */
#include "base/directory.h"
#include "base/memory.h"
#include "config/config.h"
#include "storage/sqlite/engine.h"
#include "storage/sqlite/migrate.h"
#include "storage/sqlite/reserve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void engine_close(struct storage *st)
{
	struct engine *e = engine_of(st);

	sweeper_free(e->sweeper);
	deferrals_free(e->deferrals);
	wal_keeper_free(e->wal_keeper);
	pool_free(e->pool);
	writer_free(e->writer);
	leases_free(e->leases);
	if (e->shared)
		shared_close(e->shared);
	free(e->path);
	free(e->reserve);
	free(e);
}

static struct lease *engine_lease_acquire(
    struct storage *st, const char *thread_id, int64_t wait_ms, struct error *err)
{
	return lease_acquire(engine_of(st)->leases, thread_id, wait_ms, err);
}

static void engine_lease_room(struct storage *st, unsigned callers)
{
	leases_room(engine_of(st)->leases, callers);
}

static bool engine_lease_running(struct storage *st, const char *thread_id, bool *stop_requested)
{
	return lease_running(engine_of(st)->leases, thread_id, stop_requested);
}

static bool engine_lease_stop(struct storage *st, const char *thread_id)
{
	return lease_stop(engine_of(st)->leases, thread_id);
}

/* The layout of the region SHARED_IDS. */
struct ids {
	struct shared_head head;
	_Atomic uint64_t snowflake;
};

_Static_assert(sizeof(struct ids) <= SHARED_IDS_SIZE, "SHARED_IDS is too small");
_Static_assert(sizeof(struct turnstile) <= SHARED_WRITER_SIZE, "SHARED_WRITER is too small");

static _Atomic uint64_t *engine_snowflake_word(struct storage *st)
{
	struct ids *ids = shared_region(engine_of(st)->shared, SHARED_IDS);

	return &ids->snowflake;
}

static bool engine_make_room(struct storage *st)
{
	return reserve_give_up(engine_of(st)->reserve);
}

static struct shared *engine_shared(struct storage *st)
{
	return engine_of(st)->shared;
}

static const struct storage_ops sqlite_ops = {
    .type = "sqlite",
    .close = engine_close,
    .thread_get = engine_thread_get,
    .thread_owner = engine_thread_owner,
    .thread_waiting = engine_thread_waiting,
    .thread_list = engine_thread_list,
    .threads_untouched = engine_threads_untouched,
    .message_list = engine_message_list,
    .message_part = engine_message_part,
    .message_get = engine_message_get,
    .message_known = engine_message_known,
    .context = engine_context,
    .context_span = engine_context_span,
    .context_part = engine_context_part,
    .context_count = engine_context_count,
    .thread_write = engine_thread_write,
    .thread_defer = engine_thread_defer,
    .thread_flush = engine_thread_flush,
    .thread_write_after = engine_thread_write_after,
    .thread_delete = engine_thread_delete,
    .make_room = engine_make_room,
    .lease_acquire = engine_lease_acquire,
    .lease_room = engine_lease_room,
    .lease_run = lease_run,
    .lease_stop_requested = lease_stop_requested,
    .lease_release = lease_release,
    .lease_running = engine_lease_running,
    .lease_stop = engine_lease_stop,
    .snowflake_word = engine_snowflake_word,
    .shared = engine_shared,
    .backup = engine_backup,
};

/* Also the directories above it, so that a fresh machine needs no preparation. */
static bool sqlite_make_directory(const char *path, struct error *err)
{
	return directory_make(path) || errno == EEXIST ||
	    error_set(err, ERR_STORAGE, "the state directory %s cannot be made: %s", path,
		strerror(errno));
}

static bool open_databases(struct engine *e, bool full, struct error *err)
{
	struct turnstile *t = turnstile_of(e->shared);
	struct db *db = database_open(e->path, "threads", engine_write_mode(full), t, err);

	if (!db)
		return false;
	e->writer = writer_new(db, t);
	e->pool = pool_new(e->path);
	e->deferrals = deferrals_new(e->writer, e->storage.thread_max_bytes, err);
	if (!e->deferrals || !(db = db_open(e->path, DB_WRITE, err)))
		return false;
	e->wal_keeper = wal_keeper_new(db, e->shared, t, err);
	if (!e->wal_keeper)
		return false;
	e->sweeper = sweeper_new(e->writer, e->pool, e->reserve, err);
	return e->sweeper != NULL;
}

struct storage *storage_open(const struct config *config, struct error *err)
{
	struct engine *e;

	if (!sqlite_make_directory(config->state_dir, err) ||
	    !restore_check(config->state_dir, err))
		return NULL;
	e = xcalloc(1, sizeof(*e));
	e->storage.ops = &sqlite_ops;
	e->storage.thread_max_bytes = config->thread_max_bytes;
	e->path = xasprintf("%s/threads.db", config->state_dir);
	e->reserve = xasprintf("%s/reserve", config->state_dir);
	e->shared = shared_open(config->state_dir, err);
	if (e->shared) {
		e->leases = leases_new(e->shared);
		if (open_databases(e, config->env.synchronous_full, err))
			return &e->storage;
	}
	engine_close(&e->storage);
	return NULL;
}
