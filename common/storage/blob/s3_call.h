/* SPDX-License-Identifier: ISC */
/* What the files of a bucket's client (s3.h) share: one request, and objects in parts. */
#ifndef AGENTGRAPH_STORAGE_BLOB_S3_CALL_H
#define AGENTGRAPH_STORAGE_BLOB_S3_CALL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/http/http.h"
#include "storage/blob/sigv4.h"

struct s3 {
	char *scheme;                       /* "https" */
	char *authority;                    /* host and port, as the header Host has them */
	char *base;                         /* the path before the key, with a slash at its end */
	char *id, *secret, *token, *region; /* token may be NULL */
};

/* One request, and how its answer is taken. */
struct s3_call {
	const char *method;
	const char *key;   /* NULL: the bucket itself */
	const char *query; /* encoded, its parameters sorted; NULL for none */
	const char *range; /* value of the header, or NULL */
	const char *text;  /* the body, or NULL */
	int fd;            /* else, where len > 0, the body is len bytes of it from offset on */
	int64_t offset;
	size_t len;
	char *out; /* not NULL: the answer's body, exactly out_len bytes */
	size_t out_len;
	int64_t deadline_ms; /* by clock_monotonic_ms */
	int attempts;
	bool once; /* what a second time does is not what one time does, so an answer that was lost
		    * is not asked for again */
};

/* Makes the request until it is answered; response is all-zero before and is to be released.  True
 * for a status of 2xx; else false with err set. */
bool s3_run(
    struct s3 *s3, const struct s3_call *call, struct http_response *response, struct error *err);

/* What stands between <name> and </name> first, malloc'd; NULL when it does not, or is no plain
 * text. */
char *s3_element(const char *xml, const char *name);

/* The path of an object, encoded; of the bucket for NULL. */
void s3_path(const struct s3 *s3, const char *key, struct buf *out);

/* Whose signature requests have; borrows from s3. */
struct sigv4_key s3_signer(const struct s3 *s3);

/* ---- s3_parts.c: objects in parts, which appear as a whole or not at all */

/* An object beyond this goes in parts. */
#define S3_PART (8LL << 20)

/* As s3_put; *sent says whether all parts were sent, so that the object can be there though this
 * returned false. */
bool s3_put_parts(
    struct s3 *s3, const char *key, int fd, int64_t size, bool *sent, struct error *err);

/* Takes away what was begun of an object and not ended. */
bool s3_abort_parts(struct s3 *s3, const char *key, struct error *err);

#endif
