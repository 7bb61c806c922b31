/* SPDX-License-Identifier: ISC */
/* Claiming threads, and questions and orders about threads that other instances have. */
#include "storage/sql/thread/claims.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/lease.h"
#include "storage/sql/engine.h"
#include "storage/sql/thread/thread_row.h"

#include <stdlib.h>

/* A waiter looks again after this time, then less and less often. */
#define FIRST_LOOK_MS 2
#define LAST_LOOK_MS 20
#define WANT_MS 300 /* how often it says that it waits; that holds for a second */

struct claim {
	int64_t holder;     /* number of the process; 0: nobody else knows of the thread */
	int64_t row, fence; /* row 0: the thread did not exist yet, so its id was claimed */
	bool freed;         /* given back, and nobody else has had it since */

	/* the thread as it was when it was claimed; NULL: not known, or handed out already */
	struct thread *taken;
	struct arena *arena; /* of taken */
};

static void claim_forget_taken(struct claim *c)
{
	if (c->taken)
		arena_free(c->arena);
	c->taken = NULL;
}

static void claim_free(struct claim *c)
{
	if (c)
		claim_forget_taken(c);
	free(c);
}

/* ---- taken ---- */

enum claim_result { CLAIM_FAILED, CLAIM_TAKEN, CLAIM_BUSY };

static void claim_query(struct engine *e, struct query *q, enum sql_id id, const char *thread_id,
    int64_t process, struct error *err)
{
	pool_query(e->pool, q, id, err);
	query_text(q, ":thread_id", thread_id);
	query_int(q, ":process", process);
	query_int(q, ":instance", instances_number(e->instances));
}

/* A claim whose answer was lost may have succeeded all the same. */
static void claim_doubt(struct claim *c, int64_t process, const struct query *q)
{
	if (q->failed && q->db && q->db->unclear)
		c->holder = process;
}

/* Tries to claim an existing thread, and notes what it was then; *there says whether there is
 * one. */
static enum claim_result claim_try_thread(
    struct engine *e, const struct lease *lease, int64_t process, bool *there, struct error *err)
{
	struct claim *c = lease->claim;
	bool taken;
	struct query q;
	claim_query(e, &q, SQL_CLAIM_TAKE, lease->thread_id, process, err);
	*there = query_row(&q);
	taken = *there && query_column_int(&q, THREAD_GET_FENCE);
	if (taken) {
		claim_forget_taken(c);
		*c = (struct claim){.holder = process,
		    .row = query_column_int(&q, THREAD_GET_ROW),
		    .fence = query_column_int(&q, THREAD_GET_FENCE),
		    .arena = arena_new()};
		c->taken = arena_alloc(c->arena, sizeof(*c->taken));
		thread_row_copy(&q, c->arena, c->taken);
	}
	claim_doubt(c, process, &q);
	if (!pool_query_end(e->pool, &q))
		return CLAIM_FAILED;
	return taken ? CLAIM_TAKEN : CLAIM_BUSY;
}

/* Runs a statement about a thread id and a process. */
static bool claim_say(
    struct engine *e, enum sql_id id, const char *thread_id, int64_t process, struct error *err)
{
	struct query q;
	pool_query(e->pool, &q, id, err);
	query_text(&q, ":thread_id", thread_id);
	query_int(&q, ":process", process);
	query_row(&q);
	return pool_query_end(e->pool, &q);
}

/* Tries to claim the id of a thread that is to be made.  *made says that somebody has made it
 * meanwhile. */
static enum claim_result claim_try_name(
    struct engine *e, const struct lease *lease, int64_t process, bool *made, struct error *err)
{
	struct query q;
	bool taken;
	claim_query(e, &q, SQL_CLAIM_NAME, lease->thread_id, process, err);
	taken = query_row(&q);
	claim_doubt(lease->claim, process, &q);
	if (!pool_query_end(e->pool, &q))
		return CLAIM_FAILED;
	if (!taken)
		return CLAIM_BUSY;
	*lease->claim = (struct claim){.holder = process};
	pool_query(e->pool, &q, SQL_THREAD_OWNER, err);
	query_text(&q, ":thread_id", lease->thread_id);
	*made = query_row(&q);
	if (!pool_query_end(e->pool, &q))
		return CLAIM_FAILED;
	if (*made && !claim_say(e, SQL_CLAIM_DISOWN, lease->thread_id, process, err))
		return CLAIM_FAILED;
	return CLAIM_TAKEN;
}

