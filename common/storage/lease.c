/* SPDX-License-Identifier: ISC */
/*
 * The table is an array of entries in shared memory, one for each lease and each waiter.  The
 * entries of a hash bucket form a chain.  Of the entries of one thread the first living one is the
 * holder; the others wait in line in the order of their arrival, except for those that overtake.
 *
 * Only an entry's state says whether it is in use; it is written last when an entry is filled and
 * first when it is given back.  Chains and the free list can be rebuilt from that, which is done
 * when a process has died while it held the table's lock.
 */
#include "storage/lease.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "storage/futex.h"

#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define ID_SIZE 1021

/* How often a waiter looks whether those before it are still alive. */
#define LOOK_MS 250

#define LINE_MOST 64 /* waiters of one thread, over all processes */

enum entry_state { ENTRY_FREE, ENTRY_WAITS, ENTRY_HELD };

/* Of an entry without a run, and of one whose run is over, so that it is released soon. */
enum { RUN_NONE = 0, RUN_OVER = 2 };

struct entry {
	_Atomic uint32_t state; /* also the futex of the waiter */
	uint32_t process;       /* slot of its owner */
	uint32_t next;          /* next in the chain or the free list: index + 1; 0 at the end */
	uint32_t hash;
	/* ascends in the order of arrival; then it is the generation of the lease */
	_Atomic uint64_t ticket;
	bool overtakes; /* it goes before those that came earlier and still wait */
	uint64_t run;   /* hash of the id of the run that has the lease, odd; or RUN_NONE, _OVER */
	atomic_int ordered; /* what its owner was ordered to do, an enum lease_order */
	char thread_id[ID_SIZE];
};

/* The layout of the region SHARED_LEASES; its first mutex guards all of it, but atomics may be
 * read, and states waited on, without it. */
struct table {
	struct shared_head head;
	uint64_t tickets;
	uint32_t used; /* entries from here on were never touched */
	uint32_t free; /* head of the free list */
	uint32_t buckets[BUCKETS];
	_Atomic uint64_t ended[BUCKETS]; /* how many leases of each bucket have ended */
	struct entry entries[];
};

#define ENTRIES ((uint32_t)((SHARED_LEASES_SIZE - sizeof(struct table)) / sizeof(struct entry)))

struct leases {
	struct shared *shared;
	struct table *table;
	uint32_t self;
	unsigned room; /* callers of this process that may wait at once */
	atomic_uint waiting;
};

static enum entry_state lease_state_of(const struct entry *e)
{
	return atomic_load_explicit(&e->state, memory_order_acquire);
}

static void lease_set_state(struct entry *e, enum entry_state state)
{
	atomic_store_explicit(&e->state, state, memory_order_release);
}

static struct entry *lease_at(struct table *t, uint32_t link)
{
	return link ? &t->entries[link - 1] : NULL;
}

static uint32_t lease_link_to(const struct table *t, const struct entry *e)
{
	return (uint32_t)(e - t->entries) + 1;
}

static uint32_t *lease_bucket_of(struct table *t, uint32_t hash)
{
	return &t->buckets[hash % BUCKETS];
}

/* Appends e to the chain that goes on at link. */
static void lease_link_last(struct table *t, uint32_t *link, struct entry *e)
{
	while (*link)
		link = &lease_at(t, *link)->next;
	e->next = 0;
	*link = lease_link_to(t, e);
}

static void lease_give_back(struct table *t, struct entry *e)
{
	e->next = t->free;
	t->free = lease_link_to(t, e);
}

static void lease_remove_entry(struct table *t, struct entry *e)
{
	uint32_t *link = lease_bucket_of(t, e->hash), self = lease_link_to(t, e);
	if (lease_state_of(e) == ENTRY_HELD)
		t->ended[e->hash % BUCKETS]++;
	lease_set_state(e, ENTRY_FREE);
	while (*link != self)
		link = &lease_at(t, *link)->next;
	*link = e->next;
	lease_give_back(t, e);
}

