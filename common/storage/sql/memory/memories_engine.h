/* SPDX-License-Identifier: ISC */
/* What the files with the operations on memories share. */
#ifndef AGENTGRAPH_STORAGE_SQL_MEMORY_MEMORIES_ENGINE_H
#define AGENTGRAPH_STORAGE_SQL_MEMORY_MEMORIES_ENGINE_H

#include "storage/memories.h"
#include "storage/sql/db/pool.h"
#include "storage/sql/db/writer.h"
#include "storage/vector/vector_file.h"

struct memories_engine {
	struct memory_set set;   /* first, so that one pointer is both */
	struct db_source source; /* store.db */
	char *state_dir;
	int64_t model; /* its key */
	size_t dimension;
	struct writer *writer;
	struct pool *pool;
	void *keeper;            /* the driver's, or NULL */
	pthread_mutex_t opening; /* guards the opening of vectors */
	_Atomic(struct vector_file *) vectors;
};

static inline struct memories_engine *memories_engine_of(struct memory_set *set)
{
	return (struct memories_engine *)set;
}

/* ---- memories_read.c: the operations of memories.h that read, and what writing and nearness need
 * of them. */

bool memories_get(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *scope, const char *memory_id, struct memory *m, struct error *err);
bool memories_load(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *filter, int64_t row, struct memory *m, struct error *err);
bool memories_recent(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, struct memory_hits *hits, struct error *err);
bool memories_matching(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const char *text, struct memory_hits *hits,
    struct error *err);
bool memories_linked(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t row, struct memory_hits *hits, struct error *err);
bool memories_known_vector(struct memory_set *set, const struct storage_context *ctx,
    const unsigned char *hash, float *vector, bool *found, struct error *err);
bool memories_unembedded(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    struct memory_batch *batch, struct error *err);
bool memories_census(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    struct memory_census *census, struct error *err);
bool memories_has_foreign(
    struct memory_set *set, const struct storage_context *ctx, bool *foreign, struct error *err);

/* Statements over all memories, and over those of one user. */
void memories_rows_query(struct memories_engine *e, const struct storage_context *ctx,
    struct query *q, const struct memory_filter *filter, int64_t newest, size_t limit,
    struct error *err);

/* Begins a query for the rows of a user with their vectors. */
void memories_vectors_query(struct memories_engine *e, const struct storage_context *ctx,
    struct query *q, const struct memory_filter *filter, struct error *err);

/* Binds all of a filter, to a statement that has all of its parameters. */
void memories_bind_filter(struct query *q, const struct memory_filter *filter);

/* Writes a user as one word of the index of words. */
#define OWNER_WORD_SIZE 18
void memories_owner_word(const char *user_id, char word[OWNER_WORD_SIZE]);

/* ---- memories_write.c: those that write. */

bool memories_put(struct memory_set *set, const struct storage_context *ctx, const struct memory *m,
    const struct memory_links *links, const struct memory_vector *vector, struct error *err);
bool memories_update(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *scope, const char *memory_id, const struct memory_update *update,
    bool *found, struct error *err);
bool memories_remove(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *scope, const char *memory_id, bool *found, struct error *err);
bool memories_forget(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t *count, struct error *err);
bool memories_adopt(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_batch *batch, struct error *err);

/* ---- memories_similar.c: nearness by vectors, and the file that makes it fast. */

bool memories_similar(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const float *vector, enum vector_metric metric,
    struct memory_hits *hits, struct error *err);

/* Removes rows that were deleted, or have no vector any more, from the file of vectors.  A failure
 * is harmless, because whatever a search finds is read from the database. */
void memories_drop_vectors(struct memories_engine *e, int64_t *rows, size_t count);

#endif
