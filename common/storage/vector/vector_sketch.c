/* SPDX-License-Identifier: ISC */
/* The rotation, the code of a vector, and the tables of a query. */
#include "storage/vector/vector_sketch.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 2 /* one leaves traces of a vector that is mostly zeroes */

/* What of a vector's length a sketch with random signs misses, for the error of an estimate:
 * sqrt(1 - 2 / pi) over the square root of the number of signs cancels against the factor. */
#define SPREAD 0.6028f

size_t sketch_signs(size_t padded)
{
	size_t signs = 16;
	while (signs < padded)
		signs *= 2;
	return signs;
}

static void vector_sketch_flip(float *x, size_t n, size_t round)
{
	for (size_t i = 0; i < n; i += 64) {
		uint64_t bits = (round << 32 | i) + 0x9e3779b97f4a7c15u; /* splitmix64 */
		bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
		bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
		bits ^= bits >> 31;
		for (size_t k = 0; k < 64 && i + k < n; k++)
			x[i + k] = bits >> k & 1 ? -x[i + k] : x[i + k];
	}
}

/* The Walsh-Hadamard transform. */
static void vector_sketch_transform(float *x, size_t n)
{
	for (size_t half = 1; half < n; half *= 2)
		for (size_t i = 0; i < n; i += 2 * half)
			for (size_t k = i; k < i + half; k++) {
				float a = x[k], b = x[k + half];
				x[k] = a + b;
				x[k + half] = a - b;
			}
}

void sketch_rotate(const float *vector, size_t padded, float *out)
{
	size_t n = sketch_signs(padded);
	float unit = 1;
	memcpy(out, vector, padded * sizeof(*out));
	memset(out + padded, 0, (n - padded) * sizeof(*out));
	for (size_t round = 1; round <= ROUNDS; round++) {
		vector_sketch_flip(out, n, round);
		vector_sketch_transform(out, n);
		unit /= sqrtf((float)n);
	}
	for (size_t i = 0; i < n; i++)
		out[i] *= unit;
}

float sketch_make(const float *rotated, size_t signs, size_t slot, uint8_t *block)
{
	float squares = 0, total = 0;
	for (size_t g = 0; g < signs / 4; g++) {
		unsigned code = 0;
		for (unsigned k = 0; k < 4; k++) {
			float x = rotated[4 * g + k];
			code |= (unsigned)(x > 0) << k;
			squares += x * x;
			total += fabsf(x);
		}
		uint8_t *byte = block + 16 * g + slot % 16;
		*byte = (uint8_t)(slot < 16 ? (*byte & 0xf0) | code : (*byte & 15) | code << 4);
	}
	return total > 0 ? squares / total : 0;
}

/* The sum of four numbers under the signs that a code stands for. */
static float sketch_signed_sum(const float *x, unsigned code)
{
	float sum = 0;
	for (unsigned k = 0; k < 4; k++)
		sum += code >> k & 1 ? x[k] : -x[k];
	return sum;
}

static float sketch_absolute_sum(const float *x)
{
	return fabsf(x[0]) + fabsf(x[1]) + fabsf(x[2]) + fabsf(x[3]);
}

void sketch_query_init(struct sketch_query *q, const float *vector, size_t padded)
{
	size_t signs = sketch_signs(padded), groups = signs / 4;
	float *x = xmalloc(signs * sizeof(*x));
	float widest = 0, squares = 0;
	/* the sum of all groups must fit into 16 bits */
	size_t levels = UINT16_MAX / groups < UINT8_MAX ? UINT16_MAX / groups : UINT8_MAX;
	sketch_rotate(vector, padded, x);
	for (size_t i = 0; i < signs; i++)
		squares += x[i] * x[i];
	for (size_t g = 0; g < groups; g++)
		widest = fmaxf(widest, 2 * sketch_absolute_sum(x + 4 * g));
	*q = (struct sketch_query){.tables = xmalloc(groups * 16)};
	q->unit = widest > 0 ? widest / (float)levels : 1;
	for (size_t g = 0; g < groups; g++) {
		float least = -sketch_absolute_sum(x + 4 * g);
		q->base += least;
		for (unsigned code = 0; code < 16; code++)
			q->tables[16 * g + code] =
			    (uint8_t)lrintf((sketch_signed_sum(x + 4 * g, code) - least) / q->unit);
	}
	q->error = sqrtf(SPREAD * SPREAD * squares + q->unit * q->unit * (float)groups / 12);
	free(x);
}

void sketch_query_release(struct sketch_query *q)
{
	free(q->tables);
}
