/* SPDX-License-Identifier: ISC */
/* Rows of processes, threads that could not be given back, and the background thread that renews
 * this instance's row and looks after other instances. */
#include "storage/sql/instances.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "storage/lease.h"
#include "storage/queue.h"
#include "storage/sql/engine.h"
#include "storage/sql/run/jobs.h"
#include "storage/sql/thread/claimer.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLLOW_MS 8     /* between looks for chunks, while somebody waits for some */
#define FOLLOWS_MS 1000 /* whoever has waited most likely waits again, so looks go on this long */
#define LOOK_MS 100     /* between looks for orders of other instances */
#define IDLE_MS 1000    /* the same in processes that are not in office */
#define COUNT_MS 2000   /* between counts of the queue, at least; */
#define COUNT_AGAIN 50  /* and at least this many times as long as a count took */

#define FOLLOWED 1024 /* runs whose latest chunk is remembered */

struct followed {
	int64_t thread, number, seq;
};

/* A thread that could not be given back to other instances. */
struct unreleased {
	struct unreleased *next;
	int64_t holder, row, fence;
	char thread_id[]; /* with row 0: whatever was claimed of this thread */
};

struct instances {
	struct chore thread, counter;
	struct engine *engine;
	struct instance_life *life;
	int office, presence;
	/* only its thread uses these */
	bool told;             /* it was logged that the database cannot be reached */
	int64_t looked;        /* when it looked for orders and jobs, by clock_monotonic_ms */
	int64_t follows_until; /* until when somebody is believed to wait for chunks */
	struct followed followed[FOLLOWED];

	pthread_mutex_t lock;    /* guards what follows; atomics may be read without it */
	_Atomic int64_t process; /* 0: it has no row yet */
	_Atomic uint32_t times;  /* instance_times when the process got its row */
	struct unreleased *unreleased;
};

bool instances_each(struct storage *st, const struct storage_context *ctx,
    void (*tell)(void *arg, const struct storage_instance *instance), void *arg, struct error *err)
{
	struct query q;
	char id[17];
	engine_query(st, ctx, &q, SQL_INSTANCES_EACH, err);
	while (query_row(&q)) {
		const struct storage_instance instance = {.id = id,
		    .version = query_column_text(&q, INSTANCES_EACH_VERSION),
		    .started_at = query_column_int(&q, INSTANCES_EACH_STARTED_AT),
		    .seen_at = query_column_int(&q, INSTANCES_EACH_SEEN_AT)};
		snprintf(id, sizeof(id), "%016" PRIx64,
		    (uint64_t)query_column_int(&q, INSTANCES_EACH_NUMBER));
		tell(arg, &instance);
	}
	return pool_query_end(engine_of(st)->pool, &q);
}

int64_t instances_number(const struct instances *i)
{
	return instance_number(i->life);
}

bool instances_know_records(const struct instances *i)
{
	return !i || !instance_is_older_there(i->life);
}

/* ---- processes ---- */

/* Gives the process a number and its row.  Call with the lock held. */
static bool instances_renew_process(struct instances *i, uint32_t times, struct error *err)
{
	struct claimer *claimer = i->engine->claimer;
	int64_t number = i->process ? claimer_renew(claimer, err) : claimer_begin(claimer, err);
	struct query q;
	if (!number)
		return false;
	pool_query(i->engine->pool, &q, SQL_PROCESS_BEGIN, err);
	query_int(&q, ":process", number);
	query_int(&q, ":instance", instances_number(i));
	query_row(&q);
	if (!pool_query_end(i->engine->pool, &q))
		return false;
	atomic_store(&i->process, number);
	atomic_store(&i->times, times);
	return true;
}

bool instances_process(struct instances *i, int64_t *process, struct error *err)
{
	uint32_t times = instance_times(i->life);
	bool ok = true;
	*process = atomic_load(&i->process);
	if (*process && atomic_load(&i->times) == times)
		return true;
	pthread_mutex_lock(&i->lock);
	if (!i->process || i->times != times)
		ok = instances_renew_process(i, times, err);
	*process = i->process;
	pthread_mutex_unlock(&i->lock);
	return ok;
}

