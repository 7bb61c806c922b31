/* SPDX-License-Identifier: ISC */
/* The operations of memories.h that read, and what writing and nearness need of them. */
#ifndef AGENTGRAPH_STORAGE_SQL_MEMORIES_READ_H
#define AGENTGRAPH_STORAGE_SQL_MEMORIES_READ_H

#include "storage/sql/memories_engine.h"

bool memories_get(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *scope, const char *memory_id, struct memory *m, struct error *err);
bool memories_load(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    const struct memory_filter *filter, int64_t row, struct memory *m, struct error *err);
bool memories_recent(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, size_t limit, struct memory_hit *hits, size_t *count,
    struct error *err);
bool memories_matching(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const char *text, size_t limit, struct memory_hit *hits,
    size_t *count, struct error *err);
bool memories_linked(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, int64_t row, size_t limit, struct memory_hit *hits,
    size_t *count, struct error *err);
bool memories_known_vector(struct memory_set *set, const struct storage_context *ctx,
    const unsigned char *hash, float *vector, bool *found, struct error *err);
bool memories_unembedded(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    bool all, int64_t after, size_t limit, struct memory_text *texts, size_t *count,
    struct error *err);
bool memories_models(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
    struct memory_model **models, size_t *count, int64_t *memories, struct error *err);
bool memories_has_foreign(
    struct memory_set *set, const struct storage_context *ctx, bool *foreign, struct error *err);

/* Statements over all memories, and over those of one user. */
void memories_rows_query(struct memories_engine *e, const struct storage_context *ctx,
    struct query *q, const struct memory_filter *filter, int64_t newest, size_t limit,
    struct error *err);

/* Binds all of a filter, to a statement that has all of its parameters. */
void memories_bind_filter(struct query *q, const struct memory_filter *filter);

/* A user as one word of the text index. */
#define OWNER_WORD_SIZE 18
void memories_owner_word(const char *user_id, char word[OWNER_WORD_SIZE]);

#endif
