/* SPDX-License-Identifier: ISC */
/*
 * Vectors for memories and queries: from the configured service, or from the embedder that is built
 * in.
 *
 * A service that does not answer is left alone for a while.  Vectors are looked for before they are
 * asked for: those of memories in the store, those of queries among the latest ones.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_EMBED_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_EMBED_H

#include "base/problems.h"
#include "config/config.h"
#include "storage/memories.h"

#define EMBED_HASH_SIZE 32

struct embedding;

/* NULL with a problem added. */
struct embedding *embedding_new(const struct config *config, struct problems *problems);
void embedding_free(struct embedding *e); /* NULL is fine */

/* The name under which the store keeps the vectors, and their dimension. */
const char *embedding_model(const struct embedding *e);
size_t embedding_dimension(const struct embedding *e);

/* Whether vectors come from elsewhere, so that they can be late. */
bool embedding_is_remote(const struct embedding *e);

/* Asks the service, where there is one, for a vector of the dimension; false with err set when it
 * gives none before deadline_ms (clock_monotonic_ms). */
bool embedding_probe(const struct embedding *e, int64_t deadline_ms, struct error *err);

/* A vector with the hash of its text, where that is kept: malloc'd, or NULL. */
struct embedded {
	float *numbers;
	unsigned char *hash;
};
void embedded_release(struct embedded *v);

/* The vector of a memory's text.  Where it cannot be had now numbers is NULL, and the log says why.
 * st may hold it already. */
void embed_content(
    struct embedding *e, struct memory_set *st, const char *content, struct embedded *out);

/* The vector of a query, malloc'd; NULL with ERR_STORE_UNAVAILABLE. */
float *embed_query(struct embedding *e, const char *query, struct error *err);

/* Makes the vectors of a batch, for a caller with time, and its hashes where those are kept: both
 * malloc'd, and the caller's also on failure. */
bool embed_batch(struct embedding *e, struct memory_batch *batch, struct error *err);

/*
 * ---- memory_late.c: vectors that come late: a thread gives memories theirs that were stored while
 * the embedding service did not answer.  Of all processes over a state directory one does so at a
 * time; when it dies another one goes on.
 */

struct memory_late;

/* Starts the thread; NULL with err set. */
struct memory_late *memory_late_new(
    const char *state_dir, struct memory_set *st, struct embedding *e, struct error *err);
void memory_late_free(struct memory_late *late); /* NULL is fine */

#define MEMORY_BATCH 64 /* as many as are worth asking for at once */

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
