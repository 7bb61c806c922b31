/* SPDX-License-Identifier: ISC */
/* Collecting chunks, the thread that stores them, and the thread that hands them on. */
#include "service/run/stream/keeper.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "service/run/stream/kept_line.h"
#include "service/thread/change.h"
#include "storage/queue.h"
#include "storage/runs.h"

#include <stdlib.h>

#define BATCH_SIZE (64 << 10) /* bytes of a batch; readers take one at a time */
#define MOST (256 << 10)      /* most bytes that wait for the disk, and as many for the client */
#define TOGETHER 64           /* most runs in one transaction */
#define PAUSE_MS 2            /* between two transactions, while no run has to wait */
#define UNSEEN_MS 10          /* the same while nobody follows a run */

/* Chunks that follow each other. */
struct batch {
	struct batch *next;
	struct buf lines;
	int64_t seq, count; /* seq of the first (0: they have no numbers), and how many */
};

struct batches {
	struct batch *first, *last;
	size_t size; /* bytes */
};

struct chunk_keeper {
	struct chunk_sink sink; /* first */
	struct chunk_keepers *all;
	struct chunk_keeper_setup setup;
	char *run_id;
	struct chore deliverer; /* the thread for the client, if there is one */
	pthread_cond_t moved;

	/* guarded by the lock of all */
	struct chunk_keeper *next; /* next of those that wait for the disk */
	bool waits;                /* it is one of them */
	struct run_key run;        /* number 0: there is no record */
	int64_t seq;               /* seq of the latest chunk */
	int64_t stored;            /* seq of the latest chunk on disk */
	bool failed;               /* something could not be stored, so nothing is kept any more */
	/* since when storing fails for the moment, by clock_monotonic_ms; or 0 */
	int64_t away_since;
	bool ended;              /* nothing more comes */
	struct lease *lease;     /* to be dropped when the next chunk is on disk, or NULL */
	bool whole;              /* that chunk has come */
	struct lease *releasing; /* the lease that is dropped with writing, or NULL */
	bool gone;               /* the client reads no more */
	struct batches pending;  /* for the disk */
	struct batches writing;  /* on their way there */
	struct batches fresh;    /* for the client */
};

struct chunk_keepers {
	struct storage *storage;
	struct shared *shared; /* or NULL */
	struct chore thread;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t wake;
	struct chunk_keeper *first, **end; /* those that wait for the disk, longest first */
	int64_t next_at; /* when the next transaction may begin, by clock_monotonic_ms */
	/* not before then, even if a run has to wait: storing fails for the moment */
	int64_t again_at;
	bool held_up;  /* some run has to wait, so the next transaction is to begin at once */
	unsigned live; /* keepers with a client and a record */
	bool idle;     /* the thread sleeps until something waits */
	bool started, stopping;
};

/* ---- batches ---- */

static void batch_free(struct batch *batch)
{
	buf_release(&batch->lines);
	free(batch);
}

static void batches_add(struct batches *batches, struct batch *batch)
{
	batch->next = NULL;
	*(batches->first ? &batches->last->next : &batches->first) = batch;
	batches->last = batch;
	batches->size += batch->lines.len;
}

static struct batch *batches_take(struct batches *batches)
{
	struct batch *batch = batches->first;
	if (batch) {
		batches->first = batch->next;
		batches->size -= batch->lines.len;
	}
	return batch;
}

/* ---- to the disk ---- */

/* Whether chunks are stored: the run has a record, and nothing has failed so far. */
static bool keeper_keeps(const struct chunk_keeper *keeper)
{
	return keeper->run.number && !keeper->failed;
}

static void keeper_drop(struct chunk_keeper *keeper, struct lease **lease)
{
	if (*lease)
		lease_drop(keeper->all->storage, NULL, *lease);
	*lease = NULL;
}

/* Gives up storing: what is not on disk, and what follows, goes to the client without numbers, if
 * there is one.  The lock is held. */
static void keeper_fail(struct chunk_keeper *keeper, const struct error *err)
{
	bool gone = err->kind == ERR_THREAD_BUSY; /* the run has lost its thread or its record,
						     which is nobody's fault */
	struct batch *batch;
	log_at(gone ? LOG_INFO : LOG_ERROR, "chunks of run %s are kept no more: %s", keeper->run_id,
	    error_why(err));
	keeper->failed = true;
	keeper_drop(keeper, &keeper->releasing);
	keeper_drop(keeper, &keeper->lease);
	while (
	    (batch = batches_take(&keeper->writing)) || (batch = batches_take(&keeper->pending))) {
		batch->seq = 0;
		if (keeper->setup.live)
			batches_add(&keeper->fresh, batch);
		else
			batch_free(batch);
	}
}

/* Hands stored batches to the client's thread, which later reads from the disk what there is no
 * room for.  The lock is held. */
