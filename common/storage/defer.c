/* SPDX-License-Identifier: ISC */
/* Deferred writes: a list in the order in which they are due, and the thread that writes those that
 * no later write has taken along. */
#include "storage/defer.h"

#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "storage/runs.h"

#include <assert.h>
#include <stdlib.h>

#define DELAY_MS 2
#define NAP_MS 5 /* the first chunk of a stream may wait this long */
#define NAPS_FOR_MS 200

enum deferred_state { WAITS, BEING_WRITTEN, SETTLED };

struct deferred {
	struct thread_change change; /* its err points to err, below */
	struct error err;
	enum deferred_state state;
	int64_t due;
	struct deferred *prev, *next; /* in the list, oldest first, or in the flusher's hands */
};

struct deferrals {
	struct chore flusher; /* its lock guards what follows, and every state */
	struct storage *storage;
	pthread_cond_t settled;
	struct deferred *first, *last;
	int64_t last_use;
	bool asleep; /* the flusher has to be woken for new work */
};

/* Takes the writes that are due by now out of the list, of which there is one at least, and writes
 * them. */
static void defer_write_due(struct deferrals *d, int64_t now)
{
	struct deferred *due = d->first, *rest;
	struct thread_change *changes;
	size_t count = 0;
	for (rest = due; rest && rest->due <= now; rest = rest->next) {
		rest->state = BEING_WRITTEN;
		count++;
	}
	assert(count);
	if (rest) {
		rest->prev->next = NULL;
		rest->prev = NULL;
	} else {
		d->last = NULL;
	}
	d->first = rest;
	pthread_mutex_unlock(&d->flusher.lock);
	changes = xcalloc(count, sizeof(*changes));
	count = 0;
	for (struct deferred *p = due; p; p = p->next)
		changes[count++] = p->change;
	d->storage->threads->write(d->storage, NULL, changes, count);
	free(changes);
	for (struct deferred *p = due; p; p = p->next) {
		const struct thread_write *w = p->change.writes[0];
		if (w->settled)
			w->settled(w->arg, !error_is_set(&p->err));
	}
	pthread_mutex_lock(&d->flusher.lock);
	for (struct deferred *p = due; p; p = p->next)
		p->state = SETTLED;
	pthread_cond_broadcast(&d->settled);
}

static void *defer_flush(void *arg)
{
	struct deferrals *d = arg;
	int64_t now;
	pthread_mutex_lock(&d->flusher.lock);
	while (!d->flusher.stopping || d->first) {
		now = clock_monotonic_ms();
		if (!d->first) {
			/* in a busy process a wake-up at every deferral would cost
			 * more than naps */
			d->asleep = now - d->last_use > NAPS_FOR_MS;
			chore_sleep(&d->flusher, d->asleep ? -1 : now + NAP_MS);
			d->asleep = false;
		} else if (d->flusher.stopping)
			defer_write_due(d, INT64_MAX);
		else if (d->first->due > now)
			chore_sleep(&d->flusher, d->first->due);
		else
			defer_write_due(d, now);
	}
	pthread_mutex_unlock(&d->flusher.lock);
	return NULL;
}

struct deferrals *deferrals_new(struct storage *st, struct error *err)
{
	struct deferrals *d = xcalloc(1, sizeof(*d));
	d->storage = st;
	pthread_cond_init(&d->settled, NULL);
	if (chore_start(&d->flusher, defer_flush, d, err))
		return d;
	pthread_cond_destroy(&d->settled);
	free(d);
	return NULL;
}

void deferrals_free(struct deferrals *d)
{
	if (!d)
		return;
	chore_stop(&d->flusher);
	pthread_cond_destroy(&d->settled);
	free(d);
}

void thread_defer(struct storage *st, const struct lease *lease, struct thread_write *w,
    struct deferred **pending)
{
	struct deferrals *d = st->deferrals;
	struct deferred *p = xcalloc(1, sizeof(*p));
	bool wake;
	p->change = (struct thread_change){.lease = lease, .writes = {w}, .err = &p->err};
	*pending = p;
	pthread_mutex_lock(&d->flusher.lock);
	d->last_use = clock_monotonic_ms();
	p->due = d->last_use + DELAY_MS;
	p->prev = d->last;
	p->next = NULL;
	*(d->last ? &d->last->next : &d->first) = p;
	d->last = p;
	wake = d->asleep;
	d->asleep = false;
	pthread_mutex_unlock(&d->flusher.lock);
	if (wake)
		pthread_cond_signal(&d->flusher.wake);
}

/* Takes the deferred write out of the flusher's reach and is true; or, when it is too late for
 * that, waits until it is settled and is false. */
static bool defer_take_back(struct deferrals *d, struct deferred *p)
{
	bool waits;
	pthread_mutex_lock(&d->flusher.lock);
	waits = p->state == WAITS;
	if (waits) {
		*(p->prev ? &p->prev->next : &d->first) = p->next;
		*(p->next ? &p->next->prev : &d->last) = p->prev;
	}
	while (p->state == BEING_WRITTEN)
		pthread_cond_wait(&d->settled, &d->flusher.lock);
	pthread_mutex_unlock(&d->flusher.lock);
	return waits;
}

bool thread_flush(struct storage *st, const struct storage_context *ctx, struct deferred **pending,
    struct error *err)
{
	struct deferred *p = *pending;
	bool ok;
	*pending = NULL;
	if (!p)
		return true;
	if (defer_take_back(st->deferrals, p))
		st->threads->write(st, ctx, &p->change, 1);
	ok = !error_is_set(&p->err);
	if (!ok)
		error_move(err, &p->err);
	free(p);
	return ok;
}

bool thread_write_after(struct storage *st, const struct storage_context *ctx,
    const struct lease *lease, struct deferred **pending, struct thread_write *w, struct error *err)
{
	struct deferred *p = *pending;
	struct thread_write *before;
	bool ok;
	if (!p)
		return thread_write(st, ctx, lease, w, err);
	before = p->change.writes[0];
	if (defer_take_back(st->deferrals, p)) {
		assert(w->thread->row == 0 || w->thread->row == before->thread->row);
		p->change.writes[1] = w;
		p->change.err = err;
		*pending = NULL;
		ok = st->threads->write(st, ctx, &p->change, 1);
		free(p);
		return ok;
	}
	if (!thread_flush(st, ctx, pending, err))
		return false;
	if (w->thread->row == 0)
		w->thread->row = before->thread->row;
	if (w->run && before->run)
		w->run->number = before->run->number;
	return thread_write(st, ctx, lease, w, err);
}
