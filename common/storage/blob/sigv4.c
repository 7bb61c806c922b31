/* SPDX-License-Identifier: ISC */
/* The canonical request, the derived key, and the signature in its two forms. */
#include "storage/blob/s3_call.h"

#include "base/http/percent.h"
#include "base/id.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <time.h>

#define HASH 32
#define DAY 8 /* digits of the date without the time */
#define SERVICE "s3"
#define ALGORITHM "AWS4-HMAC-SHA256"

void sigv4_date(int64_t seconds, char out[SIGV4_DATE_SIZE])
{
	time_t t = (time_t)seconds;
	struct tm tm;
	gmtime_r(&t, &tm);
	strftime(out, SIGV4_DATE_SIZE, "%Y%m%dT%H%M%SZ", &tm);
}

void sigv4_hash(const void *data, size_t len, char out[SIGV4_HASH_SIZE])
{
	unsigned char hash[HASH];
	int done = EVP_Digest(data, len, hash, NULL, EVP_sha256(), NULL);
	assert(done);
	hex_text(hash, HASH, out);
}

void sigv4_encode(struct buf *out, const char *text, bool keep_slash)
{
	percent_add(out, text, keep_slash ? "/" : "");
}

/* ---- what is signed ---- */

static void sigv4_add_names(struct buf *out, const struct sigv4_request *r)
{
	for (size_t i = 0; i < r->header_count; i++)
		buf_printf(out, "%s%s", i ? ";" : "", r->headers[i].name);
}

static void sigv4_add_request(struct buf *out, const struct sigv4_request *r)
{
	buf_printf(out, "%s\n%s\n", r->method, r->path);
	/* a parameter without a value has an equals sign all the same */
	for (const char *query = r->query; *query;) {
		size_t len = strcspn(query, "&");
		buf_add(out, query, len);
		if (!memchr(query, '=', len))
			buf_putc(out, '=');
		query += len;
		if (*query)
			buf_putc(out, *query++);
	}
	buf_putc(out, '\n');
	for (size_t i = 0; i < r->header_count; i++)
		buf_printf(out, "%s:%s\n", r->headers[i].name, r->headers[i].value);
	buf_putc(out, '\n');
	sigv4_add_names(out, r);
	buf_printf(out, "\n%s", r->payload);
}

static void sigv4_add_scope(
    struct buf *out, const struct sigv4_key *key, const struct sigv4_request *request)
{
	buf_printf(out, "%.*s/%s/" SERVICE "/aws4_request", DAY, request->date, key->region);
}

/* ---- the signature ---- */

static void sigv4_mac(
    const void *key, size_t key_len, const char *text, size_t len, unsigned char out[HASH])
{
	const void *done =
	    HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, len, out, NULL);
	assert(done);
}

void sigv4_signature(
    const struct sigv4_key *key, const struct sigv4_request *request, char out[SIGV4_HASH_SIZE])
{
	struct buf text = {0}, canonical = {0}, secret = {0};
	char hash[SIGV4_HASH_SIZE];
	unsigned char derived[HASH], signature[HASH];
	sigv4_add_request(&canonical, request);
	sigv4_hash(canonical.data, canonical.len, hash);
	buf_printf(&text, ALGORITHM "\n%s\n", request->date);
	sigv4_add_scope(&text, key, request);
	buf_printf(&text, "\n%s", hash);
	buf_printf(&secret, "AWS4%s", key->secret);
	sigv4_mac(secret.data, secret.len, request->date, DAY, derived);
	sigv4_mac(derived, HASH, key->region, strlen(key->region), derived);
	sigv4_mac(derived, HASH, SERVICE, strlen(SERVICE), derived);
	sigv4_mac(derived, HASH, "aws4_request", strlen("aws4_request"), derived);
	sigv4_mac(derived, HASH, text.data, text.len, signature);
	hex_text(signature, HASH, out);
	OPENSSL_cleanse(secret.data, secret.len);
	OPENSSL_cleanse(derived, sizeof(derived));
	buf_release(&secret);
	buf_release(&canonical);
	buf_release(&text);
}

void sigv4_credential(
    struct buf *out, const struct sigv4_key *key, const struct sigv4_request *request)
{
	buf_printf(out, "%s/", key->id);
	sigv4_add_scope(out, key, request);
}

void sigv4_authorization(
    struct buf *out, const struct sigv4_key *key, const struct sigv4_request *request)
{
	char signature[SIGV4_HASH_SIZE];
	sigv4_signature(key, request, signature);
	buf_puts(out, ALGORITHM " Credential=");
	sigv4_credential(out, key, request);
	buf_puts(out, ",SignedHeaders=");
	sigv4_add_names(out, request);
	buf_printf(out, ",Signature=%s", signature);
}
