/* SPDX-License-Identifier: ISC */
/* The SQLite engine: opening, closing, and the table of its operations. */
#include "base/memory.h"
#include "config/config.h"
#include "storage/queue.h"
#include "storage/sqlite/engine.h"
#include "storage/sqlite/migrate.h"
#include "storage/sqlite/reserve.h"

#include <stdlib.h>
#include <string.h>

static void engine_close(struct storage *st)
{
	struct engine *e = engine_of(st);

	sweeper_free(e->sweeper);
	wal_keeper_free(e->wal_keeper);
	pool_free(e->pool);
	writer_free(e->writer);
	leases_free(e->leases);
	claimer_free(e->claimer);
	free(e->state_dir);
	free(e->path);
	free(e->reserve);
	free(e);
}

/* Leases: the queue in shared memory is all there is, so nothing but its room can fail, and the
 * ticket of who holds one is its generation. */

static struct lease *engine_lease_acquire(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, enum lease_claim claim, int64_t wait_ms, struct error *err)
{
	(void)ctx;
	return lease_acquire(engine_of(st)->leases, thread_id, claim, wait_ms, err);
}

static void engine_lease_room(struct storage *st, unsigned callers)
{
	leases_room(engine_of(st)->leases, callers);
}

static bool engine_lease_run(struct storage *st, const struct storage_context *ctx,
    struct lease *lease, const char *run_id, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	lease_run(lease, run_id);
	return true;
}

static bool engine_lease_ordered(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, enum lease_order *order, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	*order = lease_ordered(lease);
	return true;
}

static bool engine_lease_release(
    struct storage *st, const struct storage_context *ctx, struct lease *lease, struct error *err)
{
	(void)st, (void)ctx, (void)err;
	lease_release(lease);
	return true;
}

static bool engine_lease_running(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, bool *running, bool *stop_requested, struct error *err)
{
	(void)ctx, (void)err;
	*running = lease_running(engine_of(st)->leases, thread_id, stop_requested);
	return true;
}

static bool engine_lease_stop(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, const struct lease_aim *aim, bool *running, struct error *err)
{
	(void)ctx, (void)err;
	*running = lease_stop(engine_of(st)->leases, thread_id, aim);
	return true;
}

_Static_assert(sizeof(struct turnstile) <= SHARED_WRITER_SIZE, "SHARED_WRITER is too small");

static bool engine_make_room(struct storage *st)
{
	return reserve_give_up(engine_of(st)->reserve);
}

static const struct thread_ops sqlite_threads = {
    .get = engine_thread_get,
    .owner = engine_thread_owner,
    .waiting = engine_thread_waiting,
    .list = engine_thread_list,
    .untouched = engine_threads_untouched,
    .message_list = engine_message_list,
    .message_part = engine_message_part,
    .message_get = engine_message_get,
    .messages_known = engine_messages_known,
    .context = engine_context,
    .view = engine_view,
    .context_part = engine_context_part,
    .context_count = engine_context_count,
    .write = engine_thread_write,
    .remove = engine_thread_delete,
    .lease_acquire = engine_lease_acquire,
    .lease_room = engine_lease_room,
    .lease_run = engine_lease_run,
    .lease_ordered = engine_lease_ordered,
    .lease_release = engine_lease_release,
    .lease_running = engine_lease_running,
    .lease_stop = engine_lease_stop,
};

/* What an earlier life of the instance has left in the queue; a database that cannot say it fails
 * whoever asks next. */
static void engine_count_queue(struct engine *e)
{
	struct error ignored = {0};
	struct query q;

	if (!queue_waiting_unknown(e->shared))
		return;
	pool_query(e->pool, &q, SQL_JOBS_COUNT, &ignored);
	if (query_row(&q))
		queue_waiting_add(e->shared, query_column_int(&q, JOBS_COUNT_COUNT));
	pool_query_end(e->pool, &q);
	error_release(&ignored);
}

static bool open_databases(struct engine *e, struct error *err)
{
	struct turnstile *t = turnstile_of(e->shared);
	struct db *db = database_open(e->path, "threads", e->mode, t, err);

	if (!db)
		return false;
	e->writer = writer_new(db, t);
	e->pool = pool_new(e->path);
	engine_count_queue(e);
	if (!(db = db_open(e->path, DB_WRITE, err)))
		return false;
	e->wal_keeper = wal_keeper_new(db, e->shared, t, err);
	if (!e->wal_keeper)
		return false;
	e->sweeper = sweeper_new(e->writer, e->pool, e->reserve, &e->storage.history_keep, err);
	return e->sweeper != NULL;
}

static struct storage *engine_open(
    const struct config *config, struct shared *shared, struct error *err)
{
	if (config->database && strcmp(config->database, "sqlite:") != 0) {
		error_set(err, ERR_STORAGE,
		    "%s: SQLite lies in the state directory: expected sqlite: alone",
		    config->env.database_url ? "DATABASE_URL" : "database");
		return NULL;
	}
	if (!restore_check(config->state_dir, err))
		return NULL;
	struct engine *e = xcalloc(1, sizeof(*e));
	e->state_dir = xstrdup(config->state_dir);
	e->mode = engine_write_mode(config->env.synchronous_full);
	e->path = xasprintf("%s/threads.db", config->state_dir);
	e->reserve = xasprintf("%s/reserve", config->state_dir);
	e->shared = shared;
	e->leases = leases_new(shared);
	e->claimer = claimer_new(config->state_dir);
	if (open_databases(e, err))
		return &e->storage;
	engine_close(&e->storage);
	return NULL;
}

const struct storage_engine sqlite_engine = {
    .name = "sqlite",
    .can = {.backup = true, .reserve = true},
    .open = engine_open,
    .close = engine_close,
    .backup = engine_backup,
    .restore = engine_restore,
    .make_room = engine_make_room,
    .threads = &sqlite_threads,
    .memories = &sqlite_memories,
    .file_records = &sqlite_file_records,
    .trace_records = &sqlite_trace_records,
    .runs = &sqlite_runs,
    .history = &sqlite_history,
};