/* Holders, then those that overtake, the latest first, then the others. */
static int lease_by_place(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	int order = (lease_state_of(y) == ENTRY_HELD) - (lease_state_of(x) == ENTRY_HELD);
	if (order == 0)
		order = y->overtakes - x->overtakes;
	if (order)
		return order;
	order = (x->ticket > y->ticket) - (x->ticket < y->ticket);
	return x->overtakes ? -order : order;
}

/* Rebuilds chains, free list and counter from the entries. */
static void lease_rebuild(struct table *t)
{
	struct entry **live = xcalloc((size_t)t->used + 1, sizeof(struct entry *));
	size_t count = 0;
	memset(t->buckets, 0, sizeof(t->buckets));
	t->free = 0;
	for (uint32_t i = 0; i < t->used; i++) {
		if (lease_state_of(&t->entries[i]) == ENTRY_FREE)
			lease_give_back(t, &t->entries[i]);
		else
			live[count++] = &t->entries[i];
	}
	qsort(live, count, sizeof(*live), lease_by_place);
	for (size_t i = 0; i < count; i++) {
		lease_link_last(t, lease_bucket_of(t, live[i]->hash), live[i]);
		if (t->tickets < live[i]->ticket)
			t->tickets = live[i]->ticket;
	}
	free(live);
}

static struct table *lease_lock(struct leases *leases)
{
	struct table *t = leases->table;
	if (shared_lock(&t->head.mutex[0]))
		lease_rebuild(t);
	return t;
}

static void lease_unlock(struct table *t)
{
	shared_unlock(&t->head.mutex[0]);
}

static bool lease_lives(const struct leases *leases, const struct entry *e)
{
	return e->process == leases->self || shared_alive(leases->shared, e->process);
}

/* The first entry of the chain from link on that is of this thread. */
static struct entry *lease_find(
    struct table *t, uint32_t link, uint32_t hash, const char *thread_id)
{
	struct entry *e = lease_at(t, link);
	while (e && (e->hash != hash || strcmp(e->thread_id, thread_id) != 0))
		e = lease_at(t, e->next);
	return e;
}

/*
 * Removes the dead from the head of the thread's line and gives the lease to the first living one,
 * which is returned; NULL when there is none.
 */
static struct entry *lease_settle(struct leases *leases, uint32_t hash, const char *thread_id)
{
	struct table *t = leases->table;
	struct entry *e;
	while ((e = lease_find(t, *lease_bucket_of(t, hash), hash, thread_id)) &&
	    !lease_lives(leases, e))
		lease_remove_entry(t, e);
	if (e && lease_state_of(e) == ENTRY_WAITS) {
		e->ticket = ++t->tickets;
		lease_set_state(e, ENTRY_HELD);
		futex_wake(&e->state, FUTEX_OF_ALL);
	}
	return e;
}

/* Removes an entry and lets the next in line have the lease. */
static void lease_leave_line(struct leases *leases, struct entry *e)
{
	char thread_id[ID_SIZE];
	uint32_t hash = e->hash;
	bool followed = lease_find(leases->table, e->next, hash, e->thread_id) != NULL;
	if (followed)
		strcpy(thread_id, e->thread_id);
	lease_remove_entry(leases->table, e);
	if (followed)
		lease_settle(leases, hash, thread_id);
}

/* Removes every entry of the process in this slot; with 0, all entries of dead processes that are
 * still there. */
static void lease_forget(struct leases *leases, uint32_t process)
{
	struct table *t = leases->table;
	for (uint32_t i = 0; i < t->used; i++) {
		struct entry *e = &t->entries[i];
		if (lease_state_of(e) != ENTRY_FREE &&
		    (process ? e->process == process : !lease_lives(leases, e)))
			lease_leave_line(leases, e);
	}
}

/* Adds an entry, whose state is written when all else is.  One that overtakes goes right behind the
 * first of its thread. */
