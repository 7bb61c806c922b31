/* SPDX-License-Identifier: ISC */
/* AWS Signature Version 4, by which S3 and what speaks its protocol knows who asks: in a header,
 * or in a URL that anybody may use until it expires. */
#ifndef AGENTGRAPH_STORAGE_BLOB_SIGV4_H
#define AGENTGRAPH_STORAGE_BLOB_SIGV4_H

#include "base/buf.h"
#include "base/http/http.h"

#include <stdbool.h>
#include <stdint.h>

#define SIGV4_HASH_SIZE 65
#define SIGV4_DATE_SIZE 17 /* "20130524T000000Z" and its NUL */

/* SHA-256 of no bytes at all. */
#define SIGV4_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

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

/* The hash as 64 hexadecimal digits. */
void sigv4_hash(const void *data, size_t len, char out[SIGV4_HASH_SIZE]);
void sigv4_hex(const unsigned char hash[32], char out[SIGV4_HASH_SIZE]);

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

#endif
