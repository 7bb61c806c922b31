/* SPDX-License-Identifier: ISC */
/* Draining the ring into the storage, and reading a thread's runs. */
#include "storage/trace/traces.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "storage/trace/trace_ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILL_BOUND (RING_SIZE / 8 * 5) /* then a thread empties the ring */
#define OTHERS_MS 1000                 /* or so often at least, where other instances read */
#define OTHERS_REST 49                 /* but for so many times as long as that took it rests */
#define NODES 1024                     /* of instances that begin runs in the same microsecond */

struct traces {
	struct trace_ring *ring;
	const struct storage *storage;
	bool others; /* there may be other instances, which see what is in the storage alone */

	pthread_mutex_t lock; /* guards what follows */
	struct trace_records *records;
	bool begun; /* they are */

	pthread_mutex_t start; /* guards the start of the thread */
	_Atomic bool started, awake;
	struct chore thread;
	/* the thread's own */
	uint64_t told;       /* drops that the log knows of */
	int64_t rests_until; /* by clock_monotonic_ms */
};

struct traces *traces_new(struct storage *storage, struct shared *shared)
{
	struct traces *traces = xcalloc(1, sizeof(*traces));
	traces->ring = shared_region(shared, SHARED_TRACES);
	traces->storage = storage;
	traces->others = storage->engine->can.instances;
	traces->records = storage->engine->trace_records->open(storage);
	pthread_mutex_init(&traces->lock, NULL);
	pthread_mutex_init(&traces->start, NULL);
	return traces;
}

void traces_free(struct traces *traces)
{
	if (!traces)
		return;
	if (traces->started)
		chore_stop(&traces->thread);
	traces->records->ops->close(traces->records);
	pthread_mutex_destroy(&traces->lock);
	pthread_mutex_destroy(&traces->start);
	free(traces);
}

uint64_t traces_number(struct traces *traces)
{
	uint64_t node = (uint64_t)traces->storage->node % NODES;
	uint64_t now = (uint64_t)clock_now() * NODES + node;
	uint64_t last = atomic_load(&traces->ring->numbers), next;
	do
		next = now > last ? now : (last / NODES + 1) * NODES + node;
	while (!atomic_compare_exchange_weak(&traces->ring->numbers, &last, next));
	return next;
}

/* ---- the records ---- */

/* Throws away what an earlier instance has left.  Call with both locks held. */
static bool traces_begin(
    struct traces *traces, const struct storage_context *ctx, struct error *err)
{
	bool anew = !atomic_load(&traces->ring->made);
	if (traces->begun)
		return true;
	if (!traces->records->ops->begin(traces->records, ctx, anew, err))
		return false;
	traces->begun = true;
	atomic_store(&traces->ring->made, 1);
	return true;
}

/* Entries that were copied from the ring; only those that would be kept are worth writing. */
struct batch {
	struct ring_entry **entries; /* the latest runs first */
	size_t count;
	size_t thread_count;
	struct batch_thread {
		const char *name;
		size_t run_count;
		const struct ring_entry *runs[TRACES_RUNS]; /* one of each of its latest */
	} threads[TRACES_THREADS];                          /* those of the latest runs, by name */
};

