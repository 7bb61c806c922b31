/* SPDX-License-Identifier: ISC */
/*
 * The embedder: it makes vectors for memories and queries, by the configured service or by itself.
 *
 * A service that does not answer is left alone for a while.  Before a vector is asked for, it is
 * looked for: that of a memory in the store, that of a query among the latest ones.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_EMBED_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_EMBED_H

#include "base/problems.h"
#include "config/config.h"
#include "storage/memories.h"

struct embedding;

/* Makes the embedder that is configured; NULL with a problem added. */
struct embedding *embedding_new(const struct config *config, struct problems *problems);
void embedding_free(struct embedding *e); /* NULL is fine */

/* The name under which the store keeps the vectors, and their dimension. */
const char *embedding_model(const struct embedding *e);
size_t embedding_dimension(const struct embedding *e);

/* Whether vectors come from a service, so that they may come late. */
bool embedding_is_remote(const struct embedding *e);

/* Asks the service, where there is one, for a vector of the dimension; false with err set when it
 * gives none before deadline_ms (clock_monotonic_ms). */
bool embedding_probe(const struct embedding *e, int64_t deadline_ms, struct error *err);

/* A vector, and the hash of its text if that is to be kept; malloc'd, or NULL. */
struct embedded {
	float *numbers;
	unsigned char *hash;
};
void embedded_release(struct embedded *v);

/* Makes the vector of a memory's text, or finds it in st.  If there is none to be had now, numbers
 * is NULL and the log says why. */
void embed_content(
    struct embedding *e, struct memory_set *st, const char *content, struct embedded *out);

/* The vector of a query, malloc'd; NULL with ERR_STORE_UNAVAILABLE. */
float *embed_query(struct embedding *e, const char *query, struct error *err);

struct memory_round;

/* Makes the vectors of a batch, unless the round is to end, and its hashes where those are kept.
 * Both are malloc'd, and the caller's even on failure. */
bool embed_batch(const struct memory_round *round, struct memory_batch *batch, struct error *err);

/*
 * ---- memory_late.c: late vectors: a thread gives vectors to memories that were stored while the
 * embedding service did not answer.  Only one process over a state directory does so at a time;
 * when it dies another one goes on.
 */

struct memory_late;

/* Starts the thread; NULL with err set. */
struct memory_late *memory_late_new(
    const char *state_dir, struct memory_set *st, struct embedding *e, struct error *err);
void memory_late_free(struct memory_late *late); /* NULL is fine */

#define MEMORY_BATCH 64 /* as many as are worth asking for at once */

/* A walk through the memories that have no vector. */
struct memory_round {
	struct memory_set *store;
	struct embedding *embedding;
	bool all;                /* also memories with a vector of another model */
	size_t most;             /* most memories of a batch */
	int64_t after;           /* row behind which to go on; does not change at the end */
	int64_t done;            /* how many got a vector */
	bool (*stop)(void *arg); /* says whether to end; or NULL */
	void *arg;
};

/* Embeds the next batch; false with err set, and the walk goes on behind what failed. */
bool memory_late_batch(struct memory_round *round, struct error *err);

#endif
