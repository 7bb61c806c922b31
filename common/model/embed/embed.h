/* SPDX-License-Identifier: ISC */
/*
 * Embeddings: vectors for texts, from any service that speaks OpenAI's /embeddings.
 *
 * An embedder is made at start-up, is immutable, and serves any number of threads.  The key comes
 * from the environment only and stands in no error and no log line.
 */
#ifndef AGENTGRAPH_MODEL_EMBED_EMBED_H
#define AGENTGRAPH_MODEL_EMBED_EMBED_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMBED_MAX_DIMENSIONS 65536

/* Where vectors come from.  Borrowed by embedder_new, which copies what it needs. */
struct embed_target {
	const char *base_url;    /* "/embeddings" is added; NULL: OPENAI_BASE_URL, else OpenAI's */
	const char *model;       /* never NULL */
	size_t dimensions;       /* numbers a vector has; 1 to EMBED_MAX_DIMENSIONS */
	bool ask_dimensions;     /* send `dimensions` too, for models that can shorten */
	const char *api_key_env; /* variable that holds the key; NULL: OPENAI_API_KEY */
	int retries;             /* after the first try; below 0: 2 */
};

struct embedder;

/*
 * NULL with *problem set to a malloc'd sentence part ("base_url must be an http or https URL") when
 * the target is no good: a bad value, or no key for OpenAI's own service.  Another service without
 * a key is asked without one.
 */
struct embedder *embedder_new(const struct embed_target *target, char **problem);
void embedder_free(struct embedder *e);

/* Numbers a vector has. */
size_t embedder_dimensions(const struct embedder *e);

/* How long to wait: until deadline_ms (by clock_monotonic_ms), or until stop, which is asked
 * several times a second, says so; stop may be NULL. */
struct embed_wait {
	int64_t deadline_ms;
	bool (*stop)(void *arg);
	void *arg;
};

/*
 * Embeds count texts, which are UTF-8 and not empty, in as many requests as it takes.  vectors has
 * room for count × dimensions floats, row after row in the order of the texts; they are finite, and
 * as the service gave them (not normalised by us).  A time-out, 429, 5xx or lost connection is
 * tried again while wait (NULL: 60 seconds) allows.
 *
 * False with err set: ERR_STORE_UNAVAILABLE, its detail fit for clients, its cause for the log;
 * *refused, unless it is NULL, says whether the service may well take other texts (400, 413, 422).
 */
bool embed_texts(const struct embedder *e, const char *const *texts, size_t count, float *vectors,
    const struct embed_wait *wait, bool *refused, struct error *err);

/* ---- embed_scan.c: vectors out of the JSON of an /embeddings answer, for embed.c alone. */

/*
 * Reads the vectors of text (len bytes and a NUL after them) into vectors, which has room for
 * count × dimensions floats: data[i].embedding goes to row data[i].index (i where there is no
 * index).  Every row must come once, have that many numbers, and only finite ones.
 *
 * NULL, or else what is wrong, a static sentence part.
 */
const char *embed_scan(
    const char *text, size_t len, size_t count, size_t dimensions, float *vectors);

/*
 * ---- local_embed.c: the embedder that is built in: it needs no network, no file and no time to
 * speak of.
 *
 * It knows spelling, not meaning.  Words and the groups of letters in them are hashed into the
 * numbers of a vector, so texts are near each other when they share words, or words that are
 * spelled alike (plurals, compounds, typing errors, one stem).  It does not know that a car is a
 * vehicle, and matches no text with its translation.
 */

#define LOCAL_EMBED_NAME "builtin:ngrams-1" /* its number goes up when its vectors change */
#define LOCAL_EMBED_DIMENSIONS 384

/* The vector of a text in UTF-8: of length 1, and all zeroes only for a blank text. */
void local_embed(const char *text, float vector[LOCAL_EMBED_DIMENSIONS]);

#endif
