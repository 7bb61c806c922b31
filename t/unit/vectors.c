/* SPDX-License-Identifier: ISC */
/* Arithmetic on vectors, sketches, and the file of vectors that processes share. */
#include "base/os/clock.h"
#include "storage/vector/vector_search.h"
#include "storage/vector/vector_sketch.h"
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIMENSION 100
#define PADDED 112

static struct error err;
static uint64_t seed = 88172645463325252u;

static uint64_t random_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* A random direction, of length 1: the sum of four numbers that are equally likely is all but
 * normally distributed, and cheaper than a logarithm and a cosine. */
static void fill(float *v, size_t n)
{
	double squares = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t r = random_bits();
		v[i] = (float)(r & 0xffff) + (float)(r >> 16 & 0xffff) + (float)(r >> 32 & 0xffff) +
		    (float)(r >> 48) - 2 * 65535;
		squares += (double)v[i] * (double)v[i];
	}
	float length = (float)sqrt(squares);
	for (size_t i = 0; i < n; i++)
		v[i] /= length;
}

static void all_kernels_agree(void)
{
	const struct vector_kernels *sets[3];
	size_t count = vector_kernels_all(sets);
	float a[384], b[384];
	fill(a, 384);
	fill(b, 384);
	CU_ASSERT_TRUE(count >= 1);
	for (size_t i = 1; i < count; i++)
		for (size_t n = VECTOR_LANES; n <= 384; n += VECTOR_LANES) {
			CU_ASSERT_DOUBLE_EQUAL(sets[i]->dot(a, b, n), sets[0]->dot(a, b, n), 1e-5);
			CU_ASSERT_DOUBLE_EQUAL(sets[i]->squared_distance(a, b, n),
			    sets[0]->squared_distance(a, b, n), 1e-5);
			CU_ASSERT_DOUBLE_EQUAL(
			    sets[i]->manhattan(a, b, n), sets[0]->manhattan(a, b, n), 1e-4);
		}
}

static void all_kernels_sum_alike(void)
{
	const struct vector_kernels *sets[3];
	size_t count = vector_kernels_all(sets);
	uint8_t codes[64 * 16], tables[64 * 16];
	uint16_t plain[32], other[32];
	for (size_t i = 0; i < sizeof(codes); i++) {
		codes[i] = (uint8_t)random_bits();
		tables[i] = (uint8_t)random_bits();
	}
	sets[0]->sum32(codes, tables, 64, plain);
	for (size_t i = 1; i < count; i++) {
		sets[i]->sum32(codes, tables, 64, other);
		CU_ASSERT_EQUAL(memcmp(plain, other, sizeof(plain)), 0);
	}
}

static void similarities_are_those_of_the_specification(void)
{
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_COSINE, 1), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_COSINE, -1), 0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_COSINE, 1.00001f), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_DOT_PRODUCT, 0), 0.5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_DOT_PRODUCT, 1), 0.731058578, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_EUCLIDEAN, -9), 0.25, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(vector_similarity(METRIC_MANHATTAN, -3), 0.25, 1e-9);
}

/* The rotation must not change lengths and angles, and estimates must be near the products. */
static void sketches_estimate_products(void)
{
	float x[384], y[384], turned[512];
	uint8_t block[512 / 8 * BLOCK_SLOTS] = {0};
	uint16_t sums[32];
	struct sketch_query q;
	double worst = 0;
	fill(y, 384);
	sketch_query_init(&q, y, 384);
	for (int round = 0; round < 200; round++) {
		fill(x, 384);
		sketch_rotate(x, 384, turned);
		float squares = 0;
		for (size_t i = 0; i < 512; i++)
			squares += turned[i] * turned[i];
		CU_ASSERT_DOUBLE_EQUAL(squares, 1, 1e-4);
		float scale = sketch_make(turned, 512, (size_t)round % 32, block);
		vector_kernels()->sum32(block, q.tables, sketch_groups(384), sums);
		double estimate = (double)(scale * (q.unit * sums[round % 32] + q.base));
		double product = (double)vector_kernels()->dot(x, y, 384);
		worst = fmax(worst, fabs(estimate - product) / (double)(scale * q.error));
	}
	CU_ASSERT_TRUE(worst < 5);
	CU_ASSERT_TRUE(worst > 1);
	sketch_query_release(&q);
}

/* ---- the file ---- */