static bool instances_end_process(struct instances *i, int64_t number, struct error *err)
{
	struct query q;
	pool_query(i->engine->pool, &q, SQL_PROCESS_END, err);
	query_int(&q, ":process", number);
	query_row(&q);
	return pool_query_end(i->engine->pool, &q);
}

bool instances_bury(struct instances *i, struct error *err)
{
	int64_t *dead = NULL;
	size_t count = 0;
	struct query q;
	bool ok;
	pool_query(i->engine->pool, &q, SQL_PROCESSES_OF, err);
	query_int(&q, ":instance", instances_number(i));
	while (query_row(&q)) {
		int64_t number = query_column_int(&q, PROCESSES_OF_NUMBER);
		if (claimer_lives(i->engine->claimer, number))
			continue;
		dead = xrealloc(dead, (count + 1) * sizeof(*dead));
		dead[count++] = number;
	}
	ok = pool_query_end(i->engine->pool, &q);
	for (size_t n = 0; ok && n < count; n++)
		ok = instances_end_process(i, dead[n], err);
	free(dead);
	return ok;
}

/* ---- what could not be given back ---- */

static void instances_keep(struct instances *i, struct unreleased *u)
{
	pthread_mutex_lock(&i->lock);
	u->next = i->unreleased;
	i->unreleased = u;
	pthread_mutex_unlock(&i->lock);
}

void instances_release_later(
    struct instances *i, int64_t holder, int64_t row, int64_t fence, const char *thread_id)
{
	size_t size = strlen(thread_id) + 1;
	struct unreleased *u = xmalloc(sizeof(*u) + size);
	u->holder = holder;
	u->row = row;
	u->fence = fence;
	memcpy(u->thread_id, thread_id, size);
	instances_keep(i, u);
}

static bool instances_drop(struct instances *i, const struct unreleased *u, struct error *err)
{
	struct query q;
	pool_query(i->engine->pool, &q, SQL_CLAIM_DROP, err);
	query_int(&q, ":process", u->holder);
	query_int(&q, ":row", u->row);
	query_int(&q, ":fence", u->fence);
	query_row(&q);
	return pool_query_end(i->engine->pool, &q);
}

/* Releases whatever was claimed of the thread; but not while anybody here has its lease and may
 * claim it anew: then it is false without an error. */
static bool instances_disown(struct instances *i, const struct unreleased *u, struct error *err)
{
	struct lease *lease = lease_acquire(i->engine->leases, u->thread_id, CLAIM_REJECT, 0, err);
	struct query q;
	bool ok;
	if (!lease)
		return false;
	pool_query(i->engine->pool, &q, SQL_CLAIM_DISOWN, err);
	query_text(&q, ":thread_id", u->thread_id);
	query_int(&q, ":process", u->holder);
	query_row(&q);
	ok = pool_query_end(i->engine->pool, &q);
	lease_release(lease);
	return ok;
}

/* Releases the threads on the list.  What cannot be released now waits for the next time. */
static bool instances_release(struct instances *i, struct error *err)
{
	struct unreleased *u, *next;
	pthread_mutex_lock(&i->lock);
	u = i->unreleased;
	i->unreleased = NULL;
	pthread_mutex_unlock(&i->lock);
	for (; u; u = next) {
		next = u->next;
		if (!error_is_set(err) &&
		    (u->row ? instances_drop(i, u, err) : instances_disown(i, u, err)))
			free(u);
		else
			instances_keep(i, u);
	}
	return !error_is_set(err);
}

/* ---- its thread ---- */

static bool instances_give_up(struct instances *i, struct error *err)
{
	struct query q;
	bool some = false;
	if (instance_is_patient(i->life))
		return true;
	pool_query(i->engine->pool, &q, SQL_INSTANCES_GIVE_UP, err);
	while (query_row(&q)) {
		log_warning("instance %" PRId64 " on %s has not been seen for long: what it ran is "
			    "taken over",
		    query_column_int(&q, INSTANCES_GIVE_UP_NUMBER),
		    query_column_text(&q, INSTANCES_GIVE_UP_HOST));
		some = true;
	}
	if (some)
		chunks_moved_all(i->engine->shared);
	return pool_query_end(i->engine->pool, &q);
}

