/* SPDX-License-Identifier: ISC */
/*
 * Finding the nearest vectors in a file.
 *
 * A few vectors are all compared.  Where that would take longer than some 20 ms, sketches first say
 * which of them can be among the nearest, and only those are compared; because of the sketches'
 * error a small part of the answer may be missed (t/bench/store.sh measures it).  Manhattan
 * distance is always looked at in full, because products say nothing of it.
 */
#ifndef AGENTGRAPH_STORAGE_VECTOR_VECTOR_SEARCH_H
#define AGENTGRAPH_STORAGE_VECTOR_VECTOR_SEARCH_H

#include "storage/vector/vector_file.h"
#include "storage/vector/vectors.h"

/* A set of rows. */
struct row_set {
	int64_t *slots; /* 0: free */
	size_t size;    /* a power of two */
};

/* An empty set with room for capacity rows; more must not be added. */
void row_set_init(struct row_set *set, size_t capacity);
void row_set_release(struct row_set *set);
void row_set_add(struct row_set *set, int64_t row);

struct vector_query {
	const float *vector; /* padded */
	enum vector_metric metric;
	uint64_t owner, thread;     /* 0: any */
	const struct row_set *only; /* NULL: any */
	size_t limit;
	bool exact; /* no sketches, whatever it takes */
};

struct vector_hit {
	int64_t row;
	float rank; /* see vector_similarity */
};

/* Fills hits, which has room for limit, best first, ties with the higher row first. */
bool vector_search(struct vector_file *f, const struct vector_query *query, struct vector_hit *hits,
    size_t *count, struct error *err);

#endif
