/* SPDX-License-Identifier: ISC */
/*
 * What a memory store's engine offers: memories, the words in them, and their vectors.
 *
 * One struct of functions, so that another engine can stand beside SQLite and tests can inject
 * faults.  The engine knows nothing of texts' meaning: it is given vectors, and says which memories
 * are near; what a search makes of that is its caller's.  It has a database of its own, so nothing
 * here waits for threads.db.  Shared by all threads of a process; a call that returns true has its
 * effect on disk.  Failures: ERR_TRANSIENT_STORAGE, ERR_STORAGE.
 */
#ifndef AGENTGRAPH_STORAGE_STORE_H
#define AGENTGRAPH_STORAGE_STORE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/shared.h"
#include "base/waiter.h"
#include "storage/vector/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A memory (doc/protocol-store.md#memories).  Only thread_id and entity can be NULL. */
struct memory {
	int64_t row; /* the engine's own key: a newer memory has a higher one */
	const char *memory_id;
	const char *user_id;
	const char *thread_id;
	const char *memory_type;
	const char *category;
	const char *metadata_json; /* an object, category included */
	const char *content;
	int64_t created_at; /* microseconds */
};

/* Which memories are meant.  NULL: no such condition. */
struct memory_filter {
	const char *user_id;
	const char *thread_id;
	const char *memory_type;
	const char *category;
	const char *filters_json; /* checked by memory_filter_check */

	const struct waiter *waiter; /* a search ends without them; NULL: it does not */
};

/* A vector of the engine's model, with the SHA-256 of its text where it is worth finding again. */
struct memory_vector {
	const float *numbers;      /* NULL: it could not be made yet */
	const unsigned char *hash; /* 32 bytes, or NULL */
};

/* What a memory's metadata says about others. */
struct memory_links {
	const char *entity;
	const char *const *relations; /* ids of memories */
	size_t relation_count;
};

/* What an update changes of a memory; its category stays. */
struct memory_update {
	const char *content;
	const struct memory_vector *vector;
	const char *metadata_json; /* NULL: metadata and links stay */
	const struct memory_links *links;
};

struct memory_hit {
	int64_t row;
	int64_t created_at; /* of listings and links; else 0 */
	double score;       /* the higher the better */
};

/* A text that waits for its vector. */
struct memory_text {
	int64_t row;
	const char *content; /* arena text */
};

/* Vectors in the store of one model. */
struct store_model {
	const char *name; /* arena text */
	int64_t dimension, vectors;
	bool current;
};

struct store {
	const struct store_ops *ops;
};

struct store_ops {
	void (*close)(struct store *st);

	/* Stores m; its row is not read. */
	bool (*put)(struct store *st, const struct memory *m, const struct memory_links *links,
	    const struct memory_vector *vector, struct error *err);
	/* In the scope of filter's user and thread.  False with no error set when there is none. */
	bool (*get)(struct store *st, struct arena *a, const struct memory_filter *scope,
	    const char *memory_id, struct memory *m, struct error *err);
	/* The same by row, where all of the filter holds. */
	bool (*load)(struct store *st, struct arena *a, const struct memory_filter *filter,
	    int64_t row, struct memory *m, struct error *err);
	/* *found says whether there was such a memory in the scope. */
	bool (*update)(struct store *st, const struct memory_filter *scope, const char *memory_id,
	    const struct memory_update *update, bool *found, struct error *err);
	bool (*remove)(struct store *st, const struct memory_filter *scope, const char *memory_id,
	    bool *found, struct error *err);
	/* Deletes what the filter holds and was there when it began. */
	bool (*forget)(struct store *st, const struct memory_filter *filter, int64_t *count,
	    struct error *err);

	/* Searches: up to limit hits, *count of them, best first, ties newest first. */

	/* Newest first; score is 0. */
	bool (*recent)(struct store *st, const struct memory_filter *filter, size_t limit,
	    struct memory_hit *hits, size_t *count, struct error *err);
	/* By nearness of vectors: score is what vector_similarity says. */
	bool (*similar)(struct store *st, const struct memory_filter *filter, const float *vector,
	    enum vector_metric metric, size_t limit, struct memory_hit *hits, size_t *count,
	    struct error *err);
	/* By the words of a text, whatever else is in it: score is the BM25 weight. */
	bool (*matching)(struct store *st, const struct memory_filter *filter, const char *text,
	    size_t limit, struct memory_hit *hits, size_t *count, struct error *err);
	/* Linked with one memory, newest first; score is 0. */
	bool (*linked)(struct store *st, const struct memory_filter *filter, int64_t row,
	    size_t limit, struct memory_hit *hits, size_t *count, struct error *err);

	/* The vector of a text with that hash, if one is stored; vector has room for it. */
	bool (*known_vector)(struct store *st, const unsigned char *hash, float *vector,
	    bool *found, struct error *err);

	/* Memories with rows above after that wait for a vector; or, where all is set, those that
	 * have none of this model.  Up to limit, in the order of rows. */
	bool (*unembedded)(struct store *st, struct arena *a, bool all, int64_t after, size_t limit,
	    struct memory_text *texts, size_t *count, struct error *err);
	/* Gives memories their vectors, one transaction; those whose text changed meanwhile keep
	 * waiting. vectors has count times the dimension. */
	bool (*adopt)(struct store *st, const struct memory_text *texts, size_t count,
	    const float *vectors, const unsigned char *hashes, struct error *err);

	/* What made the vectors in the store; arrays in the arena. */
	bool (*models)(struct store *st, struct arena *a, struct store_model **models,
	    size_t *count, int64_t *memories, struct error *err);
	/* Whether any vector is of another model than the store was opened for. */
	bool (*has_foreign)(struct store *st, bool *foreign, struct error *err);
};

/* What makes the vectors of a store. */
struct store_setup {
	const char *state_dir;
	struct shared *shared;
	const char *model; /* its name */
	size_t dimension;
	bool synchronous_full; /* commits wait for the disk */
};

/*
 * Opens (and makes or migrates, where needed) store.db in the state directory.  The detail of an
 * error names the file.
 */
struct store *store_open(const struct store_setup *setup, struct error *err);

#endif
