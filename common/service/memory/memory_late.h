/* SPDX-License-Identifier: ISC */
/*
 * Vectors that come late: a thread gives memories theirs that were stored while the embedding
 * service did not answer.  Of all processes over a state directory one does so at a time; when it
 * dies another one goes on.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_LATE_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_LATE_H

#include "service/memory/memory_embed.h"

struct memory_late;

/* Starts the thread; NULL with err set. */
struct memory_late *memory_late_new(
    const char *state_dir, struct memory_set *st, struct embedding *e, struct error *err);
void memory_late_free(struct memory_late *late); /* NULL is fine */

/* A way through the memories that have no vector. */
struct memory_round {
	struct memory_set *store;
	struct embedding *embedding;
	bool all;      /* also those that have one of another model, not only those that wait */
	size_t most;   /* how many a batch has */
	int64_t after; /* where to go on; stays at the end */
	int64_t done;  /* how many got a vector */
};

/* The next batch; false with err set, and what failed is passed over. */
bool memory_late_batch(struct memory_round *round, struct error *err);

#endif
