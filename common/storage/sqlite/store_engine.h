/* SPDX-License-Identifier: ISC */
/* The inside of the memory store's SQLite engine: what its files share.  The functions are the
 * operations of store.h under the same names. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_STORE_ENGINE_H
#define AGENTGRAPH_STORAGE_SQLITE_STORE_ENGINE_H

#include "storage/sqlite/pool.h"
#include "storage/sqlite/wal.h"
#include "storage/sqlite/writer.h"
#include "storage/store.h"
#include "storage/vector/vector_file.h"

struct store_engine {
	struct store store; /* first, so that one pointer is both */
	char *path;         /* of store.db */
	char *state_dir;
	int64_t model; /* its key */
	size_t dimension;
	struct writer *writer;
	struct pool *pool;
	struct wal_keeper *wal_keeper;
	pthread_mutex_t opening; /* guards the opening of vectors */
	_Atomic(struct vector_file *) vectors;
};

static inline struct store_engine *store_engine_of(struct store *st)
{
	return (struct store_engine *)st;
}

/* Statements over all memories, and over those of one user. */
void store_rows_query(struct store_engine *e, struct query *q, const struct memory_filter *filter,
    int64_t newest, size_t limit, struct error *err);

/* Binds all of a filter, to a statement that has all of its parameters. */
void store_bind_filter(struct query *q, const struct memory_filter *filter);

/* A user as one word of the text index. */
#define OWNER_WORD_SIZE 18
void store_owner_word(const char *user_id, char word[OWNER_WORD_SIZE]);

/* store_write.c */
bool store_put(struct store *st, const struct memory *m, const struct memory_links *links,
    const struct memory_vector *vector, struct error *err);
bool store_update(struct store *st, const struct memory_filter *scope, const char *memory_id,
    const struct memory_update *update, bool *found, struct error *err);
bool store_remove(struct store *st, const struct memory_filter *scope, const char *memory_id,
    bool *found, struct error *err);
bool store_forget(
    struct store *st, const struct memory_filter *filter, int64_t *count, struct error *err);
bool store_adopt(struct store *st, const struct memory_text *texts, size_t count,
    const float *vectors, const unsigned char *hashes, struct error *err);

/* store_read.c */
bool store_get(struct store *st, struct arena *a, const struct memory_filter *scope,
    const char *memory_id, struct memory *m, struct error *err);
bool store_load(struct store *st, struct arena *a, const struct memory_filter *filter, int64_t row,
    struct memory *m, struct error *err);
bool store_recent(struct store *st, const struct memory_filter *filter, size_t limit,
    struct memory_hit *hits, size_t *count, struct error *err);
bool store_matching(struct store *st, const struct memory_filter *filter, const char *text,
    size_t limit, struct memory_hit *hits, size_t *count, struct error *err);
bool store_linked(struct store *st, const struct memory_filter *filter, int64_t row, size_t limit,
    struct memory_hit *hits, size_t *count, struct error *err);
bool store_known_vector(
    struct store *st, const unsigned char *hash, float *vector, bool *found, struct error *err);
bool store_unembedded(struct store *st, struct arena *a, bool all, int64_t after, size_t limit,
    struct memory_text *texts, size_t *count, struct error *err);
bool store_models(struct store *st, struct arena *a, struct store_model **models, size_t *count,
    int64_t *memories, struct error *err);
bool store_has_foreign(struct store *st, bool *foreign, struct error *err);

/* store_similar.c */
bool store_similar(struct store *st, const struct memory_filter *filter, const float *vector,
    enum vector_metric metric, size_t limit, struct memory_hit *hits, size_t *count,
    struct error *err);
/* Takes what was deleted or has no vector any more out of the file; failing is harmless, because
 * whatever a search finds is read from the database. */
void store_drop_vectors(struct store_engine *e, int64_t *rows, size_t count);

#endif
