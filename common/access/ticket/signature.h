/* SPDX-License-Identifier: ISC */
/*
 * Signatures of tokens: HS, RS and ES with 256, 384 and 512 (RFC 7518 3.2 to 3.4), by OpenSSL.
 *
 * libjwt makes and checks the service's own tickets, but not the tokens of others: it refuses the
 * header of access tokens by RFC 9068 ("typ": "at+jwt"), and claims with numbers of over 64 bits.
 */
#ifndef AGENTGRAPH_ACCESS_TICKET_SIGNATURE_H
#define AGENTGRAPH_ACCESS_TICKET_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

/* What a signature is checked with; algorithm is one of the nine names. */
struct signature_key {
	const char *algorithm;
	const char *secret; /* not empty; for RS and ES the public key as PEM */
};

bool signature_is_hmac(const char *algorithm);

/* Bits of the curve that an algorithm of ECDSA goes with (RFC 7518 3.4); 0 for the others. */
int signature_curve(const char *algorithm);

/* Whether the secret is a public key that goes with the algorithm, RS or ES. */
bool signature_key_fits(const struct signature_key *key);

/* Whether the signature, its bytes, is one of the first len bytes of text. */
bool signature_verify(const struct signature_key *key, const char *text, size_t len,
    const void *signature, size_t size);

/*
 * Tokens whose signature was found good, so that it need not be checked with every request.
 *
 * A signature over the same bytes with the same key stays good; whatever can change, such as the
 * time, is not remembered here.  A token is known by its SHA-256 alone, so that none of them lies
 * in memory longer than its request.  All functions may be called from several threads.
 */
#define VERIFIED_SIZE 4096 /* places; a token takes that of another one, if need be */

struct verified;

/* For the tokens of one key. */
struct verified *verified_new(void);
void verified_free(struct verified *verified); /* NULL is fine */

bool verified_has(struct verified *verified, const char *token);
void verified_add(struct verified *verified, const char *token);

#endif
