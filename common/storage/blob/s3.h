/* SPDX-License-Identifier: ISC */
/*
 * A bucket of S3, or of another server that speaks its protocol: whole objects in, ranges of them
 * out.
 *
 * Requests are signed (sigv4.c), bodies included, and repeated with growing pauses when the server
 * is out of reach, busy or broken, until a deadline.  One object is shared by all threads.
 *
 * Failures: ERR_STORAGE for an object that is not there, ERR_TRANSIENT_STORAGE for everything else,
 * wrong credentials too; the cause says what the server said, without any secret.
 */
#ifndef AGENTGRAPH_STORAGE_BLOB_S3_H
#define AGENTGRAPH_STORAGE_BLOB_S3_H

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct s3;

/* Whether the settings MEDIA_CLOUD_* are valid; if not, err has a sentence that names the
 * variable. */
bool s3_check(const struct environment *env, struct error *err);

/* The bucket of valid settings. */
struct s3 *s3_new(const struct environment *env);
void s3_free(struct s3 *s3); /* NULL is fine */

/* Stores size bytes of the file behind fd, from its start.  The object is there, whole, when this
 * returns true; when it returns false, it may be there. */
bool s3_put(struct s3 *s3, const char *key, int fd, int64_t size, struct error *err);

/* The object's size, -1 with err set. */
int64_t s3_size(struct s3 *s3, const char *key, struct error *err);

/* Reads exactly len bytes of the object, len > 0. */
bool s3_get(
    struct s3 *s3, const char *key, int64_t offset, char *out, size_t len, struct error *err);

/* Removes the object, if there is one, and uploads of it that were not completed; does not repeat
 * this for long. */
bool s3_remove(struct s3 *s3, const char *key, struct error *err);

/* Headers for the bytes when they are fetched by URL. */
struct s3_answer {
	const char *type, *disposition;
};

/* A URL that gives the object to anybody for some seconds, in the arena. */
const char *s3_sign(struct s3 *s3, const char *key, const struct s3_answer *answer, int64_t seconds,
    struct arena *arena);

#endif
