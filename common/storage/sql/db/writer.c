/* SPDX-License-Identifier: ISC */
/* The queue of units, the leader that commits them, and a failed group taken one by one. */
#include "storage/sql/db/writer.h"

#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "base/os/rest.h"
#include "storage/futex.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

/* Most units of a group.  Bounds how long the first of them wait, and how much is done twice when
 * one fails. */
#define GROUP_UNITS 64

#define TRIES 5 /* of a transaction, where db_again lets it be run again */

enum unit_state {
	UNIT_QUEUED,
	UNIT_LEADS, /* it is at the head of the queue, and its owner must do the work */
	UNIT_DONE
};

struct writer {
	struct db *db;
	struct turnstile *turnstile;
	struct rest rest;
	pthread_mutex_t lock; /* guards what follows */
	struct unit *first, *last;
	bool led; /* some unit leads */

	bool crowded; /* the latest group had several units; only the leader uses this */
};

/* Nobody uses the connection while nobody leads, and the lock prevents that anybody begins to. */
static void writer_give_back(void *arg)
{
	struct writer *w = arg;
	pthread_mutex_lock(&w->lock);
	if (!w->led)
		w->db->driver->give_back(w->db);
	pthread_mutex_unlock(&w->lock);
}

struct writer *writer_new(struct db *db, struct turnstile *turnstile)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	w->db = db;
	w->turnstile = turnstile;
	pthread_mutex_init(&w->lock, NULL);
	if (db->driver->attend)
		db->driver->attend(db, turnstile);
	if (db->driver->give_back)
		rest_join(&w->rest, writer_give_back, w);
	return w;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	rest_leave(&w->rest);
	assert(!w->led);
	pthread_mutex_destroy(&w->lock);
	db_close(w->db);
	free(w);
}

void writer_submit(struct writer *w, struct unit *unit)
{
	unit->err = (struct error){0};
	unit->next = NULL;
	pthread_mutex_lock(&w->lock);
	atomic_store_explicit(
	    &unit->state, w->led ? UNIT_QUEUED : UNIT_LEADS, memory_order_relaxed);
	w->led = true;
	if (w->first)
		w->last->next = unit;
	else
		w->first = unit;
	w->last = unit;
	pthread_mutex_unlock(&w->lock);
}

static void writer_set_state(struct unit *unit, enum unit_state state)
{
	atomic_store_explicit(&unit->state, state, memory_order_release);
	futex_wake(&unit->state, FUTEX_OF_PROCESS);
}

enum outcome {
	COMMITTED,
	NOT_BEGUN,
	ROLLED_BACK,
	UNCLEAR /* it may have been committed */
};

/* Runs the units that have an ask, or those that have none. */
static bool units_run(
    struct db *db, struct unit *first, const struct unit *end, bool asking, struct error *err)
{
	bool ok = true;
	for (struct unit *u = first; ok && u != end; u = u->next)
		ok = (u->ask != NULL) != asking || u->run(db, u, err);
	return ok;
}

/* Runs the units from first up to, but not including, end in one transaction. */
static enum outcome writer_try_transaction(
    struct db *db, struct unit *first, const struct unit *end, struct error *err)
{
	bool ok = true;
	db->patient = false;
	for (struct unit *u = first; u != end; u = u->next)
		db->patient |= u->patient;
	if (!db_begin(db, err))
		return NOT_BEGUN;
	for (struct unit *u = first; ok && db->driver->send && u != end; u = u->next)
		ok = !u->ask || u->ask(db, u, err);
	if (ok && units_run(db, first, end, true, err) && units_run(db, first, end, false, err) &&
	    db_commit(db, err))
		return COMMITTED;
	assert(error_is_set(err));
	db_rollback(db);
	return db->unclear ? UNCLEAR : ROLLED_BACK;
}

/* Runs the transaction again where another one, or a lost connection, has ended it. */
static enum outcome writer_transaction(
    struct db *db, struct unit *first, const struct unit *end, struct error *err)
{
	enum outcome outcome = writer_try_transaction(db, first, end, err);
	for (int tries = 1; outcome != COMMITTED && tries < TRIES && db_again(db); tries++) {
		error_release(err);
		outcome = writer_try_transaction(db, first, end, err);
	}
	return outcome;
}

/* Runs the units together and, where that fails, one by one; but never a unit that may have been
 * committed. */
static void writer_run_group(struct db *db, struct unit *group)
{
	struct error err = {0};
	enum outcome outcome = writer_transaction(db, group, NULL, &err);
	if (outcome == COMMITTED)
		return;
	if (outcome == NOT_BEGUN || outcome == UNCLEAR || !group->next) {
		/* each gets the error, which owns nothing that a copy could not share */
		for (struct unit *u = group; u; u = u->next)
			u->err = err;
		return;
	}
	error_release(&err);
	for (struct unit *u = group; u; u = u->next)
		writer_transaction(db, u, u->next, &u->err);
}

/* A unit belongs to its owner again as soon as it is done, so its successor is read before. */
static void writer_finish_group(struct unit *group, struct unit *own)
{
	struct unit *next;
	for (struct unit *u = group; u; u = next) {
		next = u->next;
		if (u == own)
			atomic_store_explicit(&u->state, UNIT_DONE, memory_order_relaxed);
		else
			writer_set_state(u, UNIT_DONE);
	}
}

/*
 * The group is taken only when the turn has come, so that it holds all that queued up meanwhile.
 * With several writers the leader lets the others run first: those that it has just woken bring
 * their next unit, where they would find a group that is already closed.  On a busy processor that
 * doubles the rate and cuts the tail.
 */
static void writer_lead(struct writer *w, struct unit *own)
{
	struct unit *group, *tail, *leader;
	if (w->crowded)
		sched_yield();
	turnstile_enter(w->turnstile);
	pthread_mutex_lock(&w->lock);
	group = tail = w->first;
	for (int n = 1; n < GROUP_UNITS && tail->next; n++)
		tail = tail->next;
	w->first = tail->next;
	tail->next = NULL;
	pthread_mutex_unlock(&w->lock);
	w->crowded = group->next != NULL;
	writer_run_group(w->db, group);
	if (w->db->driver->wrote)
		w->db->driver->wrote(w->db, w->turnstile);
	turnstile_leave(w->turnstile);
	pthread_mutex_lock(&w->lock);
	leader = w->first;
	w->led = leader != NULL;
	pthread_mutex_unlock(&w->lock);
	if (leader)
		writer_set_state(leader, UNIT_LEADS);
	writer_finish_group(group, own);
}

bool writer_wait(struct writer *w, struct unit *unit, struct error *err)
{
	uint32_t state;
	int64_t since = 0;
	metrics_count(METRIC_WRITES, 1);
	for (;;) {
		state = atomic_load_explicit(&unit->state, memory_order_acquire);
		if (state == UNIT_DONE)
			break;
		if (state != UNIT_LEADS) {
			since = since ? since : clock_uptime_us();
			futex_wait(&unit->state, state, -1, FUTEX_OF_PROCESS);
			continue;
		}
		writer_lead(w, unit);
	}
	if (since) {
		metrics_count(METRIC_WRITE_WAITS, 1);
		metrics_count(METRIC_WRITE_WAIT_US, (uint64_t)(clock_uptime_us() - since));
	}
	if (!error_is_set(&unit->err))
		return true;
	error_move(err, &unit->err);
	return false;
}
