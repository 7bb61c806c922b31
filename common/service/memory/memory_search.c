/* SPDX-License-Identifier: ISC */
/* Lists by likeness, by words, by time and by links, and fusing two of them. */
#include "service/memory/memory_request.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FUSION_K 60.0    /* the constant of reciprocal rank fusion */
#define FUSION_DEPTH 200 /* ranks of each list that count */
#define HALF_LIFE_US (7 * 24 * 3600 * 1e6)
#define LINK_STEPS 2
#define LINK_FACTOR 0.5
#define LINKS_EACH 50 /* most links that are followed from one memory */

struct finding {
	struct memory_set *store;
	const struct storage_context *ctx;
	struct embedding *embedding;
	const struct memory_request *rq;
	struct error *err;
};

static int memory_search_best_first(const void *a, const void *b)
{
	const struct memory_hit *x = a, *y = b;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->row < y->row) - (x->row > y->row);
}

static void memory_search_sort(struct memory_hits *hits)
{
	qsort(hits->items, hits->count, sizeof(*hits->items), memory_search_best_first);
}

/* Scales the scores so that the best is 1. */
static void memory_search_scale(struct memory_hits *hits)
{
	double best = hits->count ? hits->items[0].score : 0;
	for (size_t i = 0; i < hits->count; i++)
		hits->items[i].score = best > 0 ? hits->items[i].score / best : 1;
}

/* ---- the lists ---- */

static bool memory_search_by_similarity(struct finding *f, struct memory_hits *hits)
{
	const struct memory_request *rq = f->rq;
	float *vector = embed_query(f->embedding, rq->query, f->err);
	bool ok = vector &&
	    f->store->ops->similar(f->store, f->ctx, &rq->filter, vector, rq->metric, hits, f->err);
	free(vector);
	return ok;
}

static bool memory_search_by_relevance(struct finding *f, struct memory_hits *hits)
{
	const struct memory_request *rq = f->rq;
	if (!f->store->ops->matching(f->store, f->ctx, &rq->filter, rq->query, hits, f->err))
		return false;
	memory_search_scale(hits);
	return true;
}

static bool memory_search_by_time(struct finding *f, struct memory_hits *hits)
{
	int64_t now = clock_now();
	if (!f->store->ops->recent(f->store, f->ctx, &f->rq->filter, hits, f->err))
		return false;
	for (size_t i = 0; i < hits->count; i++) {
		double age = (double)(now - hits->items[i].created_at);
		hits->items[i].score = exp2(-(age > 0 ? age : 0) / HALF_LIFE_US);
	}
	/* memories of the same moment may have come in another order than that of their rows */
	memory_search_sort(hits);
	return true;
}

/* ---- both at once ---- */

static struct memory_hit *memory_search_find(struct memory_hits *hits, int64_t row)
{
	for (size_t i = 0; i < hits->count; i++)
		if (hits->items[i].row == row)
			return &hits->items[i];
	return NULL;
}

static void memory_search_fuse(struct memory_hits *into, const struct memory_hits *list)
{
	for (size_t i = 0; i < list->count; i++) {
		double share = 1 / (FUSION_K + (double)(i + 1));
		struct memory_hit *hit = memory_search_find(into, list->items[i].row);
		if (hit)
			hit->score += share;
		else
			into->items[into->count++] =
			    (struct memory_hit){list->items[i].row, 0, share};
	}
}

static bool memory_search_by_both(struct finding *f, struct memory_hits *hits)
{
	struct memory_hits list = {
	    .items = xmalloc(FUSION_DEPTH * sizeof(*list.items)), .limit = FUSION_DEPTH};
	hits->limit = MEMORY_FOUND_MOST;
	bool ok = memory_search_by_similarity(f, &list);
	if (!ok && f->err->kind == ERR_STORE_UNAVAILABLE) {
		/* the query gets no vector: the words alone have to do, which is better than no
		 * answer */
		log_warning("hybrid search goes by words alone: %s", error_why(f->err));
		error_release(f->err);
		list.count = 0;
		ok = true;
	}
	if (ok) {
		memory_search_fuse(hits, &list);
		ok = memory_search_by_relevance(f, &list);
	}
	if (ok) {
		memory_search_fuse(hits, &list);
		memory_search_sort(hits);
		memory_search_scale(hits);
	}
	free(list.items);
	return ok;
}

/* ---- along links ---- */

/* Adds what one memory is linked with, or raises its score. */
static bool memory_search_follow(
    struct finding *f, struct memory_hit from, struct memory_hits *hits)
{
	struct memory_hit items[LINKS_EACH];
	struct memory_hits linked = {.items = items, .limit = LINKS_EACH};
	if (!f->store->ops->linked(f->store, f->ctx, &f->rq->filter, from.row, &linked, f->err))
		return false;
	for (size_t i = 0; i < linked.count; i++) {
		double score = from.score * LINK_FACTOR;
		struct memory_hit *hit = memory_search_find(hits, items[i].row);
		if (hit && hit->score < score)
			hit->score = score;
		else if (!hit && hits->count < hits->limit)
			hits->items[hits->count++] = (struct memory_hit){items[i].row, 0, score};
	}
	return true;
}

/* Each step follows the links of the memories that were there before it, with the scores that they
 * had then. */
static bool memory_search_by_links(struct finding *f, struct memory_hits *hits)
{
	if (!memory_search_by_both(f, hits))
		return false;
	if (hits->count > (size_t)f->rq->limit)
		hits->count = (size_t)f->rq->limit;
	struct memory_hit *before = xmalloc(MEMORY_FOUND_MOST * sizeof(*before));
	bool ok = true;
	for (int step = 0; ok && step < LINK_STEPS; step++) {
		size_t count = hits->count;
		memcpy(before, hits->items, count * sizeof(*before));
		for (size_t i = 0; ok && i < count; i++)
			ok = memory_search_follow(f, before[i], hits);
	}
	free(before);
	memory_search_sort(hits);
	return ok;
}

bool memory_find(struct memory_set *st, const struct storage_context *ctx, struct embedding *e,
    const struct memory_request *rq, struct memory_hits *hits, struct error *err)
{
	struct finding f = {.store = st, .ctx = ctx, .embedding = e, .rq = rq, .err = err};
	hits->limit = (size_t)rq->limit;
	hits->count = 0;
	switch (rq->strategy) {
	case STRATEGY_SIMILARITY:
		return memory_search_by_similarity(&f, hits);
	case STRATEGY_TEMPORAL:
		return memory_search_by_time(&f, hits);
	case STRATEGY_RELEVANCE:
		return memory_search_by_relevance(&f, hits);
	case STRATEGY_HYBRID:
		return memory_search_by_both(&f, hits);
	case STRATEGY_GRAPH:
		return memory_search_by_links(&f, hits);
	}
	return false;
}