/* Passes orders of other instances on to runs of this one. */
static bool instances_take_orders(struct instances *i, struct error *err)
{
	struct query q;
	pool_query(i->engine->pool, &q, SQL_ORDERS_TAKE, err);
	query_int(&q, ":instance", instances_number(i));
	while (query_row(&q)) {
		const struct lease_aim aim = {
		    .order = (enum lease_order)query_column_int(&q, ORDERS_TAKE_ORDERED),
		    .only = query_column_text(&q, ORDERS_TAKE_RUN_ID)};
		lease_stop(i->engine->leases, query_column_text(&q, ORDERS_TAKE_THREAD_ID), &aim);
	}
	return pool_query_end(i->engine->pool, &q);
}

/* Wakes runners when a job is due that another instance may have queued; runners that are not free
 * ignore it. */
static void instances_find_jobs(struct instances *i, struct error *err)
{
	int64_t now = clock_now(), row, due;
	struct query q;
	pool_query(i->engine->pool, &q, SQL_JOB_NEXT, err);
	query_int(&q, ":now", now);
	if (job_next_row(&q, now, &row, &due) && row)
		bell_ring(i->engine->shared, BELL_QUEUE);
	pool_query_end(i->engine->pool, &q);
}

/* Wakes those who follow runs of other instances, which tell only their own processes. */
static bool instances_find_chunks(struct instances *i, struct error *err)
{
	struct query q;
	pool_query(i->engine->pool, &q, SQL_CHUNKS_LATEST, err);
	while (query_row(&q)) {
		const struct followed now = {query_column_int(&q, CHUNKS_LATEST_THREAD),
		    query_column_int(&q, CHUNKS_LATEST_NUMBER),
		    query_column_int(&q, CHUNKS_LATEST_SEQ)};
		struct followed *known =
		    &i->followed[(uint64_t)(now.thread * 31 + now.number) % FOLLOWED];
		if (known->thread == now.thread && known->number == now.number &&
		    known->seq == now.seq)
			continue;
		*known = now;
		chunks_moved(i->engine->shared, now.thread, now.number);
	}
	return pool_query_end(i->engine->pool, &q);
}

/* What the process in office does for its instance. */
static void instances_look(struct instances *i, struct error *err)
{
	int64_t now = clock_monotonic_ms();
	if (bell_is_awaited(i->engine->shared, BELL_CHUNKS))
		i->follows_until = now + FOLLOWS_MS;
	if (now < i->follows_until && !instances_find_chunks(i, err))
		return;
	if (now - i->looked < LOOK_MS)
		return;
	i->looked = now;
	if (instances_take_orders(i, err))
		instances_find_jobs(i, err);
}

/* Call with the thread's lock held.  The process in office wakes as soon as anybody begins to
 * follow a run. */
static void instances_sleep(struct instances *i, bool in_office)
{
	int64_t now = clock_monotonic_ms();
	uint32_t seen;
	if (!in_office || now < i->follows_until) {
		chore_sleep(&i->thread, now + (in_office ? FOLLOW_MS : IDLE_MS));
		return;
	}
	pthread_mutex_unlock(&i->thread.lock);
	seen = bell_word(i->engine->shared, BELL_LISTENERS);
	if (!bell_is_awaited(i->engine->shared, BELL_CHUNKS))
		bell_wait(i->engine->shared, BELL_LISTENERS, seen, LOOK_MS);
	pthread_mutex_lock(&i->thread.lock);
}

static bool instances_look_after(struct instances *i, struct error *err)
{
	struct query q;
	if (!instance_renew(i->life, i->engine, err) || !instances_bury(i, err) ||
	    !instances_give_up(i, err))
		return false;
	pool_query(i->engine->pool, &q, SQL_ORDERS_FORGET, err);
	query_row(&q);
	if (!pool_query_end(i->engine->pool, &q))
		return false;
	bell_ring(i->engine->shared, BELL_QUEUE);
	bell_ring(i->engine->shared, BELL_OUTBOX);
	return true;
}