static void keeper_hand_on(struct chunk_keeper *keeper)
{
	struct batch *batch;
	keeper->releasing = NULL;
	keeper->away_since = 0;
	while ((batch = batches_take(&keeper->writing))) {
		keeper->stored = batch->seq + batch->count - 1;
		if (keeper->setup.live && !keeper->gone && keeper->fresh.size < MOST)
			batches_add(&keeper->fresh, batch);
		else
			batch_free(batch);
	}
}

static bool keepers_write(
    struct chunk_keepers *all, struct chunk_keeper *const *keepers, size_t count, struct error *err)
{
	struct storage *storage = all->storage;
	struct chunk_batch *rows;
	size_t n = 0;
	for (size_t i = 0; i < count; i++)
		for (const struct batch *b = keepers[i]->writing.first; b; b = b->next)
			n++;
	rows = xcalloc(n, sizeof(*rows));
	n = 0;
	for (size_t i = 0; i < count; i++) {
		for (const struct batch *b = keepers[i]->writing.first; b; b = b->next)
			rows[n++] = (struct chunk_batch){.thread_row = keepers[i]->run.thread,
			    .number = keepers[i]->run.number,
			    .seq = b->seq,
			    .count = b->count,
			    .lines = b->lines.data,
			    .len = b->lines.len};
		rows[n - 1].lease = keepers[i]->releasing;
	}
	bool ok = storage->runs->chunks_append(storage, NULL, rows, n, err);
	free(rows);
	return ok;
}

/* Whether nothing of the keeper is on its way to the disk.  The lock is held. */
static bool keeper_is_settled(const struct chunk_keeper *keeper)
{
	return !keeper->waits && !keeper->writing.first;
}

/* Whether its run is over, and there is no client to wait for.  The lock is held. */
static bool keeper_is_left(const struct chunk_keeper *keeper)
{
	return keeper->ended && !keeper->setup.live && keeper_is_settled(keeper);
}

static void keeper_free(struct chunk_keeper *keeper)
{
	struct batch *batch;
	keeper_drop(keeper, &keeper->lease);
	while ((batch = batches_take(&keeper->fresh)))
		batch_free(batch);
	pthread_cond_destroy(&keeper->moved);
	free(keeper->run_id);
	free(keeper);
}

/* The lock is held. */
static void keeper_queue(struct chunk_keeper *keeper)
{
	struct chunk_keepers *all = keeper->all;
	if (keeper->waits)
		return;
	keeper->waits = true;
	keeper->next = NULL;
	*all->end = keeper;
	all->end = &keeper->next;
	if (all->idle)
		pthread_cond_signal(&all->wake);
}

/* Whether to store the same batches again, after a failure that may pass: they must not change, as
 * they may have been stored.  The lock is held. */
static bool keeper_tries_again(struct chunk_keeper *keeper, const struct error *err)
{
	struct chunk_keepers *all = keeper->all;
	int64_t now = clock_monotonic_ms();
	if (!keeper->away_since)
		keeper->away_since = now;
	if (err->kind != ERR_TRANSIENT_STORAGE || now - keeper->away_since >= KEPT_AWAY_MS)
		return false;
	all->again_at = now + KEPT_AGAIN_MS;
	keeper_queue(keeper);
	return true;
}

/* Stores the batches of all keepers together; where that fails for good, one by one, so that no run
 * pays for another. */
static void keepers_commit(
    struct chunk_keepers *all, struct chunk_keeper *const *keepers, size_t count)
{
	struct error together = {0};
	bool ok = keepers_write(all, keepers, count, &together);
	bool apart = !ok && count > 1 && together.kind != ERR_TRANSIENT_STORAGE;
	for (size_t i = 0; i < count; i++) {
		struct error alone = {0};
		bool stored = ok || (apart && keepers_write(all, keepers + i, 1, &alone));
		const struct error *err = apart ? &alone : &together;
		pthread_mutex_lock(&all->lock);
		if (stored)
			keeper_hand_on(keepers[i]);
		else if (!keeper_tries_again(keepers[i], err))
			keeper_fail(keepers[i], err);
		if (stored && keepers[i]->pending.first)
			keeper_queue(keepers[i]); /* what came while storing was tried again */
		bool left = keeper_is_left(keepers[i]);
		pthread_cond_broadcast(&keepers[i]->moved);
		pthread_mutex_unlock(&all->lock);
		error_release(&alone);
		if (left)
			keeper_free(keepers[i]);
	}
	error_release(&together);
}