static enum claim_result claim_try(struct engine *e, const struct lease *lease, struct error *err)
{
	enum claim_result result;
	bool there, made = false;
	int64_t process;
	if (!instances_process(e->instances, &process, err))
		return CLAIM_FAILED;
	do {
		result = claim_try_thread(e, lease, process, &there, err);
		if (result == CLAIM_BUSY && !there)
			result = claim_try_name(e, lease, process, &made, err);
		else
			made = false;
	} while (result == CLAIM_TAKEN && made);
	return result;
}

/* Says that this process waits for the thread, so that no other one takes it first; that has to be
 * repeated. */
static bool claim_want(struct engine *e, enum sql_id id, const char *thread_id, struct error *err)
{
	int64_t process;
	return instances_process(e->instances, &process, err) &&
	    claim_say(e, id, thread_id, process, err);
}

static bool claim_order(struct engine *e, const struct storage_context *ctx, const char *thread_id,
    const struct lease_aim *aim, bool running, bool *ordered, struct error *err)
{
	struct query q;
	engine_query(&e->storage, ctx, &q, SQL_CLAIM_ORDER, err);
	query_text(&q, ":thread_id", thread_id);
	query_int(&q, ":instance", instances_number(e->instances));
	query_int(&q, ":order", aim->order);
	query_int(&q, ":running", running);
	query_text(&q, ":only", aim->only);
	query_text(&q, ":but", aim->but);
	*ordered = query_row(&q);
	return pool_query_end(e->pool, &q);
}

/* Waits while another instance has the thread.  Whoever rejects only does so as long as no run goes
 * on there: it may have ended a moment ago. */
static bool claim_wait(struct engine *e, const struct lease *lease, enum lease_claim claim,
    int64_t until, struct error *err)
{
	const struct lease_aim aim = {
	    .order = claim == CLAIM_ROLLBACK ? ORDER_ROLLBACK : ORDER_STOP};
	enum claim_result result = CLAIM_BUSY;
	int64_t left, wanted = 0;
	bool ordered, running = false, stop;
	if ((claim == CLAIM_INTERRUPT || claim == CLAIM_ROLLBACK) &&
	    !claim_order(e, NULL, lease->thread_id, &aim, false, &ordered, err))
		return false;
	for (int64_t look = FIRST_LOOK_MS; result == CLAIM_BUSY;
	     look = look < LAST_LOOK_MS ? 2 * look : LAST_LOOK_MS) {
		left = until - clock_monotonic_ms();
		if (left <= 0)
			break;
		if (claim == CLAIM_REJECT &&
		    (!claims_running(&e->storage, NULL, lease->thread_id, &running, &stop, err) ||
			running))
			break;
		if (clock_monotonic_ms() - wanted >= WANT_MS) {
			if (!claim_want(e, SQL_CLAIM_WANT, lease->thread_id, err))
				return false;
			wanted = clock_monotonic_ms();
		}
		clock_sleep_ms(look < left ? look : left);
		result = claim_try(e, lease, err);
	}
	if (result == CLAIM_BUSY && wanted)
		claim_want(e, SQL_CLAIM_WANT_NO_MORE, lease->thread_id, err);
	return result == CLAIM_TAKEN;
}

struct lease *claims_acquire(struct storage *st, const char *thread_id, enum lease_claim claim,
    int64_t wait_ms, struct error *err)
{
	struct engine *e = engine_of(st);
	int64_t until = clock_monotonic_ms() + wait_ms;
	struct lease *lease = lease_acquire(e->leases, thread_id, claim, wait_ms, err);
	enum claim_result result = CLAIM_TAKEN;
	if (!lease || !e->instances)
		return lease;
	lease->claim = xcalloc(1, sizeof(*lease->claim));
	if (claim != CLAIM_UNHEARD)
		result = claim_try(e, lease, err);
	if (result == CLAIM_TAKEN ||
	    (result == CLAIM_BUSY && claim_wait(e, lease, claim, until, err)))
		return lease;
	int64_t holder = lease->claim->holder;
	claim_free(lease->claim);
	lease_release(lease);
	if (error_is_set(err) && holder) /* it may have been claimed all the same */
		instances_release_later(e->instances, holder, 0, 0, thread_id);
	return NULL;
}

static void claim_free_arena(void *arena)
{
	arena_free(arena);
}

bool claims_thread(const struct lease *lease, struct arena *a, struct thread *thread)
{
	struct claim *c = lease->claim;
	if (!c || !c->taken)
		return false;
	*thread = *c->taken;
	arena_defer(a, claim_free_arena, c->arena);
	c->taken = NULL;
	return true;
}

/* ---- given back ---- */

static void claim_bind(struct query *q, const struct claim *c)
{
	query_int(q, ":row", c->row);
	query_int(q, ":process", c->holder);
	query_int(q, ":fence", c->fence);
}

