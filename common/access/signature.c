/* SPDX-License-Identifier: ISC */
/* Checking HMAC, RSA and ECDSA signatures, whether a secret goes with an algorithm, and the table
 * of what was found good: a digest has one place, and a newer token takes it over. */
#include "access/authentication.h"

#include "base/memory.h"

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool signature_is_hmac(const char *algorithm)
{
	return strncmp(algorithm, "HS", 2) == 0;
}

int signature_curve(const char *algorithm)
{
	static const struct {
		const char *name;
		int bits;
	} curves[] = {{"ES256", 256}, {"ES384", 384}, {"ES512", 521}};
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
		if (strcmp(curves[i].name, algorithm) == 0)
			return curves[i].bits;
	return 0;
}

/* The hash that the number at the end of the algorithm's name means. */
static const EVP_MD *signature_digest(const char *algorithm)
{
	const char *bits = algorithm + strlen("HS");
	if (strcmp(bits, "256") == 0)
		return EVP_sha256();
	return strcmp(bits, "384") == 0 ? EVP_sha384() : EVP_sha512();
}

/* The public key, or NULL when the secret is none that goes with the algorithm. */
static EVP_PKEY *signature_public_key(const struct signature_key *key)
{
	int bits = signature_curve(key->algorithm);
	BIO *bio = BIO_new_mem_buf(key->secret, -1);
	EVP_PKEY *pkey = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
	BIO_free(bio);
	if (pkey && EVP_PKEY_base_id(pkey) == (bits ? EVP_PKEY_EC : EVP_PKEY_RSA) &&
	    (!bits || EVP_PKEY_bits(pkey) == bits))
		return pkey;
	EVP_PKEY_free(pkey);
	return NULL;
}

bool signature_key_fits(const struct signature_key *key)
{
	EVP_PKEY *pkey = signature_public_key(key);
	EVP_PKEY_free(pkey);
	ERR_clear_error();
	return pkey != NULL;
}

/* The two halves of an ECDSA signature, in the form that OpenSSL takes, malloc'd by it; NULL when
 * their size is not that of the curve. */
static unsigned char *signature_join_halves(
    const unsigned char *halves, size_t size, int bits, int *len)
{
	int half = (bits + 7) / 8;
	unsigned char *der = NULL;
	if (size != 2 * (size_t)half)
		return NULL;
	ECDSA_SIG *both = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(halves, half, NULL), *s = BN_bin2bn(halves + half, half, NULL);
	if (both && r && s && ECDSA_SIG_set0(both, r, s))
		*len = i2d_ECDSA_SIG(both, &der);
	ECDSA_SIG_free(both);
	return der;
}

bool signature_verify(const struct signature_key *key, const char *text, size_t len,
    const void *signature, size_t size)
{
	const unsigned char *signed_text = (const unsigned char *)text;
	const EVP_MD *digest = signature_digest(key->algorithm);
	if (signature_is_hmac(key->algorithm)) {
		unsigned char mac[EVP_MAX_MD_SIZE];
		unsigned written = 0;
		return HMAC(digest, key->secret, (int)strlen(key->secret), signed_text, len, mac,
			   &written) &&
		    written == size && CRYPTO_memcmp(mac, signature, size) == 0;
	}
	int bits = signature_curve(key->algorithm), der_len = 0;
	unsigned char *der = bits ? signature_join_halves(signature, size, bits, &der_len) : NULL;
	EVP_PKEY *pkey = signature_public_key(key);
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool good = pkey && md && (!bits || (der && der_len > 0)) &&
	    EVP_DigestVerifyInit(md, NULL, digest, NULL, pkey) == 1 &&
	    EVP_DigestVerify(
		md, bits ? der : signature, bits ? (size_t)der_len : size, signed_text, len) == 1;
	EVP_MD_CTX_free(md);
	EVP_PKEY_free(pkey);
	OPENSSL_free(der);
	ERR_clear_error();
	return good;
}

/* ---- what was found good ---- */

struct digest {
	unsigned char bytes[SHA256_DIGEST_LENGTH]; /* all zero: an empty place */
};

struct verified {
	pthread_mutex_t lock; /* guards places */
	struct digest places[VERIFIED_SIZE];
};

/* The token's digest, and the place that it has. */
static struct digest *verified_place(
    struct verified *verified, const char *token, struct digest *digest)
{
	SHA256((const unsigned char *)token, strlen(token), digest->bytes);
	return &verified->places[(digest->bytes[0] | digest->bytes[1] << 8) % VERIFIED_SIZE];
}

bool verified_has(struct verified *verified, const char *token)
{
	struct digest digest;
	const struct digest *place = verified_place(verified, token, &digest);
	pthread_mutex_lock(&verified->lock);
	bool has = memcmp(place, &digest, sizeof(digest)) == 0;
	pthread_mutex_unlock(&verified->lock);
	return has;
}

void verified_add(struct verified *verified, const char *token)
{
	struct digest digest;
	struct digest *place = verified_place(verified, token, &digest);
	pthread_mutex_lock(&verified->lock);
	*place = digest;
	pthread_mutex_unlock(&verified->lock);
}

struct verified *verified_new(void)
{
	struct verified *verified = xcalloc(1, sizeof(*verified));
	pthread_mutex_init(&verified->lock, NULL);
	return verified;
}

void verified_free(struct verified *verified)
{
	if (!verified)
		return;
	pthread_mutex_destroy(&verified->lock);
	free(verified);
}