static struct vector_file *open_file(const char *name, size_t dimension)
{
	mkdir(unit_path(name), 0700);
	struct vector_file *f = vector_file_open(unit_path(name), 1, dimension, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	return f;
}

static bool add(struct vector_file *f, int64_t row, uint64_t owner, const float *v)
{
	struct vector_entry e = {row, owner, 0, v};
	vector_file_lock(f);
	bool ok = vector_file_add(f, &e, 1, row, &err);
	vector_file_unlock(f);
	return ok;
}

static void drop(struct vector_file *f, int64_t row)
{
	vector_file_lock(f);
	CU_ASSERT_TRUE(vector_file_drop(f, &row, 1, &err));
	vector_file_unlock(f);
}

static size_t nearest(struct vector_file *f, const float *v, uint64_t owner,
    const struct row_set *only, size_t limit, struct vector_hit *hits)
{
	float padded[PADDED] = {0};
	struct vector_query q = {.vector = padded, .owner = owner, .only = only, .limit = limit};
	size_t count = 0;
	memcpy(padded, v, DIMENSION * sizeof(*v));
	CU_ASSERT_TRUE(vector_search(f, &q, hits, &count, &err));
	return count;
}

static void the_nearest_come_first(void)
{
	struct vector_file *f = open_file("nearest", DIMENSION);
	static float v[5000][DIMENSION];
	struct vector_hit hits[10];
	for (int i = 0; i < 5000; i++) {
		fill(v[i], DIMENSION);
		CU_ASSERT_TRUE(add(f, i + 1, (uint64_t)i % 2 + 1, v[i]));
	}
	CU_ASSERT_EQUAL(nearest(f, v[4321], 0, NULL, 10, hits), 10);
	CU_ASSERT_EQUAL(hits[0].row, 4322);
	CU_ASSERT_DOUBLE_EQUAL(hits[0].rank, 1, 1e-5);
	for (int i = 1; i < 10; i++)
		CU_ASSERT_TRUE(hits[i].rank <= hits[i - 1].rank);
	nearest(f, v[4321], 1, NULL, 10, hits);
	CU_ASSERT_NOT_EQUAL(hits[0].row, 4322);
	for (int i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(hits[i].row % 2, 1);
	vector_file_close(f);
}

static void only_the_listed_rows_are_looked_at(void)
{
	struct vector_file *f = open_file("listed", DIMENSION);
	float v[DIMENSION];
	struct vector_hit hits[10];
	struct row_set set;
	row_set_init(&set, 3);
	for (int i = 0; i < 100; i++) {
		fill(v, DIMENSION);
		add(f, i + 1, 1, v);
	}
	row_set_add(&set, 5);
	row_set_add(&set, 77);
	row_set_add(&set, 5000);
	CU_ASSERT_EQUAL(nearest(f, v, 0, &set, 10, hits), 2);
	CU_ASSERT_EQUAL(hits[0].row + hits[1].row, 82);
	row_set_release(&set);
	vector_file_close(f);
}

static void a_row_has_one_vector(void)
{
	struct vector_file *f = open_file("one", DIMENSION);
	float a[DIMENSION], b[DIMENSION];
	struct vector_hit hits[10];
	fill(a, DIMENSION);
	fill(b, DIMENSION);
	add(f, 1, 1, a);
	add(f, 2, 1, b);
	add(f, 1, 1, b);
	CU_ASSERT_EQUAL(nearest(f, b, 0, NULL, 10, hits), 2);
	CU_ASSERT_DOUBLE_EQUAL(hits[1].rank, 1, 1e-5);
	CU_ASSERT_EQUAL(hits[0].row, 2); /* ties: the newer one first */
	drop(f, 2);
	drop(f, 3);
	CU_ASSERT_EQUAL(nearest(f, b, 0, NULL, 10, hits), 1);
	CU_ASSERT_EQUAL(hits[0].row, 1);
	vector_file_close(f);
}

static void empty_slots_are_filled_again(void)
{
	struct vector_file *f = open_file("again", DIMENSION);
	float v[DIMENSION];
	int64_t row = 0;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 200; i++) {
			fill(v, DIMENSION);
			add(f, ++row, 1, v);
		}
		for (int i = 0; i < 200; i++)
			drop(f, row - i);
	}
	CU_ASSERT_TRUE(vector_file_count(f) < 600);
	vector_file_close(f);
}

/* Once the first sketches are made, takes the lock, and notes how many there are then. */
static uint64_t sketched_at_lock;

static void *lock_between(void *arg)
{
	struct vector_file *f = arg;
	while (vector_file_sketched(f) == 0)
		clock_sleep_ms(1);
	vector_file_lock(f);
	sketched_at_lock = vector_file_sketched(f);
	vector_file_unlock(f);
	return NULL;
}

