/* SPDX-License-Identifier: ISC */
/* The operations of memories.h that write. */
#ifndef AGENTGRAPH_STORAGE_SQL_MEMORIES_WRITE_H
#define AGENTGRAPH_STORAGE_SQL_MEMORIES_WRITE_H

#include "storage/sql/memories_engine.h"

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
    const struct memory_text *texts, size_t count, const float *vectors,
    const unsigned char *hashes, struct error *err);

#endif
