/* SPDX-License-Identifier: ISC */
/* Tokens, signed for a test. */
#include "mint_fixture.h"

#include "base/buf.h"
#include "base/memory.h"

#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#define SIGNATURE_MAX 1024

static void require(int good)
{
	if (!good)
		abort();
}

static void add_base64url(struct buf *out, const unsigned char *data, size_t len)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned bits = 0, held = 0;
	for (size_t i = 0; i < len; i++) {
		bits = bits << 8 | data[i];
		for (held += 8; held >= 6; held -= 6)
			buf_putc(out, digits[bits >> (held - 6) & 63]);
	}
	if (held)
		buf_putc(out, digits[bits << (6 - held) & 63]);
}

static const EVP_MD *digest_of(const char *algorithm)
{
	const char *bits = algorithm + 2;
	return !strcmp(bits, "256") ? EVP_sha256()
	    : !strcmp(bits, "384")  ? EVP_sha384()
				    : EVP_sha512();
}

/* OpenSSL writes the two numbers as DER, a token has them one after the other (RFC 7518 3.4). */
static size_t join_numbers(unsigned char *signature, size_t len, size_t size)
{
	const unsigned char *in = signature;
	unsigned char joined[SIGNATURE_MAX];
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &in, (long)len);
	require(sig != NULL);
	BN_bn2binpad(ECDSA_SIG_get0_r(sig), joined, (int)size);
	BN_bn2binpad(ECDSA_SIG_get0_s(sig), joined + size, (int)size);
	memcpy(signature, joined, 2 * size);
	ECDSA_SIG_free(sig);
	return 2 * size;
}

static size_t sign_with_key(
    const char *algorithm, const char *pem, const struct buf *text, unsigned char *out)
{
	size_t len = SIGNATURE_MAX;
	BIO *bio = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	require(key && EVP_DigestSignInit(ctx, NULL, digest_of(algorithm), NULL, key) == 1 &&
	    EVP_DigestSign(ctx, out, &len, (const unsigned char *)text->data, text->len) == 1);
	if (*algorithm == 'E')
		len = join_numbers(out, len, (size_t)(EVP_PKEY_bits(key) + 7) / 8);
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
	BIO_free(bio);
	return len;
}

static size_t sign(const char *algorithm, const char *key, const struct buf *text,
    unsigned char out[SIGNATURE_MAX])
{
	unsigned len = 0;
	if (!strncmp(algorithm, "RS", 2) || !strncmp(algorithm, "ES", 2))
		return sign_with_key(algorithm, key, text, out);
	if (!strncmp(algorithm, "HS", 2))
		HMAC(digest_of(algorithm), key, (int)strlen(key), (const unsigned char *)text->data,
		    text->len, out, &len);
	return len;
}

char *mint(const char *algorithm, const char *key, const char *header, const char *payload)
{
	struct buf token = {0};
	unsigned char signature[SIGNATURE_MAX];
	add_base64url(&token, (const unsigned char *)header, strlen(header));
	buf_putc(&token, '.');
	add_base64url(&token, (const unsigned char *)payload, strlen(payload));
	size_t len = sign(algorithm, key, &token, signature);
	buf_putc(&token, '.');
	add_base64url(&token, signature, len);
	return buf_detach(&token);
}

char *mint_plain(const char *algorithm, const char *key, const char *payload)
{
	char *header = xasprintf("{\"alg\":\"%s\",\"typ\":\"JWT\"}", algorithm);
	char *token = mint(algorithm, key, header, payload);
	free(header);
	return token;
}

static char *take_text(BIO *bio)
{
	char *data;
	long len = BIO_get_mem_data(bio, &data);
	char *text = xstrndup(data, (size_t)len);
	BIO_free(bio);
	return text;
}

static EVP_PKEY *make_key(const char *algorithm)
{
	if (*algorithm == 'R')
		return EVP_RSA_gen(2048);
	return EVP_EC_gen(!strcmp(algorithm, "ES256") ? "P-256"
		: !strcmp(algorithm, "ES384")         ? "P-384"
						      : "P-521");
}

struct mint_keys mint_keys_new(const char *algorithm)
{
	EVP_PKEY *key = make_key(algorithm);
	BIO *private = BIO_new(BIO_s_mem()), *public = BIO_new(BIO_s_mem());
	require(key && PEM_write_bio_PrivateKey(private, key, NULL, NULL, 0, NULL, NULL) == 1 &&
	    PEM_write_bio_PUBKEY(public, key) == 1);
	EVP_PKEY_free(key);
	return (struct mint_keys){take_text(private), take_text(public)};
}

void mint_keys_free(struct mint_keys *keys)
{
	free(keys->private_pem);
	free(keys->public_pem);
}
