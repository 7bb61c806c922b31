/* SPDX-License-Identifier: ISC */
/* Nearness by vectors, and the file that makes it fast. */
#ifndef AGENTGRAPH_STORAGE_SQL_MEMORIES_SIMILAR_H
#define AGENTGRAPH_STORAGE_SQL_MEMORIES_SIMILAR_H

#include "storage/sql/memories_engine.h"

bool memories_similar(struct memory_set *set, const struct storage_context *ctx,
    const struct memory_filter *filter, const float *vector, enum vector_metric metric,
    size_t limit, struct memory_hit *hits, size_t *count, struct error *err);

/* Takes what was deleted or has no vector any more out of the file; failing is harmless, because
 * whatever a search finds is read from the database. */
void memories_drop_vectors(struct memories_engine *e, int64_t *rows, size_t count);

#endif
