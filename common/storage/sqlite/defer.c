/* SPDX-License-Identifier: ISC */
/* Deferred writes: a list in the order of their time, and the thread that writes what nobody
 * carried along. */
#include "storage/sqlite/defer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "storage/background.h"
#include "storage/sqlite/change.h"

#include <stdlib.h>

#define DELAY_MS 2
#define NAP_MS 2
#define NAPS_FOR_MS 200

enum deferred_state { WAITS, BEING_WRITTEN, SETTLED };

struct deferred {
	struct change change;
	struct error err; /* once settled */
	enum deferred_state state;
	int64_t due;
	struct deferred *prev, *next; /* in the list, oldest first, or in the flusher's hands */
};

struct deferrals {
	struct background flusher; /* its lock guards what follows, and every state */
	struct writer *writer;
	int64_t max_bytes;
	pthread_cond_t settled;
	struct deferred *first, *last;
	int64_t last_use;
	bool asleep; /* the flusher has to be woken for new work */
};

static void defer_append(struct deferrals *d, struct deferred *p)
{
	p->prev = d->last;
	p->next = NULL;
	*(d->last ? &d->last->next : &d->first) = p;
	d->last = p;
}

static void unlink_one(struct deferrals *d, struct deferred *p)
{
	*(p->prev ? &p->prev->next : &d->first) = p->next;
	*(p->next ? &p->next->prev : &d->last) = p->prev;
}

/* Takes what is due out of the list. */
static struct deferred *take_due(struct deferrals *d, int64_t now)
{
	struct deferred *first = d->first, *p;

	for (p = first; p && p->due <= now; p = p->next)
		p->state = BEING_WRITTEN;
	if (p == first)
		return NULL;
	if (p) {
		p->prev->next = NULL;
		p->prev = NULL;
	} else {
		d->last = NULL;
	}
	d->first = p;
	return first;
}

static void defer_report(const struct deferred *p)
{
	const struct thread_write *w = p->change.writes[0];

	if (w->settled)
		w->settled(w->arg, !error_is_set(&p->err));
}

/* All of them are submitted before the first is waited for, so that they share a transaction. */
static void defer_write_all(struct writer *w, struct deferred *first)
{
	for (struct deferred *p = first; p; p = p->next)
		writer_submit(w, &p->change.unit);
	for (struct deferred *p = first; p; p = p->next)
		writer_wait(w, &p->change.unit, &p->err);
	for (struct deferred *p = first; p; p = p->next)
		defer_report(p);
}

static void settle_all(struct deferrals *d, struct deferred *first)
{
	for (struct deferred *p = first; p; p = p->next)
		p->state = SETTLED;
	pthread_cond_broadcast(&d->settled);
}

/* In a busy process a wake-up at every deferral would cost more than the flusher's naps. */
static void defer_rest(struct deferrals *d, int64_t now)
{
	d->asleep = now - d->last_use > NAPS_FOR_MS;
	background_sleep(&d->flusher, d->asleep ? -1 : now + NAP_MS);
	d->asleep = false;
}

static void write_due(struct deferrals *d, int64_t now)
{
	struct deferred *due = take_due(d, now);

	pthread_mutex_unlock(&d->flusher.lock);
	defer_write_all(d->writer, due);
	pthread_mutex_lock(&d->flusher.lock);
	settle_all(d, due);
}

static void *defer_flush(void *arg)
{
	struct deferrals *d = arg;
	int64_t now;

	pthread_mutex_lock(&d->flusher.lock);
	while (!d->flusher.stopping || d->first) {
		now = clock_monotonic_ms();
		if (!d->first)
			defer_rest(d, now);
		else if (d->flusher.stopping)
			write_due(d, INT64_MAX);
		else if (d->first->due > now)
			background_sleep(&d->flusher, d->first->due);
		else
			write_due(d, now);
	}
	pthread_mutex_unlock(&d->flusher.lock);
	return NULL;
}

struct deferrals *deferrals_new(struct writer *writer, int64_t max_bytes, struct error *err)
{
	struct deferrals *d = xcalloc(1, sizeof(*d));

	d->writer = writer;
	d->max_bytes = max_bytes;
	pthread_cond_init(&d->settled, NULL);
	if (background_start(&d->flusher, defer_flush, d, err))
		return d;
	pthread_cond_destroy(&d->settled);
	free(d);
	return NULL;
}

void deferrals_free(struct deferrals *d)
{
	if (!d)
		return;
	background_stop(&d->flusher);
	pthread_cond_destroy(&d->settled);
	free(d);
}

void deferrals_add(struct deferrals *d, struct thread_write *w, struct deferred **pending)
{
	struct deferred *p = xcalloc(1, sizeof(*p));
	bool wake;

	change_init(&p->change, d->max_bytes, w, NULL);
	*pending = p;
	pthread_mutex_lock(&d->flusher.lock);
	d->last_use = clock_monotonic_ms();
	p->due = d->last_use + DELAY_MS;
	defer_append(d, p);
	wake = d->asleep;
	d->asleep = false;
	pthread_mutex_unlock(&d->flusher.lock);
	if (wake)
		pthread_cond_signal(&d->flusher.wake);
}

/* Takes the deferred write out of the flusher's reach: true; or, when it is too late for that,
 * waits until it is settled: false. */
static bool defer_take_back(struct deferrals *d, struct deferred *p)
{
	bool waits;

	pthread_mutex_lock(&d->flusher.lock);
	waits = p->state == WAITS;
	if (waits)
		unlink_one(d, p);
	while (p->state == BEING_WRITTEN)
		pthread_cond_wait(&d->settled, &d->flusher.lock);
	pthread_mutex_unlock(&d->flusher.lock);
	return waits;
}

static bool write_now(
    struct deferrals *d, struct thread_write *first, struct thread_write *second, struct error *err)
{
	struct change c;

	change_init(&c, d->max_bytes, first, second);
	return change_finish(&c, writer_run(d->writer, &c.unit, err));
}

static bool write_next(struct deferrals *d, const struct thread *written,
    struct thread_write *after, struct error *err)
{
	if (after->thread->row == 0)
		after->thread->row = written->row;
	return write_now(d, after, NULL, err);
}

bool deferrals_write(
    struct deferrals *d, struct deferred **pending, struct thread_write *after, struct error *err)
{
	struct deferred *p = *pending;
	struct thread_write *before;
	bool ok;

	*pending = NULL;
	if (!p)
		return !after || write_now(d, after, NULL, err);
	before = p->change.writes[0];
	if (defer_take_back(d, p)) {
		ok = write_now(d, before, after, err);
	} else {
		ok = change_finish(&p->change, !error_is_set(&p->err));
		if (!ok)
			error_move(err, &p->err);
		else if (after)
			ok = write_next(d, before->thread, after, err);
	}
	free(p);
	return ok;
}
