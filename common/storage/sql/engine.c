/* SPDX-License-Identifier: ISC */
/* The common part of all engines that keep rows in a database: opening and closing, leases, and the
 * table of operations on threads. */
#include "storage/sql/engine.h"

#include "storage/lease.h"
#include "storage/queue.h"
#include "storage/runs.h"
#include "storage/sql/thread/claimer.h"
#include "storage/sql/thread/claims.h"

#include <stdlib.h>

/* Leases.  With one instance there is only the queue in shared memory, so the only failure is that
 * it is full; the generation of a lease is its holder's ticket there. */

static struct lease *engine_lease_acquire(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, enum lease_claim claim, int64_t wait_ms, struct error *err)
{
	(void)ctx;
	return claims_acquire(st, thread_id, claim, wait_ms, err);
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
	(void)ctx;
	return claims_release(st, lease, err);
}

static bool engine_lease_thread(struct storage *st, const struct storage_context *ctx,
    struct arena *a, const struct lease *lease, const struct run_job *job, struct thread *thread,
    struct error *err)
{
	if (job && job->thread && lease_is_next(lease, job->ended)) {
		*thread = *job->thread;
		return true;
	}
	return claims_thread(lease, a, thread) ||
	    engine_thread_get(st, ctx, a, lease->thread_id, thread, err);
}

const struct thread_ops sql_threads = {
    .get = engine_thread_get,
    .owner = engine_thread_owner,
    .waiting = engine_thread_waiting,
    .list = engine_thread_list,
    .untouched = engine_threads_untouched,
    .message_list = engine_message_list,
    .message_part = engine_message_part,
    .messages_get = engine_messages_get,
    .messages_known = engine_messages_known,
    .context = engine_context,
    .view = engine_view,
    .context_part = engine_context_part,
    .context_count = engine_context_count,
    .write = engine_thread_write,
    .remove = engine_thread_delete,
    .lease_acquire = engine_lease_acquire,
    .lease_thread = engine_lease_thread,
    .lease_room = engine_lease_room,
    .lease_run = engine_lease_run,
    .lease_ordered = engine_lease_ordered,
    .lease_release = engine_lease_release,
    .lease_running = claims_running,
    .lease_held = claims_held,
    .lease_stop = claims_stop,
};

bool engine_start(struct engine *e, struct error *err)
{
	const struct db_driver *driver = e->source.driver;
	struct turnstile *t = engine_turnstile(e, SHARED_WRITER);
	struct error ignored = {0};
	struct query q;
	struct db *db;
	e->leases = leases_new(e->shared);
	e->claimer = claimer_new(e->state_dir);
	db = database_open(&e->source, "threads", e->mode, t, err);
	if (!db)
		return false;
	e->writer = writer_new(db, t);
	e->pool = pool_new(&e->source);
	if (queue_waiting_unknown(e->shared)) {
		/* counts the jobs that an earlier life of the instance has left in the queue; a
		 * failure is ignored, as the next user of the database will see it */
		pool_query(e->pool, &q, SQL_JOBS_COUNT, &ignored);
		if (query_row(&q))
			queue_waiting_add(e->shared, query_column_int(&q, JOBS_COUNT_COUNT));
		pool_query_end(e->pool, &q);
		error_release(&ignored);
	}
	if (e->storage.engine->can.instances && !(e->instances = instances_begin(e, err)))
		return false;
	if (driver->keeper_new && !driver->keeper_new(&e->source, e->shared, t, &e->keeper, err))
		return false;
	e->sweeper = sweeper_new(e->writer, e->pool, e->reserve, err);
	return e->sweeper != NULL;
}

void engine_release(struct engine *e)
{
	sweeper_free(e->sweeper);
	instances_end(e->instances);
	if (e->keeper)
		e->source.driver->keeper_free(e->keeper);
	pool_free(e->pool);
	writer_free(e->writer);
	leases_free(e->leases);
	claimer_free(e->claimer);
	free(e->state_dir);
	free(e->source.path);
	free(e->reserve);
	free(e);
}