static struct entry *lease_join_line(
    struct leases *leases, uint32_t hash, const char *thread_id, bool overtakes)
{
	struct table *t = leases->table;
	struct entry *e = lease_at(t, t->free);
	struct entry *first = lease_find(t, *lease_bucket_of(t, hash), hash, thread_id);
	if (!e && t->used == ENTRIES)
		return NULL;
	if (e)
		t->free = e->next;
	else
		e = &t->entries[t->used++];
	e->process = leases->self;
	e->hash = hash;
	e->ticket = ++t->tickets;
	e->overtakes = overtakes;
	e->run = RUN_NONE;
	e->ordered = ORDER_NONE;
	strcpy(e->thread_id, thread_id);
	lease_set_state(e, first ? ENTRY_WAITS : ENTRY_HELD);
	if (first && overtakes) {
		e->next = first->next;
		first->next = lease_link_to(t, e);
	} else {
		lease_link_last(t, lease_bucket_of(t, hash), e);
	}
	return e;
}

struct leases *leases_new(struct shared *sh)
{
	struct leases *leases = xcalloc(1, sizeof(*leases));
	leases->shared = sh;
	leases->table = shared_region(sh, SHARED_LEASES);
	leases->self = shared_self(sh);
	leases->room = UINT_MAX;
	lease_lock(leases);
	lease_forget(leases, leases->self);
	lease_unlock(leases->table);
	return leases;
}

void leases_room(struct leases *leases, unsigned callers)
{
	leases->room = callers;
}

void leases_free(struct leases *leases)
{
	free(leases);
}

static void lease_tell(struct entry *e, enum lease_order order)
{
	if (e->ordered < (int)order)
		e->ordered = order;
}

/* Puts the caller in line, and gives the holder the order, even one that is no run yet and heeds it
 * later.  NULL when the table is full of living processes. */
static struct entry *lease_enter(
    struct leases *leases, uint32_t hash, const char *thread_id, enum lease_order order)
{
	struct entry *e, *holder;
	lease_lock(leases);
	e = lease_join_line(leases, hash, thread_id, order != ORDER_NONE);
	if (!e) {
		lease_forget(leases, 0);
		e = lease_join_line(leases, hash, thread_id, order != ORDER_NONE);
	}
	if (e && lease_state_of(e) == ENTRY_WAITS) {
		holder = lease_settle(leases, hash, thread_id);
		if (holder != e)
			lease_tell(holder, order);
	}
	lease_unlock(leases->table);
	return e;
}

/*
 * Takes room for e to wait, if there is any.  In the line of its thread only those before e count,
 * so that of several that come at once, as many stay as there is room for.
 */
static bool lease_take_room(struct leases *leases, const struct entry *e)
{
	struct table *t = lease_lock(leases);
	const struct entry *other =
	    lease_find(t, *lease_bucket_of(t, e->hash), e->hash, e->thread_id);
	unsigned before = 0, own = 0;
	bool room;
	for (; other != e; other = lease_find(t, other->next, e->hash, e->thread_id)) {
		before += lease_lives(leases, other);
		own += other->process == leases->self && lease_state_of(other) == ENTRY_WAITS;
	}
	room = before <= LINE_MOST && own < leases->room - leases->room / 4 &&
	    leases->waiting < leases->room;
	if (room)
		leases->waiting++;
	lease_unlock(t);
	return room;
}

/* Waits for the lease; one that rejects, only for a run that is over.  False when the time is up
 * and the caller has left the line. */
static bool lease_wait_in_line(
    struct leases *leases, struct entry *e, int64_t wait_ms, bool rejects)
{
	int64_t deadline = clock_monotonic_ms() + wait_ms, left = rejects ? 0 : wait_ms;
	const struct entry *first;
	while (lease_state_of(e) == ENTRY_WAITS) {
		if (left > 0)
			futex_wait(
			    &e->state, ENTRY_WAITS, left < LOOK_MS ? left : LOOK_MS, FUTEX_OF_ALL);
		left = deadline - clock_monotonic_ms();
		if (lease_state_of(e) != ENTRY_WAITS)
			break;
		/* those before may have died */
		lease_lock(leases);
		first = lease_settle(leases, e->hash, e->thread_id);
		bool held = lease_state_of(e) == ENTRY_HELD;
		if (rejects && first->run != RUN_OVER)
			left = 0;
		if (!held && left <= 0)
			lease_leave_line(leases, e);
		lease_unlock(leases->table);
		if (!held && left <= 0)
			return false;
	}
	return true;
}

