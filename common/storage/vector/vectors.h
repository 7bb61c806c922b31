/* SPDX-License-Identifier: ISC */
/*
 * Arithmetic on vectors of floats, with the widest instructions that the processor has.
 */
#ifndef AGENTGRAPH_STORAGE_VECTOR_VECTORS_H
#define AGENTGRAPH_STORAGE_VECTOR_VECTORS_H

#include <stddef.h>
#include <stdint.h>

enum vector_metric { METRIC_COSINE, METRIC_EUCLIDEAN, METRIC_DOT_PRODUCT, METRIC_MANHATTAN };

/* Vectors are padded with zeroes to a multiple of this, so that no loop has a remainder. */
#define VECTOR_LANES 16

static inline size_t vector_padded(size_t dimension)
{
	return (dimension + VECTOR_LANES - 1) / VECTOR_LANES * VECTOR_LANES;
}

/* Functions on two padded vectors of n numbers. */
struct vector_kernels {
	float (*dot)(const float *a, const float *b, size_t n);
	float (*squared_distance)(const float *a, const float *b, size_t n);
	float (*manhattan)(const float *a, const float *b, size_t n);
	/*
	 * Sums table entries over 32 vectors at once: groups (an even number) of 16 bytes each hold
	 * a half-byte for every vector, vector i and i + 16 in byte i; tables has 16 entries for
	 * each group.
	 */
	void (*sum32)(
	    const uint8_t *codes, const uint8_t *tables, size_t groups, uint16_t sums[32]);
};

/* The best set that this processor runs, and all of them, the plainest first, for tests. */
const struct vector_kernels *vector_kernels(void);
size_t vector_kernels_all(const struct vector_kernels *sets[3]);

/*
 * How near two vectors are, from 0 to 1 (doc/protocol-store.md#search-strategies): cosine
 * (1 + c) / 2, dot_product the logistic function of the product, distances 1 / (1 + d).  rank
 * orders in the same way: the cosine, the product, minus the squared Euclidean distance, minus the
 * Manhattan distance.
 */
double vector_similarity(enum vector_metric metric, float rank);

/* The rank of a padded vector of n numbers for a query. */
float vector_rank(enum vector_metric metric, const float *vector, const float *query, size_t n);

#endif