static int traces_by_name(const void *a, const void *b)
{
	const struct batch_thread *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int batch_latest_first(const void *a, const void *b)
{
	const struct ring_entry *x = *(struct ring_entry *const *)a;
	const struct ring_entry *y = *(struct ring_entry *const *)b;
	return (x->run.number < y->run.number) - (x->run.number > y->run.number);
}

/* Whether the entry is of a run that is kept: not older than the latest runs of its thread, nor
 * with the id of a later one.  Entries come latest first. */
static bool batch_keeps(struct batch_thread *thread, const struct ring_entry *entry)
{
	for (size_t i = 0; i < thread->run_count; i++) {
		if (thread->runs[i]->run.number == entry->run.number)
			return true;
		if (strcmp(ring_run(thread->runs[i]), ring_run(entry)) == 0)
			return false;
	}
	if (thread->run_count == TRACES_RUNS)
		return false;
	thread->runs[thread->run_count++] = entry;
	return true;
}

/* Finds the threads of the batch, and marks entries as superseded that would be deleted at once. */
static void batch_select(struct batch *batch)
{
	struct batch_thread *threads = batch->threads;
	qsort(batch->entries, batch->count, sizeof(struct ring_entry *), batch_latest_first);
	for (size_t i = 0; i < batch->count && batch->thread_count < TRACES_THREADS; i++) {
		const char *name = ring_thread(batch->entries[i]);
		bool known = !batch->entries[i]->run.number;
		for (size_t k = 0; !known && k < batch->thread_count; k++)
			known = strcmp(threads[k].name, name) == 0;
		if (!known)
			threads[batch->thread_count++].name = name;
	}
	qsort(threads, batch->thread_count, sizeof(*threads), traces_by_name);
	for (size_t i = 0; i < batch->count; i++) {
		struct ring_entry *entry = batch->entries[i];
		const struct batch_thread key = {.name = ring_thread(entry)};
		if (!entry->run.number)
			continue;
		struct batch_thread *thread =
		    bsearch(&key, threads, batch->thread_count, sizeof(key), traces_by_name);
		if (!thread || !batch_keeps(thread, entry))
			atomic_store(&entry->superseded, 1);
	}
}

static bool traces_write(struct traces *traces, const struct storage_context *ctx, char *entries,
    size_t len, struct error *err)
{
	struct batch *batch = xcalloc(1, sizeof(*batch));
	batch->entries = xcalloc(len / sizeof(struct ring_entry) + 1, sizeof(struct ring_entry *));
	for (size_t at = 0; at < len;) {
		struct ring_entry *entry = (struct ring_entry *)(void *)(entries + at);
		if (!atomic_load(&entry->superseded))
			batch->entries[batch->count++] = entry;
		at += entry->size;
	}
	batch_select(batch);
	struct trace_record *list = xcalloc(batch->count + 1, sizeof(*list));
	size_t count = 0;
	for (size_t at = 0; at < len;) {
		struct ring_entry *entry = (struct ring_entry *)(void *)(entries + at);
		if (!atomic_load(&entry->superseded)) {
			ring_unpack(entry, &list[count].run, &list[count].piece);
			count++;
		}
		at += entry->size;
	}
	bool ok = traces->records->ops->write(traces->records, ctx, list, count, err);
	free(list);
	free(batch->entries);
	free(batch);
	return ok;
}

/*
 * Empties the ring into the storage.  Entries leave the ring after it, so a process that dies here
 * loses nothing: they are written again, which changes nothing.  With both locks held.
 */
static bool traces_drain(
    struct traces *traces, const struct storage_context *ctx, struct error *err)
{
	size_t len;
	char *entries = ring_copy(traces->ring, &len);
	if (!entries)
		return true;
	bool ok = traces_begin(traces, ctx, err) && traces_write(traces, ctx, entries, len, err);
	free(entries);
	ring_remove(traces->ring, len);
	if (ok)
		return true;
	log_warning("traces are lost: %s", error_why(err));
	/* what is broken is made anew; what is locked, or has no room, may recover */
	if (err->kind != ERR_TRANSIENT_STORAGE) {
		traces->begun = false;
		atomic_store(&traces->ring->made, 0);
	}
	return false;
}

static void traces_lock(struct traces *traces)
{
	pthread_mutex_lock(&traces->lock);
	shared_lock(&traces->ring->head.mutex[1]);
}

static void traces_unlock(struct traces *traces)
{
	shared_unlock(&traces->ring->head.mutex[1]);
	pthread_mutex_unlock(&traces->lock);
}

/* ---- handing over ---- */

static void traces_drain_if_filled(struct traces *traces)
{
	struct error err = {0};
	traces_lock(traces);
	if (ring_fill(traces->ring) >= FILL_BOUND || traces->others)
		traces_drain(traces, NULL, &err);
	traces_unlock(traces);
	error_release(&err);
	uint64_t dropped = atomic_load(&traces->ring->dropped);
	if (dropped == traces->told)
		return;
	log_warning("%" PRIu64
		    " pieces of traces were lost, because runs were faster than the disk",
	    dropped - traces->told);
	traces->told = dropped;
}

static void *traces_work(void *arg)
{
	struct traces *traces = arg;
	struct chore *thread = &traces->thread;
	pthread_mutex_lock(&thread->lock);
	while (!thread->stopping) {
		if (!atomic_load(&traces->awake)) {
			chore_sleep(thread, -1);
			continue;
		}
		if (clock_monotonic_ms() < traces->rests_until &&
		    ring_fill(traces->ring) < FILL_BOUND)
			chore_sleep(thread, traces->rests_until);
		pthread_mutex_unlock(&thread->lock);
		atomic_store(&traces->awake, false);
		int64_t begun = clock_monotonic_ms();
		traces_drain_if_filled(traces);
		if (traces->others) {
			/* after a transaction it rests, so that writing takes no more than a
			 * fiftieth of the time while there is room */
			int64_t now = clock_monotonic_ms(), rest = (now - begun + 1) * OTHERS_REST;
			traces->rests_until = now + (rest < OTHERS_MS ? rest : OTHERS_MS);
		}
		pthread_mutex_lock(&thread->lock);
	}
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

/* Starts the thread when it is first needed; most processes never fill the ring. */
static void traces_wake(struct traces *traces)
{
	if (atomic_exchange(&traces->awake, true))
		return;
	struct error err = {0};
	pthread_mutex_lock(&traces->start);
	if (!traces->started)
		traces->started = chore_start(&traces->thread, traces_work, traces, &err);
	pthread_mutex_unlock(&traces->start);
	error_release(&err); /* tried again with the next run */
	if (!traces->started) {
		atomic_store(&traces->awake, false);
		return;
	}
	pthread_mutex_lock(&traces->thread.lock);
	pthread_cond_signal(&traces->thread.wake);
	pthread_mutex_unlock(&traces->thread.lock);
}

bool traces_put(struct traces *traces, const struct trace_run *run, const struct trace_piece *piece,
    uint64_t *place)
{
	bool put = ring_add(traces->ring, run, piece, place);
	metrics_count(METRIC_TRACES_DROPPED, !put);
	if (ring_fill(traces->ring) >= FILL_BOUND || traces->others)
		traces_wake(traces);
	return put;
}

bool traces_forget(struct traces *traces, const struct storage_context *ctx, const char *thread_id,
    struct error *err)
{
	/* alone, what comes first is written first, and no clock is asked, which may be set back */
	const struct trace_record forget = {
	    .run = {.thread_id = thread_id,
		.run_id = "",
		.started_at = traces->others ? clock_now() : INT64_MAX}};
	uint64_t place = 0;
	/* other instances look into the storage alone */
	if (!traces->others && ring_add(traces->ring, &forget.run, &forget.piece, &place))
		return true;
	traces_lock(traces);
	bool ok = traces_drain(traces, ctx, err) && traces_begin(traces, ctx, err) &&
	    traces->records->ops->write(traces->records, ctx, &forget, 1, err);
	traces_unlock(traces);
	return ok;
}

bool traces_read(struct traces *traces, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, const char *run_id, struct trace_view *view, struct error *err)
{
	traces_lock(traces);
	bool ok = traces_drain(traces, ctx, err) && traces_begin(traces, ctx, err) &&
	    traces->records->ops->read(traces->records, ctx, a, thread_id, run_id, view, err);
	traces_unlock(traces);
	return ok;
}