static void sketches_find_nearly_all(void)
{
	enum { N = 60000, WIDE = 896 };
	struct vector_file *f = open_file("sketched", WIDE);
	float *v = malloc(WIDE * sizeof(*v)), *q = malloc(WIDE * sizeof(*q));
	struct vector_hit exact[10], found[10];
	size_t count, hit = 0;
	for (int i = 0; i < N; i++) {
		fill(v, WIDE);
		add(f, i + 1, 1, v);
	}
	pthread_t other;
	pthread_create(&other, NULL, lock_between, f);
	for (int round = 0; round < 20; round++) {
		fill(q, WIDE);
		struct vector_query query = {.vector = q, .limit = 10, .exact = true};
		CU_ASSERT_TRUE(vector_search(f, &query, exact, &count, &err));
		query.exact = false;
		CU_ASSERT_TRUE(vector_search(f, &query, found, &count, &err));
		for (int i = 0; i < 10; i++)
			for (int k = 0; k < 10; k++)
				hit += exact[i].row == found[k].row;
	}
	CU_ASSERT_EQUAL(vector_file_sketched(f), N);
	pthread_join(other, NULL);
	CU_ASSERT_TRUE(sketched_at_lock < N); /* others have the lock meanwhile */
	printf("# recall@10 of 200 with sketches: %.3f\n", (double)hit / 200);
	CU_ASSERT_TRUE(hit >= 190);
	/* what comes later has its sketch too */
	add(f, N + 1, 1, q);
	struct vector_query query = {.vector = q, .limit = 1};
	CU_ASSERT_TRUE(vector_search(f, &query, found, &count, &err));
	CU_ASSERT_EQUAL(found[0].row, N + 1);
	free(v);
	free(q);
	vector_file_close(f);
}

static void a_file_nobody_has_open_starts_from_nothing(void)
{
	float v[DIMENSION];
	struct vector_file *f = open_file("fresh", DIMENSION), *other;
	fill(v, DIMENSION);
	add(f, 1, 1, v);
	other = open_file("fresh", DIMENSION);
	CU_ASSERT_EQUAL(vector_file_count(other), 1);
	vector_file_close(f);
	CU_ASSERT_EQUAL(vector_file_applied(other), 1);
	vector_file_close(other);
	f = open_file("fresh", DIMENSION);
	CU_ASSERT_EQUAL(vector_file_count(f), 0);
	CU_ASSERT_EQUAL(vector_file_applied(f), 0);
	vector_file_close(f);
}

static void a_writer_that_dies_stops_nobody(void)
{
	float v[DIMENSION];
	struct vector_hit hits[2];
	struct vector_file *f = open_file("dying", DIMENSION);
	fill(v, DIMENSION);
	pid_t pid = fork();
	if (pid == 0) {
		struct vector_file *mine = vector_file_open(unit_path("dying"), 1, DIMENSION, &err);
		vector_file_lock(mine);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	CU_ASSERT_TRUE(add(f, 1, 1, v));
	CU_ASSERT_EQUAL(nearest(f, v, 0, NULL, 2, hits), 1);
	vector_file_close(f);
}

static void a_directory_that_is_not_there_is_an_error(void)
{
	struct error mine = {0};
	CU_ASSERT_PTR_NULL(vector_file_open(unit_path("nowhere"), 1, DIMENSION, &mine));
	CU_ASSERT_EQUAL(mine.kind, ERR_STORAGE);
	error_release(&mine);
}

int main(void)
{
	static const struct unit_test tests[] = {
	    {"all kernels agree", all_kernels_agree},
	    {"all kernels sum alike", all_kernels_sum_alike},
	    {"similarities are those of the specification",
		similarities_are_those_of_the_specification},
	    {"sketches estimate products", sketches_estimate_products},
	    {"the nearest come first", the_nearest_come_first},
	    {"only the listed rows are looked at", only_the_listed_rows_are_looked_at},
	    {"a row has one vector", a_row_has_one_vector},
	    {"empty slots are filled again", empty_slots_are_filled_again},
	    {"sketches find nearly all", sketches_find_nearly_all},
	    {"a file nobody has open starts from nothing",
		a_file_nobody_has_open_starts_from_nothing},
	    {"a writer that dies stops nobody", a_writer_that_dies_stops_nobody},
	    {"a directory that is not there is an error",
		a_directory_that_is_not_there_is_an_error},
	};
	return unit_main("vectors", tests, UNIT_COUNT(tests));
}
