/* SPDX-License-Identifier: ISC */
/* Keeping the best hits in a heap, over all vectors or those that sketches let through. */
#include "storage/vector/vector_search.h"

#include "base/memory.h"
#include "storage/vector/vector_sketch.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Bytes of vectors that are compared in full in some 20 ms. */
#define EXACT_BYTES (192u << 20)

/* Estimates are trusted up to so many standard deviations: more finds more of the nearest and looks
 * at more vectors. */
#define TRUST 2.2f

/* So many of the best estimates are looked at first, for each hit that is wanted and in all. */
#define FIRST_EACH 8
#define FIRST_LEAST 256

/* ---- sets of rows ---- */

void row_set_init(struct row_set *set, size_t capacity)
{
	set->size = 16;
	while (set->size < 2 * capacity)
		set->size *= 2;
	set->slots = xcalloc(set->size, sizeof(*set->slots));
}

void row_set_release(struct row_set *set)
{
	free(set->slots);
}

static size_t vector_search_place(const struct row_set *set, int64_t row)
{
	size_t i = (size_t)(((uint64_t)row * 0x9e3779b97f4a7c15u) >> 20) & (set->size - 1);
	while (set->slots[i] && set->slots[i] != row)
		i = (i + 1) & (set->size - 1);
	return i;
}

void row_set_add(struct row_set *set, int64_t row)
{
	set->slots[vector_search_place(set, row)] = row;
}

/* ---- the best so far: a heap with the worst of them on top ---- */

struct best {
	struct vector_hit *hits;
	size_t count, limit;
};

static bool vector_hit_worse(const struct vector_hit *a, const struct vector_hit *b)
{
	return a->rank < b->rank || (a->rank == b->rank && a->row < b->row);
}

static void vector_hit_swap(struct vector_hit *a, struct vector_hit *b)
{
	struct vector_hit t = *a;
	*a = *b;
	*b = t;
}

/* Lets the first hit, which is new, sink to its place in the heap. */
static void vector_search_sink(struct best *b)
{
	for (size_t i = 0;;) {
		size_t least = i;
		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < b->count && vector_hit_worse(&b->hits[child], &b->hits[least]))
				least = child;
		if (least == i)
			return;
		vector_hit_swap(&b->hits[i], &b->hits[least]);
		i = least;
	}
}

static void vector_search_offer(struct best *b, const struct vector_hit *hit)
{
	if (b->count < b->limit) {
		size_t i = b->count++;
		b->hits[i] = *hit;
		for (; i > 0 && vector_hit_worse(&b->hits[i], &b->hits[(i - 1) / 2]);
		     i = (i - 1) / 2)
			vector_hit_swap(&b->hits[i], &b->hits[(i - 1) / 2]);
	} else if (vector_hit_worse(&b->hits[0], hit)) {
		b->hits[0] = *hit;
		vector_search_sink(b);
	}
}

static int vector_search_best_first(const void *a, const void *b)
{
	return vector_hit_worse(b, a) ? -1 : vector_hit_worse(a, b);
}

/* The rank that a hit must have to be among the best. */
static float vector_search_bar(const struct best *b)
{
	return b->count < b->limit ? -INFINITY : b->hits[0].rank;
}

/* ---- looking ---- */

struct scan {
	struct vector_file *file;
	const struct vector_query *query;
	const struct vector_kernels *kernels;
	size_t padded;
	uint64_t count; /* slots that there were when it began */
	float norm;     /* of the query */
	struct best best;
};

static bool vector_search_wants(
    const struct scan *s, const struct vector_chunk *c, size_t at, int64_t row)
{
	const struct vector_query *q = s->query;
	return row && (!q->owner || c->owners[at] == q->owner) &&
	    (!q->thread || c->threads[at] == q->thread) &&
	    (!q->only || q->only->slots[vector_search_place(q->only, row)] == row);
}

/* The rank by a product, or an estimate of it. */
static float vector_search_rank_of(const struct scan *s, float product, float norm)
{
	switch (s->query->metric) {
	case METRIC_COSINE:
		return norm > 0 && s->norm > 0 ? product / (norm * s->norm) : 0;
	case METRIC_EUCLIDEAN:
		return 2 * product - norm * norm - s->norm * s->norm;
	case METRIC_DOT_PRODUCT:
	case METRIC_MANHATTAN:
		break;
	}
	return product;
}

