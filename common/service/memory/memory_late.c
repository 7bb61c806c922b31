/* SPDX-License-Identifier: ISC */
/* The thread that embeds what is left, batch by batch, and the lock of its office. */
#include "service/memory/memory_embed.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/chore.h"
#include "base/os/clock.h"

#include <stdlib.h>
#include <unistd.h>

#define SHORTEST_PAUSE_MS 2000
#define LONGEST_PAUSE_MS 60000

struct memory_late {
	struct chore thread;
	struct memory_round round;
	int office;
	int64_t pause_ms;
};

bool memory_late_batch(struct memory_round *round, struct error *err)
{
	const struct memory_ops *ops = round->store->ops;
	struct arena *a = arena_new();
	struct memory_batch batch = {
	    .all = round->all, .after = round->after, .limit = round->most};
	bool ok = ops->unembedded(round->store, NULL, a, &batch, err);
	if (ok && batch.count) {
		round->after = batch.texts[batch.count - 1].row;
		ok = embed_batch(round, &batch, err) && ops->adopt(round->store, NULL, &batch, err);
		round->done += ok ? (int64_t)batch.count : 0;
	}
	free(batch.vectors);
	free(batch.hashes);
	arena_free(a);
	return ok;
}

/* Returns whether there may be more to do at once. */
static bool memory_late_work(struct memory_late *late)
{
	struct memory_round *round = &late->round;
	struct error err = {0};
	int64_t before = round->after;
	round->done = 0;
	bool ok = memory_late_batch(round, &err);
	bool over = round->after == before;
	if (over)
		round->after = 0;
	if (!ok)
		log_debug("vectors: %s", error_why(&err));
	if (round->done)
		log_info("memories that got their vector: %lld", (long long)round->done);
	round->most = ok && !over ? MEMORY_BATCH : 1; /* one bad text does not hold up the others */
	late->pause_ms = ok ? SHORTEST_PAUSE_MS : late->pause_ms * 2;
	if (late->pause_ms > LONGEST_PAUSE_MS)
		late->pause_ms = LONGEST_PAUSE_MS;
	error_release(&err);
	return ok && !over;
}

static bool memory_late_stops(void *arg)
{
	struct chore *thread = arg;
	pthread_mutex_lock(&thread->lock);
	bool stopping = thread->stopping;
	pthread_mutex_unlock(&thread->lock);
	return stopping;
}

static void *memory_late_run(void *arg)
{
	struct memory_late *late = arg;
	pthread_mutex_lock(&late->thread.lock);
	while (!late->thread.stopping) {
		pthread_mutex_unlock(&late->thread.lock);
		bool more = chore_in_office(late->office) && memory_late_work(late);
		pthread_mutex_lock(&late->thread.lock);
		if (!more && !late->thread.stopping)
			chore_sleep(&late->thread, clock_monotonic_ms() + late->pause_ms);
	}
	pthread_mutex_unlock(&late->thread.lock);
	return NULL;
}

struct memory_late *memory_late_new(
    const char *state_dir, struct memory_set *st, struct embedding *e, struct error *err)
{
	struct memory_late *late = xcalloc(1, sizeof(*late));
	late->round = (struct memory_round){.store = st,
	    .embedding = e,
	    .most = MEMORY_BATCH,
	    .stop = memory_late_stops,
	    .arg = &late->thread};
	late->pause_ms = SHORTEST_PAUSE_MS;
	late->office = chore_office(state_dir, "embed.lock", err);
	if (late->office >= 0 && chore_start(&late->thread, memory_late_run, late, err))
		return late;
	if (late->office >= 0)
		close(late->office);
	free(late);
	return NULL;
}

void memory_late_free(struct memory_late *late)
{
	if (!late)
		return;
	chore_stop(&late->thread);
	close(late->office);
	free(late);
}
