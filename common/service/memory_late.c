#include "service/memory_late.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "storage/background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define BATCH 64
#define SHORTEST_PAUSE_MS 2000
#define LONGEST_PAUSE_MS 60000

struct memory_late {
	struct background thread;
	struct store *store;
	struct embedding *embedding;
	int office;    /* a file: who has its lock does the work */
	size_t batch;  /* 1 after a failure, so that one bad text does not hold up the others */
	int64_t after; /* where to go on; what failed is passed over until the next round */
	int64_t pause_ms;
};

bool memory_late_batch(struct store *st, struct embedding *e, bool all, size_t most, int64_t *after,
    int64_t *done, struct error *err)
{
	struct arena *a = arena_new();
	struct memory_text *texts = arena_alloc(a, most * sizeof(*texts));
	float *vectors;
	unsigned char *hashes;
	size_t count;
	bool ok = st->ops->unembedded(st, a, all, *after, most, texts, &count, err);
	if (ok && count) {
		*after = texts[count - 1].row;
		ok = embed_memories(e, texts, count, &vectors, &hashes, err);
		if (ok) {
			ok = st->ops->adopt(st, texts, count, vectors, hashes, err);
			*done += ok ? (int64_t)count : 0;
			free(vectors);
			free(hashes);
		}
	}
	arena_free(a);
	return ok;
}

static bool in_office(const struct memory_late *late)
{
	return flock(late->office, LOCK_EX | LOCK_NB) == 0;
}

/* The round is over, or the service does not answer. */
static void rest(struct memory_late *late, bool failed)
{
	late->pause_ms = failed ? late->pause_ms * 2 : SHORTEST_PAUSE_MS;
	if (late->pause_ms > LONGEST_PAUSE_MS)
		late->pause_ms = LONGEST_PAUSE_MS;
}

/* Returns whether there may be more to do at once. */
static bool work(struct memory_late *late)
{
	struct error err = {0};
	int64_t before = late->after, done = 0;
	bool ok = memory_late_batch(
	    late->store, late->embedding, false, late->batch, &late->after, &done, &err);
	bool over = late->after == before;
	if (over)
		late->after = 0;
	if (!ok)
		log_debug("vectors: %s", err.cause[0] ? err.cause : err.detail);
	if (done)
		log_info("%lld memories got their vector", (long long)done);
	late->batch = ok && !over ? BATCH : 1;
	rest(late, !ok);
	error_release(&err);
	return ok && !over;
}

static void *run(void *arg)
{
	struct memory_late *late = arg;
	pthread_mutex_lock(&late->thread.lock);
	while (!late->thread.stopping) {
		pthread_mutex_unlock(&late->thread.lock);
		bool more = in_office(late) && work(late);
		pthread_mutex_lock(&late->thread.lock);
		if (!more && !late->thread.stopping)
			background_sleep(&late->thread, clock_monotonic_ms() + late->pause_ms);
	}
	pthread_mutex_unlock(&late->thread.lock);
	return NULL;
}

struct memory_late *memory_late_new(
    const char *state_dir, struct store *st, struct embedding *e, struct error *err)
{
	char *path = xasprintf("%s/embed.lock", state_dir);
	struct memory_late *late = xcalloc(1, sizeof(*late));
	*late = (struct memory_late){
	    .store = st, .embedding = e, .batch = BATCH, .pause_ms = SHORTEST_PAUSE_MS};
	late->office = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (late->office < 0)
		error_set(err, ERR_STORAGE, "%s cannot be opened: %s", path, strerror(errno));
	free(path);
	if (late->office >= 0 && background_start(&late->thread, run, late, err))
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
	background_stop(&late->thread);
	close(late->office);
	free(late);
}