/* Takes the keepers that wait.  The lock is held. */
static size_t keepers_take(struct chunk_keepers *all, struct chunk_keeper **keepers)
{
	size_t count = 0;
	while (all->first && count < TOGETHER) {
		struct chunk_keeper *keeper = all->first;
		all->first = keeper->next;
		keeper->waits = false;
		/* it has failed meanwhile */
		if (!keeper->pending.first && !keeper->writing.first) {
			pthread_cond_broadcast(&keeper->moved);
			if (keeper_is_left(keeper))
				keeper_free(keeper);
			continue;
		}
		keepers[count++] = keeper;
		if (keeper->writing.first)
			continue;
		keeper->writing = keeper->pending;
		keeper->pending = (struct batches){0};
		if (keeper->whole || keeper->ended) {
			keeper->releasing = keeper->lease;
			keeper->lease = NULL;
		}
	}
	if (!all->first)
		all->end = &all->first;
	return count;
}

/* The thread that stores.  A chunk that comes after a pause is stored at once; chunks that come
 * quickly one after the other share a transaction, which delays them a moment and costs much
 * less. */
static void *keepers_run(void *arg)
{
	struct chunk_keepers *all = arg;
	struct chunk_keeper *keepers[TOGETHER];
	pthread_mutex_lock(&all->lock);
	while (!all->stopping || all->first) {
		int64_t now = clock_monotonic_ms();
		bool at_once = all->held_up || all->stopping || now >= all->next_at;
		if (!all->first || !at_once || now < all->again_at) {
			/* sleeps until something waits, or the pause is over */
			int64_t at = all->again_at > all->next_at ? all->again_at : all->next_at;
			all->idle = !all->first;
			if (all->idle)
				pthread_cond_wait(&all->wake, &all->lock);
			else
				clock_cond_wait(&all->wake, &all->lock, at);
			all->idle = false;
			continue;
		}
		size_t count = keepers_take(all, keepers);
		all->held_up = false;
		bool unseen =
		    !all->live && all->shared && !bell_is_awaited(all->shared, BELL_CHUNKS);
		all->next_at = now + (unseen ? UNSEEN_MS : PAUSE_MS);
		pthread_mutex_unlock(&all->lock);
		keepers_commit(all, keepers, count);
		pthread_mutex_lock(&all->lock);
	}
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* Waits until something has moved, and hurries the thread that stores if that may be it.  The lock
 * is held before and afterwards. */
static void keeper_wait(struct chunk_keeper *keeper)
{
	struct chunk_keepers *all = keeper->all;
	if (keeper->waits && !all->held_up) {
		all->held_up = true;
		pthread_cond_signal(&all->wake);
	}
	pthread_cond_wait(&keeper->moved, &all->lock);
}

/* ---- to the client ---- */

/* Takes the next batch from memory, unless chunks before it are missing there.  The lock is
 * held. */
static struct batch *keeper_next(struct chunk_keeper *keeper, int64_t seq)
{
	const struct batch *first = keeper->fresh.first;
	if (!first || (first->seq ? first->seq > seq + 1 : seq < keeper->stored))
		return NULL;
	return batches_take(&keeper->fresh);
}

static void *keeper_run(void *arg)
{
	struct chunk_keeper *keeper = arg;
	struct chunk_keepers *all = keeper->all;
	const struct chunk_keeper_setup *setup = &keeper->setup;
	struct kept_live live = {.sink = setup->live,
	    .reader = {.storage = all->storage,
		.granularity = setup->granularity,
		.words = setup->words,
		.modes = setup->modes,
		.thread_id = setup->thread_id,
		.run_id = keeper->run_id}};
	log_request(setup->request_id);
	pthread_mutex_lock(&all->lock);
	while (!keeper->gone) {
		struct batch *batch = keeper_next(keeper, live.seq);
		int64_t stored = keeper->stored;
		if (!batch && live.seq >= stored) {
			if (keeper->ended && keeper_is_settled(keeper))
				break;
			pthread_cond_wait(&keeper->moved, &all->lock);
			continue;
		}
		live.reader.run = keeper->run;
		pthread_mutex_unlock(&all->lock);
		bool reads = batch ? kept_live_tell(&live, &batch->lines, batch->seq != 0)
				   : kept_live_catch_up(&live, stored);
		if (batch)
			batch_free(batch);
		pthread_mutex_lock(&all->lock);
		keeper->gone = !reads;
		pthread_cond_broadcast(&keeper->moved); /* there may be room */
	}
	pthread_mutex_unlock(&all->lock);
	log_request(NULL);
	return NULL;
}

/* ---- from the run ---- */

/* The lock is held. */
static void keeper_add(struct chunk_keeper *keeper, const char *json, size_t len)
{
	bool kept = keeper_keeps(keeper);
	struct batches *batches = kept ? &keeper->pending : &keeper->fresh;
	struct batch *batch = batches->first ? batches->last : NULL;
	if (!batch || batch->lines.len >= BATCH_SIZE) {
		batch = xcalloc(1, sizeof(*batch));
		batch->seq = kept ? keeper->seq + 1 : 0;
		batches_add(batches, batch);
	}
	size_t before = batch->lines.len;
	kept_line_add(&batch->lines, json, len, kept ? ++keeper->seq : 0);
	batch->count++;
	batches->size += batch->lines.len - before;
	if (kept)
		keeper_queue(keeper);
	else
		pthread_cond_broadcast(&keeper->moved);
}

static bool keeper_is_full(const struct chunk_keeper *keeper)
{
	return keeper_keeps(keeper) ? keeper->pending.size + keeper->writing.size >= MOST
				    : keeper->fresh.size >= MOST && !keeper->gone;
}

static void keeper_pass(struct chunk_sink *sink, const char *json, size_t len)
{
	struct chunk_keeper *keeper = (struct chunk_keeper *)sink;
	pthread_mutex_lock(&keeper->all->lock);
	while (keeper_is_full(keeper))
		keeper_wait(keeper);
	if (keeper_keeps(keeper) || (keeper->setup.live && !keeper->gone))
		keeper_add(keeper, json, len);
	keeper->whole = keeper->lease;
	pthread_mutex_unlock(&keeper->all->lock);
}

struct chunk_sink *chunk_keeper_sink(struct chunk_keeper *keeper)
{
	return &keeper->sink;
}

void chunk_keeper_begin(struct chunk_keeper *keeper, struct run_key run, int64_t seq)
{
	pthread_mutex_lock(&keeper->all->lock);
	if (!keeper->run.number) {
		keeper->run = run;
		keeper->seq = keeper->stored = seq;
		keeper->all->live += keeper->setup.live != NULL;
	}
	pthread_mutex_unlock(&keeper->all->lock);
}

/* ---- one run, and all ---- */

struct chunk_keepers *chunk_keepers_new(struct storage *storage, struct shared *shared)
{
	struct chunk_keepers *all = xcalloc(1, sizeof(*all));
	all->storage = storage;
	all->shared = shared;
	all->end = &all->first;
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->wake, NULL);
	return all;
}