static void *instances_work(void *arg)
{
	struct instances *i = arg;
	pthread_mutex_lock(&i->thread.lock);
	while (!i->thread.stopping) {
		struct error err = {0};
		bool in_office = chore_in_office(i->office);
		pthread_mutex_unlock(&i->thread.lock);
		instance_agree(i->life);
		if (instances_release(i, &err) && instance_is_due(i->life, in_office))
			instances_look_after(i, &err);
		if (in_office && !error_is_set(&err))
			instances_look(i, &err);
		bool failed = error_is_set(&err);
		if (failed && !i->told)
			log_warning("the database cannot be reached: %s", err.cause);
		else if (!failed && i->told)
			log_info("the database can be reached again");
		i->told = failed;
		error_release(&err);
		pthread_mutex_lock(&i->thread.lock);
		if (!i->thread.stopping)
			instances_sleep(i, in_office);
	}
	pthread_mutex_unlock(&i->thread.lock);
	return NULL;
}

/* An instance only knows what it did to the queue itself, so the gauge is corrected by a count.
 * What this instance does during the count may be counted twice; the next count puts it right. */
static void instances_count_jobs(struct instances *i)
{
	int64_t before = queue_waiting(i->engine->shared);
	struct error ignored = {0};
	struct query q;
	pool_query(i->engine->pool, &q, SQL_JOBS_COUNT, &ignored);
	if (query_row(&q))
		queue_waiting_add(
		    i->engine->shared, query_column_int(&q, JOBS_COUNT_COUNT) - before);
	pool_query_end(i->engine->pool, &q);
	error_release(&ignored); /* the other thread logs that the database is away */
}

/* This has a thread of its own, because it takes longer the longer the queue is, and nobody should
 * wait for it. */
static void *instances_count(void *arg)
{
	struct instances *i = arg;
	int64_t due =
	    clock_monotonic_ms() + COUNT_MS; /* it was counted when the engine was opened */
	pthread_mutex_lock(&i->counter.lock);
	while (!i->counter.stopping) {
		int64_t begun = clock_monotonic_ms();
		if (begun < due) {
			chore_sleep(&i->counter, due);
			continue;
		}
		pthread_mutex_unlock(&i->counter.lock);
		if (chore_in_office(i->office))
			instances_count_jobs(i);
		int64_t over = clock_monotonic_ms(), rest = (over - begun) * COUNT_AGAIN;
		due = over + (rest > COUNT_MS ? rest : COUNT_MS);
		pthread_mutex_lock(&i->counter.lock);
	}
	pthread_mutex_unlock(&i->counter.lock);
	return NULL;
}

struct instances *instances_begin(struct engine *e, struct error *err)
{
	struct instances *i = xcalloc(1, sizeof(*i));
	i->engine = e;
	pthread_mutex_init(&i->lock, NULL);
	i->life = instance_life(e->shared);
	i->office = chore_office(e->state_dir, "instance.lock", err);
	i->presence = i->office < 0 ? -1 : instance_begin(i->life, e, err);
	if (i->presence >= 0 && chore_start(&i->counter, instances_count, i, err)) {
		if (chore_start(&i->thread, instances_work, i, err))
			return i;
		chore_stop(&i->counter);
	}
	if (i->presence >= 0)
		instance_leave(i->life, e, i->presence);
	if (i->office >= 0)
		close(i->office);
	pthread_mutex_destroy(&i->lock);
	free(i);
	return NULL;
}

void instances_end(struct instances *i)
{
	struct error ignored = {0};
	struct unreleased *next;
	if (!i)
		return;
	chore_stop(&i->thread);
	chore_stop(&i->counter);
	clock_agree(0);
	if (i->process)
		instances_end_process(i, i->process, &ignored);
	error_release(&ignored);
	instance_leave(i->life, i->engine, i->presence);
	for (struct unreleased *u = i->unreleased; u; u = next) {
		next = u->next;
		free(u);
	}
	close(i->office);
	pthread_mutex_destroy(&i->lock);
	free(i);
}