bool claim_drop(struct db *db, const struct lease *lease, struct error *err)
{
	const struct claim *c = lease->claim;
	struct query q;
	if (!c || !c->row || c->freed)
		return true;
	query_start(&q, db, SQL_CLAIM_LEAVE, err);
	claim_bind(&q, c);
	return query_run(&q);
}

bool claims_release(struct storage *st, struct lease *lease, struct error *err)
{
	struct engine *e = engine_of(st);
	struct claim *c = lease->claim;
	bool ok = true;
	struct query q;
	if (c && c->holder && !c->row) {
		ok = claim_say(e, SQL_CLAIM_DISOWN, lease->thread_id, c->holder, err);
	} else if (c && c->holder && !c->freed) {
		pool_query(e->pool, &q, SQL_CLAIM_DROP, err);
		claim_bind(&q, c);
		query_row(&q);
		ok = pool_query_end(e->pool, &q);
	}
	char *thread_id = ok ? NULL : xstrdup(lease->thread_id);
	lease_release(lease); /* instances_release_later may need the lease */
	if (!ok)
		instances_release_later(e->instances, c->holder, c->row, c->fence, thread_id);
	free(thread_id);
	claim_free(c);
	return ok;
}

/* ---- writing ---- */

bool claim_ask(struct db *db, const struct lease *lease, struct query *q, struct error *err)
{
	const struct claim *c = lease->claim;
	*q = (struct query){0};
	if (!lease_holds(lease))
		return thread_lost(lease->thread_id, err);
	if (!c || !c->holder)
		return true;
	query_start(q, db, c->row ? SQL_CLAIM_HOLD : SQL_CLAIM_MAKE, err);
	query_int(q, ":process", c->holder);
	if (c->row) {
		query_int(q, ":row", c->row);
		query_int(q, ":fence", c->fence);
		query_int(q, ":freed", c->freed);
	} else {
		query_text(q, ":thread_id", lease->thread_id);
	}
	query_send(q);
	return !q->failed;
}

bool claim_answer(const struct lease *lease, struct query *q, struct error *err)
{
	bool holds;
	if (!q->db)
		return true;
	holds = query_row(q);
	return query_end(q) && (holds || thread_lost(lease->thread_id, err));
}

bool claim_holds(struct db *db, const struct lease *lease, struct error *err)
{
	struct query q;
	return claim_ask(db, lease, &q, err) && claim_answer(lease, &q, err);
}

bool claim_lock(struct db *db, enum sql_id id, int64_t row, struct error *err)
{
	return !db->driver->side_by_side || db_run_on_row(db, id, row, err);
}

bool claim_holder(struct storage *st, const struct lease *lease, int64_t *holder, struct error *err)
{
	*holder = 0;
	return !lease->claim || instances_process(engine_of(st)->instances, holder, err);
}

void claim_made(const struct lease *lease, int64_t row, int64_t holder)
{
	if (lease->claim)
		*lease->claim = (struct claim){.holder = holder, .row = row, .fence = 1};
}

void claim_freed(const struct lease *lease)
{
	if (lease->claim)
		lease->claim->freed = true;
}

/* ---- of others ---- */

bool claims_running(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    bool *running, bool *stop_requested, struct error *err)
{
	struct engine *e = engine_of(st);
	struct query q;
	*running = lease_running(e->leases, thread_id, stop_requested);
	if (*running || !e->instances)
		return true;
	engine_query(st, ctx, &q, SQL_CLAIM_RUNNING, err);
	query_text(&q, ":thread_id", thread_id);
	query_int(&q, ":instance", instances_number(e->instances));
	*running = query_row(&q);
	if (*running)
		*stop_requested = query_column_int(&q, CLAIM_RUNNING_ORDERED) != 0;
	return pool_query_end(e->pool, &q);
}

bool claims_held(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    bool *held, struct error *err)
{
	struct engine *e = engine_of(st);
	struct query q;
	*held = lease_held(e->leases, thread_id);
	if (*held || !e->instances)
		return true;
	engine_query(st, ctx, &q, SQL_CLAIM_HELD, err);
	query_text(&q, ":thread_id", thread_id);
	query_int(&q, ":instance", instances_number(e->instances));
	*held = query_row(&q);
	return pool_query_end(e->pool, &q);
}

bool claims_stop(struct storage *st, const struct storage_context *ctx, const char *thread_id,
    const struct lease_aim *aim, bool *running, struct error *err)
{
	static const struct lease_aim whichever = {.order = ORDER_STOP};
	struct engine *e = engine_of(st);
	*running = lease_stop(e->leases, thread_id, aim);
	return *running || !e->instances ||
	    claim_order(e, ctx, thread_id, aim ? aim : &whichever, true, running, err);
}
