/* SPDX-License-Identifier: ISC */
/*
 * Makes JSON Web Tokens, also wrong ones, with OpenSSL alone: what checks them must not be what
 * made them.
 */
#ifndef AGENTGRAPH_UNIT_MINT_FIXTURE_H
#define AGENTGRAPH_UNIT_MINT_FIXTURE_H

/*
 * A token over these two texts, malloc'd.  key is the secret of HS256, HS384 and HS512, the private
 * key as PEM of RS* and ES*; for any other algorithm the signature is empty.  What the header says
 * is the caller's business.
 */
char *mint(const char *algorithm, const char *key, const char *header, const char *payload);

/* The same with a header that fits. */
char *mint_plain(const char *algorithm, const char *key, const char *payload);

/* A new pair of keys for an algorithm as PEM, malloc'd: RSA of 2048 bits, or on the curve. */
struct mint_keys {
	char *private_pem;
	char *public_pem;
};
struct mint_keys mint_keys_new(const char *algorithm);
void mint_keys_free(struct mint_keys *keys);

#endif
