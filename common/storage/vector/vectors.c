/* SPDX-License-Identifier: ISC */
/* Products and distances in plain C, SSE2 and AVX2, and choosing among them. */
#include "storage/vector/vectors.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- in plain C ---- */

static float dot_plain(const float *a, const float *b, size_t n)
{
	float sum[4] = {0};
	for (size_t i = 0; i < n; i += 4)
		for (size_t k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static float squared_plain(const float *a, const float *b, size_t n)
{
	float sum[4] = {0};
	for (size_t i = 0; i < n; i += 4)
		for (size_t k = 0; k < 4; k++) {
			float d = a[i + k] - b[i + k];
			sum[k] += d * d;
		}
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static float manhattan_plain(const float *a, const float *b, size_t n)
{
	float sum[4] = {0};
	for (size_t i = 0; i < n; i += 4)
		for (size_t k = 0; k < 4; k++)
			sum[k] += fabsf(a[i + k] - b[i + k]);
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void sum32_plain(
    const uint8_t *codes, const uint8_t *tables, size_t groups, uint16_t sums[32])
{
	memset(sums, 0, 32 * sizeof(sums[0]));
	for (size_t g = 0; g < groups; g++, codes += 16, tables += 16)
		for (size_t i = 0; i < 16; i++) {
			sums[i] = (uint16_t)(sums[i] + tables[codes[i] & 15]);
			sums[i + 16] = (uint16_t)(sums[i + 16] + tables[codes[i] >> 4]);
		}
}

static const struct vector_kernels plain = {dot_plain, squared_plain, manhattan_plain, sum32_plain};

#if defined(__x86_64__)

/* ---- SSE2, which every x86-64 has ---- */

static float total128(__m128 a)
{
	a = _mm_add_ps(a, _mm_movehl_ps(a, a));
	return _mm_cvtss_f32(_mm_add_ss(a, _mm_shuffle_ps(a, a, 1)));
}

static float dot_sse2(const float *a, const float *b, size_t n)
{
	__m128 s[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
	for (size_t i = 0; i < n; i += 16)
		for (size_t k = 0; k < 4; k++)
			s[k] = _mm_add_ps(s[k],
			    _mm_mul_ps(_mm_loadu_ps(a + i + 4 * k), _mm_loadu_ps(b + i + 4 * k)));
	return total128(_mm_add_ps(_mm_add_ps(s[0], s[1]), _mm_add_ps(s[2], s[3])));
}

static float squared_sse2(const float *a, const float *b, size_t n)
{
	__m128 s[2] = {_mm_setzero_ps(), _mm_setzero_ps()};
	for (size_t i = 0; i < n; i += 8)
		for (size_t k = 0; k < 2; k++) {
			__m128 d =
			    _mm_sub_ps(_mm_loadu_ps(a + i + 4 * k), _mm_loadu_ps(b + i + 4 * k));
			s[k] = _mm_add_ps(s[k], _mm_mul_ps(d, d));
		}
	return total128(_mm_add_ps(s[0], s[1]));
}

static float manhattan_sse2(const float *a, const float *b, size_t n)
{
	const __m128 sign = _mm_set1_ps(-0.0f);
	__m128 s[2] = {_mm_setzero_ps(), _mm_setzero_ps()};
	for (size_t i = 0; i < n; i += 8)
		for (size_t k = 0; k < 2; k++) {
			__m128 d =
			    _mm_sub_ps(_mm_loadu_ps(a + i + 4 * k), _mm_loadu_ps(b + i + 4 * k));
			s[k] = _mm_add_ps(s[k], _mm_andnot_ps(sign, d));
		}
	return total128(_mm_add_ps(s[0], s[1]));
}

static const struct vector_kernels sse2 = {dot_sse2, squared_sse2, manhattan_sse2, sum32_plain};

/* ---- AVX2 with FMA ---- */

#define AVX2 __attribute__((target("avx2,fma")))

AVX2 static float total256(__m256 a)
{
	__m128 low = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	low = _mm_add_ps(low, _mm_movehl_ps(low, low));
	return _mm_cvtss_f32(_mm_add_ss(low, _mm_shuffle_ps(low, low, 1)));
}

AVX2 static float dot_avx2(const float *a, const float *b, size_t n)
{
	__m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
	size_t i = 0;
	for (; i + 32 <= n; i += 32) {
		s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
		s1 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8), s1);
		s2 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 16), _mm256_loadu_ps(b + i + 16), s2);
		s3 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i + 24), _mm256_loadu_ps(b + i + 24), s3);
	}
	for (; i < n; i += 8)
		s0 = _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i), s0);
	return total256(_mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3)));
}

