/* SPDX-License-Identifier: ISC */
/*
 * Sketches: one bit for each number of a vector, by which a product can be estimated at a thirtieth
 * of the cost.
 *
 * A vector, less the centre of all, is turned by a fixed random rotation and keeps only the signs.
 * The estimate of its product with a query is unbiased, and its error is known (RaBitQ, Gao and
 * Long, 2024), so that a search can tell which vectors it must look at in full.
 */
#ifndef AGENTGRAPH_STORAGE_VECTOR_VECTOR_SKETCH_H
#define AGENTGRAPH_STORAGE_VECTOR_VECTOR_SKETCH_H

#include <stddef.h>
#include <stdint.h>

/* Signs in a sketch of vectors with that many numbers: a power of two.
 * Four of them make a group. */
size_t sketch_signs(size_t padded);

static inline size_t sketch_groups(size_t padded)
{
	return sketch_signs(padded) / 4;
}

/* Turns a padded vector; out has room for sketch_signs numbers. */
void sketch_rotate(const float *vector, size_t padded, float *out);

/*
 * The sketch of a rotated vector: writes its half-bytes at place slot of a block, and returns the
 * factor that estimates are multiplied with.
 */
float sketch_make(const float *rotated, size_t signs, size_t slot, uint8_t *block);

/* A query, prepared for estimating. */
struct sketch_query {
	uint8_t *tables;  /* as sum32 takes them */
	float unit, base; /* a sum is worth unit * sum + base */
	float error;      /* of an estimate with factor 1, one standard deviation */
};

/* Prepares a query, from which the centre was subtracted, padded; release frees it. */
void sketch_query_init(struct sketch_query *q, const float *vector, size_t padded);
void sketch_query_release(struct sketch_query *q);

#endif
