/* SPDX-License-Identifier: ISC */
/* The owners that one process keeps, latest first, and the lookups in cache and database. */
#include "access/owner_cache.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "base/os/shared.h"
#include "storage/threads.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define LONGEST 1024 /* bytes; a longer id or owner is not kept */

#define GENERATIONS 65536u

/* The layout of the region SHARED_OWNERS. */
struct generations {
	struct shared_head head;
	_Atomic uint32_t of[GENERATIONS]; /* by hash of the id; 0: nothing was deleted */
};

_Static_assert(sizeof(struct generations) <= SHARED_OWNERS_SIZE, "SHARED_OWNERS is too small");

struct owned {
	TAILQ_ENTRY(owned) link;
	char *thread_id;
	char *owner;
	uint32_t generation;
};

TAILQ_HEAD(entries, owned);

struct owner_cache {
	struct storage *storage;
	struct cache *cache;
	struct generations *generations;

	pthread_mutex_t lock;  /* guards what follows */
	void *tree;            /* entries by id: a tree, so that no choice of ids makes it slow */
	struct entries recent; /* the same entries, the latest asked for first */
	size_t count;
};

static _Atomic uint32_t *owner_cache_generation_of(
    struct owner_cache *owners, const char *thread_id)
{
	uint32_t hash = hash_text_32(thread_id);
	return &owners->generations->of[(hash ^ hash >> 16) % GENERATIONS];
}

/* ---- this process ---- */

static int owner_cache_by_id(const void *left, const void *right)
{
	const struct owned *a = left, *b = right;
	return strcmp(a->thread_id, b->thread_id);
}

static struct owned *owner_cache_find(struct owner_cache *owners, const char *thread_id)
{
	const struct owned key = {.thread_id = (char *)thread_id};
	struct owned **found = tfind(&key, &owners->tree, owner_cache_by_id);
	return found ? *found : NULL;
}

static void owner_cache_drop(struct owner_cache *owners, struct owned *entry)
{
	tdelete(entry, &owners->tree, owner_cache_by_id);
	TAILQ_REMOVE(&owners->recent, entry, link);
	owners->count--;
	free(entry->thread_id);
	free(entry->owner);
	free(entry);
}

static const char *owner_cache_recall(
    struct owner_cache *owners, const char *thread_id, uint32_t generation, struct arena *a)
{
	const char *owner = NULL;
	pthread_mutex_lock(&owners->lock);
	struct owned *entry = owner_cache_find(owners, thread_id);
	if (entry && entry->generation == generation) {
		owner = arena_strdup(a, entry->owner);
		TAILQ_REMOVE(&owners->recent, entry, link);
		TAILQ_INSERT_HEAD(&owners->recent, entry, link);
	}
	pthread_mutex_unlock(&owners->lock);
	return owner;
}

static void owner_cache_keep(
    struct owner_cache *owners, const char *thread_id, const char *owner, uint32_t generation)
{
	if (strlen(thread_id) > LONGEST || strlen(owner) > LONGEST)
		return;
	pthread_mutex_lock(&owners->lock);
	struct owned *old = owner_cache_find(owners, thread_id);
	if (old)
		owner_cache_drop(owners, old);
	else if (owners->count == OWNER_CACHE_SIZE)
		owner_cache_drop(owners, TAILQ_LAST(&owners->recent, entries));
	struct owned *entry = xcalloc(1, sizeof(*entry));
	*entry = (struct owned){
	    .thread_id = xstrdup(thread_id), .owner = xstrdup(owner), .generation = generation};
	if (!tsearch(entry, &owners->tree, owner_cache_by_id))
		abort(); /* out of memory */
	TAILQ_INSERT_HEAD(&owners->recent, entry, link);
	owners->count++;
	pthread_mutex_unlock(&owners->lock);
}

/* ---- the shared cache ---- */

static const char *owner_cache_key_of(struct arena *a, const char *thread_id)
{
	return arena_printf(a, OWNER_KEY_PREFIX "%s", thread_id);
}