AVX2 static float squared_avx2(const float *a, const float *b, size_t n)
{
	__m256 s0 = _mm256_setzero_ps(), s1 = s0;
	for (size_t i = 0; i < n; i += 16) {
		__m256 d0 = _mm256_sub_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
		__m256 d1 = _mm256_sub_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8));
		s0 = _mm256_fmadd_ps(d0, d0, s0);
		s1 = _mm256_fmadd_ps(d1, d1, s1);
	}
	return total256(_mm256_add_ps(s0, s1));
}

AVX2 static float manhattan_avx2(const float *a, const float *b, size_t n)
{
	const __m256 sign = _mm256_set1_ps(-0.0f);
	__m256 s0 = _mm256_setzero_ps(), s1 = s0;
	for (size_t i = 0; i < n; i += 16) {
		__m256 d0 = _mm256_sub_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
		__m256 d1 = _mm256_sub_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8));
		s0 = _mm256_add_ps(s0, _mm256_andnot_ps(sign, d0));
		s1 = _mm256_add_ps(s1, _mm256_andnot_ps(sign, d1));
	}
	return total256(_mm256_add_ps(s0, s1));
}

/* Adds the two halves of even and odd sums and puts them in their order. */
AVX2 static void store16(uint16_t *out, __m256i even, __m256i odd)
{
	__m128i e = _mm_add_epi16(_mm256_castsi256_si128(even), _mm256_extracti128_si256(even, 1));
	__m128i o = _mm_add_epi16(_mm256_castsi256_si128(odd), _mm256_extracti128_si256(odd, 1));
	_mm_storeu_si128((__m128i *)out, _mm_unpacklo_epi16(e, o));
	_mm_storeu_si128((__m128i *)(out + 8), _mm_unpackhi_epi16(e, o));
}

/* Two groups at a time, one in each half of a register. */
AVX2 static void sum32_avx2(
    const uint8_t *codes, const uint8_t *tables, size_t groups, uint16_t sums[32])
{
	const __m256i half = _mm256_set1_epi8(15), low = _mm256_set1_epi16(255);
	__m256i even0 = _mm256_setzero_si256(), odd0 = even0, even1 = even0, odd1 = even0;
	for (size_t g = 0; g < groups; g += 2, codes += 32, tables += 32) {
		__m256i c = _mm256_loadu_si256((const __m256i *)codes);
		__m256i t = _mm256_loadu_si256((const __m256i *)tables);
		__m256i r0 = _mm256_shuffle_epi8(t, _mm256_and_si256(c, half));
		__m256i r1 =
		    _mm256_shuffle_epi8(t, _mm256_and_si256(_mm256_srli_epi16(c, 4), half));
		even0 = _mm256_add_epi16(even0, _mm256_and_si256(r0, low));
		odd0 = _mm256_add_epi16(odd0, _mm256_srli_epi16(r0, 8));
		even1 = _mm256_add_epi16(even1, _mm256_and_si256(r1, low));
		odd1 = _mm256_add_epi16(odd1, _mm256_srli_epi16(r1, 8));
	}
	store16(sums, even0, odd0);
	store16(sums + 16, even1, odd1);
}

static const struct vector_kernels avx2 = {dot_avx2, squared_avx2, manhattan_avx2, sum32_avx2};

size_t vector_kernels_all(const struct vector_kernels *sets[3])
{
	size_t count = 0;
	sets[count++] = &plain;
	sets[count++] = &sse2;
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		sets[count++] = &avx2;
	return count;
}

#else

size_t vector_kernels_all(const struct vector_kernels *sets[3])
{
	sets[0] = &plain;
	return 1;
}

#endif

const struct vector_kernels *vector_kernels(void)
{
	const struct vector_kernels *sets[3];
	size_t count = vector_kernels_all(sets);
	return sets[count - 1];
}

double vector_similarity(enum vector_metric metric, float rank)
{
	double r = rank;
	switch (metric) {
	case METRIC_COSINE:
		r = r > 1 ? 1 : r < -1 ? -1 : r;
		return (1 + r) / 2;
	case METRIC_DOT_PRODUCT:
		return 1 / (1 + exp(-r));
	case METRIC_EUCLIDEAN:
		return 1 / (1 + sqrt(-r > 0 ? -r : 0));
	case METRIC_MANHATTAN:
		return 1 / (1 + -r);
	}
	return 0;
}

float vector_rank(enum vector_metric metric, const float *vector, const float *query, size_t n)
{
	const struct vector_kernels *k = vector_kernels();
	float norms;
	switch (metric) {
	case METRIC_COSINE:
		norms = sqrtf(k->dot(vector, vector, n)) * sqrtf(k->dot(query, query, n));
		return norms > 0 ? k->dot(vector, query, n) / norms : 0;
	case METRIC_EUCLIDEAN:
		return -k->squared_distance(vector, query, n);
	case METRIC_MANHATTAN:
		return -k->manhattan(vector, query, n);
	case METRIC_DOT_PRODUCT:
		break;
	}
	return k->dot(vector, query, n);
}