/* Compares one vector.  Its slot may be emptied, and filled with another row, meanwhile. */
static void vector_search_look(struct scan *s, const struct vector_chunk *c, size_t at, int64_t row)
{
	const float *vector = c->vectors + at * s->padded, *query = s->query->vector;
	struct vector_hit hit = {.row = row};
	switch (s->query->metric) {
	case METRIC_EUCLIDEAN:
		hit.rank = -s->kernels->squared_distance(vector, query, s->padded);
		break;
	case METRIC_MANHATTAN:
		hit.rank = -s->kernels->manhattan(vector, query, s->padded);
		break;
	case METRIC_COSINE:
	case METRIC_DOT_PRODUCT:
		hit.rank = vector_search_rank_of(
		    s, s->kernels->dot(vector, query, s->padded), c->norms[at]);
		break;
	}
	if (atomic_load_explicit(&c->rows[at], memory_order_acquire) == row)
		vector_search_offer(&s->best, &hit);
}

static size_t vector_search_slots(const struct scan *s, size_t chunk)
{
	uint64_t left = s->count - (uint64_t)chunk * CHUNK_SLOTS;
	return left < CHUNK_SLOTS ? (size_t)left : CHUNK_SLOTS;
}

static size_t vector_search_chunks(const struct scan *s)
{
	return (size_t)((s->count + CHUNK_SLOTS - 1) / CHUNK_SLOTS);
}

static int64_t vector_search_row_at(const struct vector_chunk *c, size_t at)
{
	return atomic_load_explicit(&c->rows[at], memory_order_acquire);
}

static bool vector_search_all(struct scan *s, struct error *err)
{
	struct vector_chunk c;
	for (size_t i = 0; i < vector_search_chunks(s); i++) {
		if (!vector_file_chunk(s->file, i, &c, err))
			return false;
		for (size_t at = 0; at < vector_search_slots(s, i); at++) {
			int64_t row = vector_search_row_at(&c, at);
			if (vector_search_wants(s, &c, at, row))
				vector_search_look(s, &c, at, row);
		}
	}
	return true;
}

/* ---- with sketches ---- */

struct estimate {
	struct sketch_query query; /* of the query less along times the centre */
	float along;
	float product; /* of query and centre */
	float *bounds; /* the rank that each slot has at most; -INFINITY: not wanted */
	size_t size;   /* slots that bounds has room for */
	struct best first;
};

/* The loops are plain and of fixed length: compilers make vectors of them. */
static void vector_search_products(const struct estimate *e, const struct vector_chunk *c,
    size_t start, const uint16_t sums[BLOCK_SLOTS], float out[BLOCK_SLOTS])
{
	const float *restrict bases = c->bases + start, *restrict scales = c->scales + start;
	const float unit = e->query.unit, product = e->product, along = e->along,
		    base = e->query.base + TRUST * e->query.error;
	for (size_t i = 0; i < BLOCK_SLOTS; i++)
		out[i] = product + along * bases[i] + scales[i] * (unit * (float)sums[i] + base);
}

static void vector_search_estimate_block(
    struct scan *s, struct estimate *e, const struct vector_chunk *c, size_t chunk, size_t block)
{
	size_t groups = sketch_groups(s->padded), start = block * BLOCK_SLOTS;
	float *bounds = e->bounds + chunk * CHUNK_SLOTS + start, products[BLOCK_SLOTS];
	uint16_t sums[BLOCK_SLOTS];
	uint32_t set = 0; /* a bit for each that is wanted */
	size_t left = vector_search_slots(s, chunk) - start;
	for (size_t i = 0; i < BLOCK_SLOTS && i < left; i++)
		set |= (uint32_t)vector_search_wants(
			   s, c, start + i, vector_search_row_at(c, start + i))
		    << i;
	if (set) {
		s->kernels->sum32(c->sketches + block * groups * 16, e->query.tables, groups, sums);
		vector_search_products(e, c, start, sums, products);
	}
	for (size_t i = 0; i < BLOCK_SLOTS; i++, set >>= 1) {
		bounds[i] = set & 1 ? vector_search_rank_of(s, products[i], c->norms[start + i])
				    : -INFINITY;
		if (bounds[i] > vector_search_bar(&e->first))
			vector_search_offer(&e->first,
			    &(struct vector_hit){
				(int64_t)(chunk * CHUNK_SLOTS + start + i), bounds[i]});
	}
}

static bool vector_search_estimate(struct scan *s, struct estimate *e, struct error *err)
{
	struct vector_chunk c;
	for (size_t i = 0; i < vector_search_chunks(s); i++) {
		if (!vector_file_chunk(s->file, i, &c, err))
			return false;
		for (size_t block = 0; block * BLOCK_SLOTS < vector_search_slots(s, i); block++)
			vector_search_estimate_block(s, e, &c, i, block);
	}
	return true;
}

