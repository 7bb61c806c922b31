/* SPDX-License-Identifier: ISC */
/*
 * What t/bench/store.sh measures the memory store against, and with.
 *
 * store fill STATE N [EACH]: puts memories with random vectors into STATE/store.db, until it has N;
 * with EACH the first thousand are of the user bench, and as many of each other one.
 *
 * store scan N: milliseconds of a bare loop over N vectors in memory, best 10 kept.
 *
 * store insert STATE N: memories a second that SQLite inserts, a transaction each.
 *
 * store recall STATE: part of the 10 nearest that a search finds, of vectors a service has open.
 */
#include "base/memory.h"
#include "base/os/shared.h"
#include "config/config.h"
#include "model/embed/embed.h"
#include "storage/memories.h"
#include "storage/sql/memory/memories_engine.h"
#include "storage/sqlite/sqlite_db.h"
#include "storage/vector/vector_search.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define DIMENSION LOCAL_EMBED_DIMENSIONS
#define AT_ONCE 10000
#define ROUNDS 15
#define QUERIES 50

static struct error err;

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t seed = 88172645463325252u;

static float uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (float)(seed >> 40) / 16777216.0f - 0.5f;
}

/* Nearly Gaussian numbers, scaled to length 1. */
static void fill_vector(float *v)
{
	float squares = 0;
	for (int i = 0; i < DIMENSION; i++) {
		v[i] = uniform() + uniform() + uniform() + uniform();
		squares += v[i] * v[i];
	}
	for (int i = 0; i < DIMENSION; i++)
		v[i] /= sqrtf(squares);
}

static int fail(void)
{
	fprintf(stderr, "store: %s %s\n", err.detail, err.cause);
	return 1;
}

/* ---- a database ---- */

static struct db *make_database(const char *state)
{
	char *path = xasprintf("%s/store.db", state);
	mkdir(state, 0700);
	struct shared *shared = shared_open(state, &err);
	const struct config config = {.state_dir = (char *)state};
	struct storage *storage = shared ? storage_open(&config, shared, &err) : NULL;
	struct memory_set *st = storage
	    ? storage->engine->memories->open(storage, NULL, LOCAL_EMBED_NAME, DIMENSION, &err)
	    : NULL;
	struct db *db = NULL;
	if (st) {
		st->ops->close(st);
		db = sqlite_open(path, DB_WRITE, &err);
	}
	storage_close(storage);
	shared_close(shared);
	free(path);
	return db;
}

/* each is 0, or how many memories each user but bench has. */
static bool insert(struct db *db, int64_t n, int64_t each)
{
	float v[DIMENSION];
	char id[40], content[80], user[40] = "bench", owner[OWNER_WORD_SIZE];
	struct query q;
	snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, (uint64_t)n * 0x9e3779b97f4a7c15u, n);
	snprintf(content, sizeof(content), "memory number %" PRId64 " of a long life", n);
	if (each && n > 1000)
		snprintf(user, sizeof(user), "user%" PRId64, n / each);
	memories_owner_word(user, owner);
	query_start(&q, db, SQL_MEMORY_INSERT, &err);
	query_text(&q, ":memory_id", id);
	query_text(&q, ":user_id", user);
	query_text(&q, ":owner", owner);
	query_text(&q, ":memory_type", "episodic");
	query_text(&q, ":category", "general");
	query_text(&q, ":metadata", "{\"category\":\"general\"}");
	query_text(&q, ":content", content);
	query_int(&q, ":created_at", n);
	int64_t row = query_row(&q) ? query_column_int(&q, MEMORY_INSERT_ROW) : 0;
	if (!query_end(&q))
		return false;
	query_start(&q, db, SQL_WORD_INSERT, &err);
	query_int(&q, ":row", row);
	if (!query_run(&q))
		return false;
	fill_vector(v);
	query_start(&q, db, SQL_VECTOR_INSERT, &err);
	query_int(&q, ":memory", row);
	query_int(&q, ":model", 1);
	query_blob(&q, ":vector", v, sizeof(v));
	return query_run(&q);
}

/* How many memories there are. */
static int64_t filled(struct db *db)
{
	struct query q;
	query_start(&q, db, SQL_MEMORY_COUNT, &err);
	int64_t count = query_row(&q) ? query_column_int(&q, MEMORY_COUNT_COUNT) : 0;
	return query_end(&q) ? count : INT64_MAX;
}

