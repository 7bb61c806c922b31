/* SPDX-License-Identifier: ISC */
/* What the files of a bucket's client (s3.h) share: one request, and objects in parts. */
#ifndef AGENTGRAPH_STORAGE_BLOB_S3_CALL_H
#define AGENTGRAPH_STORAGE_BLOB_S3_CALL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/http/http.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- sigv4.c: AWS Signature Version 4, by which S3 and what speaks its protocol knows who asks:
 * in a header, or in a URL that anybody may use until it expires. */

#define SIGV4_HASH_SIZE 65
#define SIGV4_DATE_SIZE 17 /* "20130524T000000Z" and its NUL */

/* Who signs, and for where. */
struct sigv4_key {
	const char *id, *secret, *region;
};

/* What is signed. */
struct sigv4_request {
	const char *method;
	const char *path;  /* as sent: encoded once */
	const char *query; /* as sent: encoded, its parameters sorted; "" for none */
	const struct http_header *headers; /* names in lower case and sorted; "host" among them */
	size_t header_count;
	const char *payload; /* what x-amz-content-sha256 says */
	char date[SIGV4_DATE_SIZE];
};

/* The time in Unix seconds as signatures have it. */
void sigv4_date(int64_t time, char out[SIGV4_DATE_SIZE]);

/* The SHA-256 as 64 hexadecimal digits. */
void sigv4_hash(const void *data, size_t len, char out[SIGV4_HASH_SIZE]);

/* Appends the text percent-encoded; slashes stay with keep_slash. */
void sigv4_encode(struct buf *out, const char *text, bool keep_slash);

/* Appends the value of the header Authorization. */
void sigv4_authorization(
    struct buf *out, const struct sigv4_key *key, const struct sigv4_request *request);

/* The parameter X-Amz-Credential, not encoded yet. */
void sigv4_credential(
    struct buf *out, const struct sigv4_key *key, const struct sigv4_request *request);

/* The parameter X-Amz-Signature for a request whose query has all others. */
void sigv4_signature(
    const struct sigv4_key *key, const struct sigv4_request *request, char out[SIGV4_HASH_SIZE]);

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
	bool once; /* doing it twice is not the same as doing it once, so it is not repeated when
		      the answer was lost */
};

/* Makes the request, again until it is answered.  response must be all-zero, and must be released.
 * True for a status of 2xx; else false with err set. */
bool s3_run(
    struct s3 *s3, const struct s3_call *call, struct http_response *response, struct error *err);

/* Deletes an object, or what query names of it; what is not there counts as deleted. */
bool s3_delete(
    struct s3 *s3, const char *key, const char *query, int64_t patience_ms, struct error *err);

/* The text of the first element name, malloc'd; NULL when there is none, or it is no plain text. */
char *s3_element(const char *xml, const char *name);

/* Appends the path of an object, encoded; for key NULL that of the bucket. */
void s3_path(const struct s3 *s3, const char *key, struct buf *out);

/* The key that requests are signed with; borrows from s3. */
struct sigv4_key s3_signer(const struct s3 *s3);

/* ---- s3_parts.c: objects in parts, which appear as a whole or not at all */

/* An object beyond this goes in parts. */
#define S3_PART (8LL << 20)

/* As s3_put; *sent says whether all parts were sent, so that the object can be there though this
 * returned false. */
bool s3_put_parts(
    struct s3 *s3, const char *key, int fd, int64_t size, bool *sent, struct error *err);

/* Removes uploads of an object that were begun and not completed. */
bool s3_abort_parts(struct s3 *s3, const char *key, struct error *err);

#endif