/* Compares the vector of a slot, unless that was done already. */
static bool vector_search_once(struct scan *s, struct estimate *e, uint64_t slot, struct error *err)
{
	struct vector_chunk c;
	size_t at = slot % CHUNK_SLOTS;
	if (!vector_file_chunk(s->file, slot / CHUNK_SLOTS, &c, err))
		return false;
	int64_t row = vector_search_row_at(&c, at);
	e->bounds[slot] = -INFINITY;
	if (vector_search_wants(s, &c, at, row))
		vector_search_look(s, &c, at, row);
	return true;
}

/* Compares the vectors with the best estimates, which set the bar, and then all that may be above
 * it. */
static bool vector_search_best(struct scan *s, struct estimate *e, struct error *err)
{
	for (size_t i = 0; i < e->first.count; i++)
		if (!vector_search_once(s, e, (uint64_t)e->first.hits[i].row, err))
			return false;
	for (uint64_t slot = 0; slot < s->count; slot++)
		if (e->bounds[slot] > vector_search_bar(&s->best) &&
		    !vector_search_once(s, e, slot, err))
			return false;
	return true;
}

/* Some MB that are kept for the next search: fresh memory would cost more than the search
 * itself. */
struct spare {
	float *bounds;
	size_t size;
};

static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct spare spare; /* guarded by spare_lock */

static void spare_take(struct estimate *e, size_t size)
{
	pthread_mutex_lock(&spare_lock);
	struct spare had = spare;
	spare = (struct spare){0};
	pthread_mutex_unlock(&spare_lock);
	if (had.size < size) {
		free(had.bounds);
		had = (struct spare){xmalloc(size * sizeof(*had.bounds)), size};
	}
	e->bounds = had.bounds;
	e->size = had.size;
}

static void spare_give(const struct estimate *e)
{
	pthread_mutex_lock(&spare_lock);
	float *had = spare.bounds;
	spare = (struct spare){e->bounds, e->size};
	pthread_mutex_unlock(&spare_lock);
	free(had);
}

/* Searches by sketches, which are made when they are first needed. */
static bool vector_search_by_sketches(struct scan *s, struct error *err)
{
	struct estimate e = {0};
	if (!vector_file_sketch(s->file, s->count, err))
		return false;
	/* what the query has in common with the centre is known without an estimate */
	const float *centre = vector_file_centre(s->file);
	float length = s->kernels->dot(centre, centre, s->padded);
	float *rest = xmalloc(s->padded * sizeof(*rest));
	e.product = s->kernels->dot(centre, s->query->vector, s->padded);
	e.along = length > 0 ? e.product / length : 0;
	for (size_t i = 0; i < s->padded; i++)
		rest[i] = s->query->vector[i] - e.along * centre[i];
	sketch_query_init(&e.query, rest, s->padded);
	free(rest);
	spare_take(&e, vector_search_chunks(s) * CHUNK_SLOTS);
	e.first.limit = s->best.limit * FIRST_EACH + FIRST_LEAST;
	e.first.hits = xmalloc(e.first.limit * sizeof(*e.first.hits));
	bool ok = vector_search_estimate(s, &e, err) && vector_search_best(s, &e, err);
	sketch_query_release(&e.query);
	free(e.first.hits);
	spare_give(&e);
	return ok;
}

/* ---- which of both ---- */

/* Whether there are too many vectors to compare all of them. */
static bool vector_search_needs_sketches(struct scan *s, bool *needed, struct error *err)
{
	uint64_t most = EXACT_BYTES / (s->padded * sizeof(float)), found = 0;
	struct vector_chunk c;
	*needed = false;
	if (s->query->exact || s->query->metric == METRIC_MANHATTAN || s->count <= most)
		return true;
	for (size_t i = 0; i < vector_search_chunks(s) && found <= most; i++) {
		if (!vector_file_chunk(s->file, i, &c, err))
			return false;
		for (size_t at = 0; at < vector_search_slots(s, i); at++)
			found += vector_search_wants(s, &c, at, vector_search_row_at(&c, at));
	}
	*needed = found > most;
	return true;
}

bool vector_search(struct vector_file *f, const struct vector_query *query, struct vector_hit *hits,
    size_t *count, struct error *err)
{
	struct scan s = {
	    .file = f,
	    .query = query,
	    .kernels = vector_kernels(),
	    .padded = vector_file_padded(f),
	    .count = vector_file_count(f),
	    .best = {hits, 0, query->limit},
	};
	bool sketched;
	s.norm = sqrtf(s.kernels->dot(query->vector, query->vector, s.padded));
	*count = 0;
	if (query->limit == 0)
		return true;
	if (!vector_search_needs_sketches(&s, &sketched, err))
		return false;
	if (!(sketched ? vector_search_by_sketches(&s, err) : vector_search_all(&s, err)))
		return false;
	*count = s.best.count;
	qsort(hits, s.best.count, sizeof(*hits), vector_search_best_first);
	return true;
}
