/*
 * Vectors that come late: a thread gives memories theirs that were stored while the embedding
 * service did not answer.  Of all processes over a state directory one does so at a time; when it
 * dies another one goes on.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_LATE_H
#define AGENTGRAPH_SERVICE_MEMORY_LATE_H

#include "service/memory_embed.h"

struct memory_late;

/* Starts the thread; NULL with err set. */
struct memory_late *memory_late_new(
    const char *state_dir, struct store *st, struct embedding *e, struct error *err);
void memory_late_free(struct memory_late *late); /* NULL is fine */

/* One batch of memories above *after, which moves on: those that wait, or where all is set those
 * without a vector of this model.  *done grows by how many got one; at the end *after stays. */
bool memory_late_batch(struct store *st, struct embedding *e, bool all, size_t most, int64_t *after,
    int64_t *done, struct error *err);

#endif