static int fill(const char *state, int64_t count, int64_t each)
{
	struct db *db = make_database(state);
	bool ok = db != NULL;
	int64_t first = ok ? filled(db) + 1 : 1;
	seed += (uint64_t)first;
	for (int64_t n = first; ok && n <= count; n++) {
		ok = ((n > first && n % AT_ONCE != 1) || db_begin(db, &err)) && insert(db, n, each);
		if (ok && (n % AT_ONCE == 0 || n == count))
			ok = db_commit(db, &err);
		if (ok && n % (10 * AT_ONCE) == 0)
			sqlite3_wal_checkpoint_v2(
			    sqlite_db_of(db)->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	}
	db_close(db);
	return ok ? 0 : fail();
}

static int insert_rate(const char *state, int64_t count)
{
	struct db *db = make_database(state);
	double start = now_ms();
	bool ok = db != NULL;
	for (int64_t n = 1; ok && n <= count; n++) {
		ok = db_begin(db, &err) && insert(db, n, 0) && db_commit(db, &err);
		if (n % 1000 == 0)
			sqlite3_wal_checkpoint_v2(
			    sqlite_db_of(db)->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	}
	printf("%.0f\n", (double)count / (now_ms() - start) * 1e3);
	db_close(db);
	return ok ? 0 : fail();
}

/* ---- the floor of a search ---- */

static void keep_best(float *best, float rank)
{
	if (rank <= best[0])
		return;
	best[0] = rank;
	for (int i = 0; i < 9 && best[i] > best[i + 1]; i++) {
		float t = best[i];
		best[i] = best[i + 1];
		best[i + 1] = t;
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int scan(size_t count)
{
	const struct vector_kernels *kernels = vector_kernels();
	float *vectors = xmalloc(count * DIMENSION * sizeof(*vectors)), query[DIMENSION];
	double times[ROUNDS];
	for (size_t i = 0; i < count; i++)
		fill_vector(vectors + i * DIMENSION);
	for (int round = 0; round < ROUNDS; round++) {
		float best[10] = {0};
		fill_vector(query);
		double start = now_ms();
		for (size_t i = 0; i < count; i++)
			keep_best(best, kernels->dot(vectors + i * DIMENSION, query, DIMENSION));
		times[round] = now_ms() - start;
		if (best[9] < 0)
			puts("");
	}
	qsort(times, ROUNDS, sizeof(*times), compare);
	printf("%.2f\n", times[ROUNDS / 2]);
	free(vectors);
	return 0;
}

/* ---- what a search finds ---- */

static int recall(const char *state)
{
	struct vector_file *f = vector_file_open(state, 1, DIMENSION, &err);
	struct vector_hit exact[10], found[10];
	float v[DIMENSION];
	size_t count, hit = 0, all = 0;
	if (!f)
		return fail();
	for (int i = 0; i < QUERIES; i++) {
		fill_vector(v);
		struct vector_query q = {.vector = v, .limit = 10, .exact = true};
		if (!vector_search(f, &q, exact, &count, &err))
			return fail();
		all += count;
		q.exact = false;
		if (!vector_search(f, &q, found, &count, &err))
			return fail();
		for (size_t a = 0; a < 10; a++)
			for (size_t b = 0; b < count; b++)
				hit += exact[a].row == found[b].row;
	}
	printf("%.3f\n", all ? (double)hit / (double)all : 0);
	vector_file_close(f);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if ((argc == 4 || argc == 5) && strcmp(what, "fill") == 0)
		return fill(argv[2], atoll(argv[3]), argc == 5 ? atoll(argv[4]) : 0);
	if (argc == 4 && strcmp(what, "insert") == 0)
		return insert_rate(argv[2], atoll(argv[3]));
	if (argc == 3 && strcmp(what, "scan") == 0)
		return scan((size_t)atoll(argv[2]));
	if (argc == 3 && strcmp(what, "recall") == 0)
		return recall(argv[2]);
	fprintf(
	    stderr, "usage: store fill STATE N [EACH] | scan N | insert STATE N | recall STATE\n");
	return 2;
}
