/* SPDX-License-Identifier: ISC */
/* The threads that take the branches of a region, one after another, and the calls they ask for. */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "graph/region/region.h"
#include "graph/region/region_branch.h"

#include <stdatomic.h>
#include <stdlib.h>

/* As that of the threads that serve requests: a node may be any C function. */
#define STACK_SIZE (1 << 20)

static atomic_int region_threads; /* of all runs of the process */

static void branch_free_arena(void *arena)
{
	arena_free(arena);
}

static void *region_work(void *arg)
{
	struct region *region = arg;
	struct run_side *side = region->parent->side;
	log_request(region->ids.request);
	log_run(region->ids.run);
	pthread_mutex_lock(&side->lock);
	while (region->next < region->count) {
		struct branch *b = &region->items[region->next++];
		b->arena = arena_new();
		arena_defer(region->parent->setup.arena, branch_free_arena, b->arena);
		pthread_mutex_unlock(&side->lock);
		b->verdict = region->walk(b);
		if (b->verdict == AT_END)
			branch_keep(b);
		pthread_mutex_lock(&side->lock);
		if (b->verdict == FAILED || b->verdict == WAS_STOPPED)
			region->over = true;
	}
	pthread_mutex_unlock(&side->lock);
	return NULL;
}

/* Takes the right to another thread, of the run's and of the process's. */
static bool region_take_thread(struct run_side *side)
{
	bool taken = false;
	pthread_mutex_lock(&side->lock);
	if (side->threads + 1 < side->parallel) {
		taken = atomic_fetch_add(&region_threads, 1) < REGION_THREADS;
		if (taken)
			side->threads++;
		else
			atomic_fetch_sub(&region_threads, 1);
	}
	pthread_mutex_unlock(&side->lock);
	return taken;
}

static void region_give_thread(struct run_side *side)
{
	pthread_mutex_lock(&side->lock);
	side->threads--;
	pthread_mutex_unlock(&side->lock);
	atomic_fetch_sub(&region_threads, 1);
}

static void *region_thread(void *arg)
{
	struct region *region = arg;
	region_work(region);
	region_give_thread(region->parent->side);
	return NULL;
}

void region_work_together(struct region *region, enum verdict (*walk)(struct branch *b))
{
	struct run_side *side = region->parent->side;
	size_t limit = region->edge->limit ? (size_t)region->edge->limit : region->count;
	size_t most = limit < region->count ? limit : region->count, started = 0;
	pthread_t *threads = xcalloc(most, sizeof(*threads));
	pthread_attr_t attr;
	region->walk = walk;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	while (started + 1 < most && region_take_thread(side)) {
		if (pthread_create(&threads[started], &attr, region_thread, region) != 0) {
			region_give_thread(side);
			break;
		}
		started++;
	}
	pthread_attr_destroy(&attr);
	region_work(region);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

bool region_claim_call(struct run_side *side, const char *id)
{
	pthread_mutex_lock(&side->lock);
	bool is_new = !json_has_str(side->calls, id);
	if (is_new)
		cJSON_AddItemToArray(side->calls, cJSON_CreateString(id));
	pthread_mutex_unlock(&side->lock);
	return is_new;
}