struct lease *lease_acquire(struct leases *leases, const char *thread_id, enum lease_claim claim,
    int64_t wait_ms, struct error *err)
{
	static const enum lease_order orders[] = {
	    [CLAIM_INTERRUPT] = ORDER_STOP, [CLAIM_ROLLBACK] = ORDER_ROLLBACK};
	struct entry *e;
	struct lease *lease;
	assert(strlen(thread_id) < ID_SIZE);
	e = lease_enter(leases, hash_text_32(thread_id), thread_id, orders[claim]);
	if (!e) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		error_cause(err, "more than %u leases and waiters", ENTRIES);
		return NULL;
	}
	if (lease_state_of(e) == ENTRY_WAITS) {
		bool room = lease_take_room(leases, e);
		metrics_gauge(GAUGE_LEASE_QUEUE, 1);
		bool held =
		    lease_wait_in_line(leases, e, room ? wait_ms : 0, claim == CLAIM_REJECT);
		metrics_gauge(GAUGE_LEASE_QUEUE, -1);
		if (room)
			leases->waiting--;
		if (!held)
			return NULL;
	}
	size_t size = strlen(thread_id) + 1;
	lease = xmalloc(sizeof(*lease) + size);
	*lease = (struct lease){.thread_id = memcpy(lease + 1, thread_id, size),
	    .generation = e->ticket,
	    .queue = leases,
	    .place = e};
	return lease;
}

bool lease_holds(const struct lease *lease)
{
	const struct entry *e = lease->place;
	return lease_state_of(e) == ENTRY_HELD &&
	    atomic_load_explicit(&e->ticket, memory_order_relaxed) == lease->generation;
}

uint64_t lease_ended(struct leases *leases, const char *thread_id)
{
	return leases->table->ended[hash_text_32(thread_id) % BUCKETS];
}

bool lease_is_next(const struct lease *lease, uint64_t ended)
{
	return lease_ended(lease->queue, lease->thread_id) == ended;
}

static uint64_t lease_hash_run(const char *run_id)
{
	return hash_text(HASH_START, run_id) | 1;
}

void lease_run(const struct lease *lease, const char *run_id)
{
	struct entry *e = lease->place;
	lease_lock(lease->queue);
	e->run = run_id ? lease_hash_run(run_id) : RUN_OVER;
	lease_unlock(lease->queue->table);
}

enum lease_order lease_ordered(const struct lease *lease)
{
	const struct entry *e = lease->place;
	return (enum lease_order)e->ordered;
}

void lease_release(struct lease *lease)
{
	lease_lock(lease->queue);
	lease_leave_line(lease->queue, lease->place);
	lease_unlock(lease->queue->table);
	free(lease);
}

/* The entry of the run that holds the thread's lease now, or NULL.  Call with the lock held. */
static struct entry *lease_run_of(struct leases *leases, const char *thread_id)
{
	uint32_t hash = hash_text_32(thread_id);
	struct entry *e = lease_settle(leases, hash, thread_id);
	return e && e->run & 1 ? e : NULL;
}

bool lease_running(struct leases *leases, const char *thread_id, bool *stop_requested)
{
	struct entry *e;
	lease_lock(leases);
	e = lease_run_of(leases, thread_id);
	*stop_requested = e && e->ordered != ORDER_NONE;
	lease_unlock(leases->table);
	return e != NULL;
}

bool lease_held(struct leases *leases, const char *thread_id)
{
	struct entry *e;
	lease_lock(leases);
	e = lease_settle(leases, hash_text_32(thread_id), thread_id);
	lease_unlock(leases->table);
	return e != NULL;
}

bool lease_stop(struct leases *leases, const char *thread_id, const struct lease_aim *aim)
{
	static const struct lease_aim whichever = {.order = ORDER_STOP};
	struct entry *e;
	aim = aim ? aim : &whichever;
	lease_lock(leases);
	e = lease_run_of(leases, thread_id);
	if (e &&
	    ((aim->only && e->run != lease_hash_run(aim->only)) ||
		(aim->but && e->run == lease_hash_run(aim->but))))
		e = NULL; /* another run is meant */
	if (e)
		lease_tell(e, aim->order);
	lease_unlock(leases->table);
	return e != NULL;
}