static const char *owner_cache_recall_shared(
    struct owner_cache *owners, const char *thread_id, uint32_t generation, struct arena *a)
{
	char *value;
	if (!owners->cache || generation != 0 ||
	    !cache_get(owners->cache, owner_cache_key_of(a, thread_id), &value))
		return NULL;
	const char *owner = value && *value ? arena_strdup(a, value) : NULL;
	free(value);
	return owner;
}

/* A thread that was deleted meanwhile must not stay there: whoever deleted it may have looked
 * before. */
static void owner_cache_keep_shared(struct owner_cache *owners, const char *thread_id,
    const char *owner, uint32_t generation, struct arena *a)
{
	_Atomic uint32_t *now = owner_cache_generation_of(owners, thread_id);
	if (!owners->cache || atomic_load(now) != generation)
		return;
	const char *key = owner_cache_key_of(a, thread_id);
	cache_set(owners->cache, key, owner);
	if (atomic_load(now) != generation)
		cache_delete(owners->cache, key);
}

/* ---- all of them ---- */

bool owner_cache_get(struct owner_cache *owners, const char *thread_id, struct arena *a,
    const char **owner, struct error *err)
{
	uint32_t generation = atomic_load(owner_cache_generation_of(owners, thread_id));
	*owner = owner_cache_recall(owners, thread_id, generation, a);
	if (*owner) {
		metrics_count(METRIC_OWNER_HITS, 1);
		return true;
	}
	*owner = owner_cache_recall_shared(owners, thread_id, generation, a);
	bool shared = *owner;
	metrics_count(shared ? METRIC_OWNER_SHARED_HITS : METRIC_OWNER_MISSES, 1);
	if (!shared &&
	    !owners->storage->threads->owner(owners->storage, NULL, a, thread_id, owner, err))
		return false;
	if (*owner && !shared)
		owner_cache_keep_shared(owners, thread_id, *owner, generation, a);
	if (*owner)
		owner_cache_keep(owners, thread_id, *owner, generation);
	return true;
}

bool owner_cache_ask(struct owner_cache *owners, const char *thread_id, const char *kept,
    struct arena *a, const char **owner, struct error *err)
{
	if (!owners->storage->threads->owner(owners->storage, NULL, a, thread_id, owner, err))
		return false;
	if (!*owner || strcmp(*owner, kept) != 0)
		owner_cache_evict(owners, thread_id);
	return true;
}

void owner_cache_evict(struct owner_cache *owners, const char *thread_id)
{
	atomic_fetch_add(owner_cache_generation_of(owners, thread_id), 1);
	pthread_mutex_lock(&owners->lock);
	struct owned *entry = owner_cache_find(owners, thread_id);
	if (entry)
		owner_cache_drop(owners, entry);
	pthread_mutex_unlock(&owners->lock);
	if (!owners->cache)
		return;
	struct arena *a = arena_new();
	cache_delete(owners->cache, owner_cache_key_of(a, thread_id));
	arena_free(a);
}

size_t owner_cache_count(struct owner_cache *owners)
{
	pthread_mutex_lock(&owners->lock);
	size_t count = owners->count;
	pthread_mutex_unlock(&owners->lock);
	return count;
}

struct owner_cache *owner_cache_new(
    struct storage *storage, struct shared *shared, struct cache *cache)
{
	struct owner_cache *owners = xcalloc(1, sizeof(*owners));
	owners->storage = storage;
	owners->cache = cache;
	owners->generations = shared_region(shared, SHARED_OWNERS);
	pthread_mutex_init(&owners->lock, NULL);
	TAILQ_INIT(&owners->recent);
	return owners;
}

void owner_cache_free(struct owner_cache *owners)
{
	if (!owners)
		return;
	while (!TAILQ_EMPTY(&owners->recent))
		owner_cache_drop(owners, TAILQ_FIRST(&owners->recent));
	pthread_mutex_destroy(&owners->lock);
	free(owners);
}
