/* SPDX-License-Identifier: ISC */
/*
 * Memories, the words in them, and their vectors, as a storage engine keeps them.
 *
 * The engine knows nothing of texts' meaning: it is given vectors, and says which memories are
 * near; what a search makes of that is its caller's.  Nothing here waits for threads.  A struct
 * memory_set gives access to all memories, with the vectors of one model; it is shared by all
 * threads of a process, and must be closed before its storage.
 */
#ifndef AGENTGRAPH_STORAGE_MEMORIES_H
#define AGENTGRAPH_STORAGE_MEMORIES_H

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"
#include "storage/vector/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A memory (doc/protocol-store.md#memories).  Only thread_id and entity can be NULL. */
struct memory {
	const char *memory_id;
	const char *user_id;
	const char *thread_id;
	const char *memory_type;
	const char *category;
	const char *metadata_json; /* an object, category included */
	const char *content;
	int64_t created_at; /* microseconds */
};

/* Which memories are meant: those for which all conditions hold.  Texts are compared byte by byte;
 * NULL: no condition.  A scope is a filter of which only user_id and thread_id are used. */
struct memory_filter {
	const char *user_id;
	const char *thread_id;
	const char *memory_type;
	const char *category;
	const char *filters_json; /* checked by memory_filter_check; memory_filter_fits decides */
};

/* A vector of the set's model, with the SHA-256 of its text if it is to be found again by that. */
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

/* What an update changes in a memory; its category stays. */
struct memory_update {
	const char *content;
	const struct memory_vector *vector;
	const char *metadata_json; /* NULL: metadata and links stay */
	const struct memory_links *links;
};

struct memory_hit {
	int64_t row; /* the engine's own key, above 0: what is stored later has a higher one */
	int64_t created_at; /* of listings and links; else 0 */
	double score;       /* the higher the better */
};

/* The result of a search: count hits in items, which has room for limit. */
struct memory_hits {
	struct memory_hit *items;
	size_t limit, count;
};

/* A text that waits for its vector. */
struct memory_text {
	int64_t row;
	const char *content;
};

/* A batch of such texts, and then the vectors that were made of them. */
struct memory_batch {
	bool all;      /* also memories whose vector is of another model */
	int64_t after; /* only rows above this one */
	size_t limit;

	struct memory_text *texts; /* in the order of rows */
	size_t count;

	float *vectors;        /* count times the dimension */
	unsigned char *hashes; /* count times 32 bytes, or NULL */
};

/* A model, and how many vectors it has made. */
struct memory_model {
	const char *name; /* arena text */
	int64_t dimension, vectors;
	bool current;
};

/* What a set has: memories, and the models that have made their vectors. */
struct memory_census {
	int64_t memories;
	struct memory_model *models; /* in the arena, in the order of their first use */
	size_t model_count;
};

struct memory_ops;

struct memory_set {
	const struct memory_ops *ops;
};

struct memory_ops {
	/* Opens (and makes or migrates, where needed) the memories for vectors of that model and
	 * dimension.  NULL with err set; its detail names the file. */
	struct memory_set *(*open)(struct storage *st, const struct storage_context *ctx,
	    const char *model, size_t dimension, struct error *err);
	void (*close)(struct memory_set *set);

	/* Stores m.  An id that is there already is an error. */
	bool (*put)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory *m, const struct memory_links *links,
	    const struct memory_vector *vector, struct error *err);
	/* Reads a memory in a scope.  False with no error set when there is none. */
	bool (*get)(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
	    const struct memory_filter *scope, const char *memory_id, struct memory *m,
	    struct error *err);
	/* Reads a memory by its row, if the filter holds for it; else as get. */
	bool (*load)(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
	    const struct memory_filter *filter, int64_t row, struct memory *m, struct error *err);
	/* *found says whether there was such a memory in the scope.  New metadata gets the category
	 * that the memory has as its member "category". */
	bool (*update)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *scope, const char *memory_id,
	    const struct memory_update *update, bool *found, struct error *err);
	bool (*remove)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *scope, const char *memory_id, bool *found,
	    struct error *err);
	/* Deletes the memories for which the filter holds and that existed when it began, in
	 * several transactions if there are many; *count says how many this call deleted. */
	bool (*forget)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *filter, int64_t *count, struct error *err);

	/*
	 * Searches: up to hits->limit that fulfil the filter, best first, ties by
	 * row, the higher first; "newest first" is by row as well.  One that has filters_json to
	 * look at ends without its waiter.
	 */

	/* Newest first; score is 0. */
	bool (*recent)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *filter, struct memory_hits *hits, struct error *err);
	/* By nearness of vectors of the set's model; score is what vector_similarity says.  Finds
	 * as many as there are with a vector, up to the limit; but in a large set it may miss one
	 * that is nearer. */
	bool (*similar)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *filter, const float *vector, enum vector_metric metric,
	    struct memory_hits *hits, struct error *err);
	/*
	 * Memories that have at least one of the text's words, whatever else is in it.  A word is a
	 * run of letters and digits, of any script; case and diacritics make no difference.  Score:
	 * the more of the words, the rarer they are, and the shorter the memory, the higher; it is
	 * comparable within one answer only.
	 */
	bool (*matching)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *filter, const char *text, struct memory_hits *hits,
	    struct error *err);
	/* Linked with one memory, newest first; score is 0.  Those are the memories that its
	 * relations name, those whose relations name it, and those with the same entity; never
	 * itself. */
	bool (*linked)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_filter *filter, int64_t row, struct memory_hits *hits,
	    struct error *err);

	/* Finds a stored vector of this model for a text with this hash; vector must have room for
	 * it. */
	bool (*known_vector)(struct memory_set *set, const struct storage_context *ctx,
	    const unsigned char *hash, float *vector, bool *found, struct error *err);

	/* Fills in the texts of a batch, in the arena: of memories that wait for a vector or, with
	 * all, that have none of this model. */
	bool (*unembedded)(struct memory_set *set, const struct storage_context *ctx,
	    struct arena *a, struct memory_batch *batch, struct error *err);
	/* Gives memories their vectors, in one transaction; those whose text has changed meanwhile
	 * keep waiting. */
	bool (*adopt)(struct memory_set *set, const struct storage_context *ctx,
	    const struct memory_batch *batch, struct error *err);

	bool (*census)(struct memory_set *set, const struct storage_context *ctx, struct arena *a,
	    struct memory_census *census, struct error *err);
	/* Whether any vector is of another model than the set was opened for. */
	bool (*has_foreign)(struct memory_set *set, const struct storage_context *ctx,
	    bool *foreign, struct error *err);
};

#endif