void chunk_keepers_free(struct chunk_keepers *all)
{
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	all->stopping = true;
	pthread_cond_signal(&all->wake);
	pthread_mutex_unlock(&all->lock);
	if (all->started)
		chore_stop(&all->thread);
	pthread_cond_destroy(&all->wake);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

void chunk_keepers_hurry(struct chunk_keepers *all)
{
	pthread_mutex_lock(&all->lock);
	all->held_up = true;
	pthread_cond_signal(&all->wake);
	pthread_mutex_unlock(&all->lock);
}

struct chunk_keeper *chunk_keeper_new(
    struct chunk_keepers *all, const struct chunk_keeper_setup *setup, struct error *err)
{
	pthread_mutex_lock(&all->lock);
	if (!all->started)
		all->started = chore_start(&all->thread, keepers_run, all, err);
	bool started = all->started;
	pthread_mutex_unlock(&all->lock);
	if (!started)
		return NULL;
	struct chunk_keeper *keeper = xcalloc(1, sizeof(*keeper));
	keeper->sink.chunk = keeper_pass;
	keeper->all = all;
	keeper->setup = *setup;
	keeper->run_id = xstrdup(setup->run_id);
	pthread_cond_init(&keeper->moved, NULL);
	if (!setup->live || chore_start(&keeper->deliverer, keeper_run, keeper, err))
		return keeper;
	keeper_free(keeper);
	return NULL;
}

void chunk_keeper_take_lease(struct chunk_keeper *keeper, struct lease *lease)
{
	pthread_mutex_lock(&keeper->all->lock);
	keeper->lease = lease;
	if (!keeper_keeps(keeper))
		keeper_drop(keeper, &keeper->lease);
	pthread_mutex_unlock(&keeper->all->lock);
}

void chunk_keeper_flush(struct chunk_keeper *keeper)
{
	if (!keeper)
		return;
	pthread_mutex_lock(&keeper->all->lock);
	while (!keeper_is_settled(keeper))
		keeper_wait(keeper);
	pthread_mutex_unlock(&keeper->all->lock);
}

void chunk_keeper_end(struct chunk_keeper *keeper)
{
	if (!keeper)
		return;
	struct chunk_keepers *all = keeper->all;
	pthread_mutex_lock(&all->lock);
	keeper->ended = true;
	pthread_cond_broadcast(&keeper->moved);
	if (keeper->setup.live)
		while (!keeper_is_settled(keeper))
			pthread_cond_wait(&keeper->moved, &all->lock);
	bool settled = keeper_is_settled(keeper);
	all->live -= keeper->setup.live && keeper->run.number;
	pthread_mutex_unlock(&all->lock);
	if (!settled)
		return; /* the thread that stores frees it */
	if (keeper->setup.live)
		chore_stop(&keeper->deliverer);
	keeper_free(keeper);
}
