/* SPDX-License-Identifier: ISC */
/* Who somebody is: what a bearer token says, or a plug-in. */
#ifndef AGENTGRAPH_ACCESS_AUTHENTICATION_H
#define AGENTGRAPH_ACCESS_AUTHENTICATION_H

#include "access/access.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/problems.h"
#include "config/config.h"
#include "config/plugin.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- jwt_auth.c: bearer tokens, JWTs of the one algorithm that is configured
 * (doc/protocol-access.md#tokens).
 *
 * The algorithm is that of the configuration, never the token's own choice.
 */

struct verified; /* signature.c */

#define JWT_LONGEST 16384 /* bytes of a token; more than a request's header can hold */

/* What tokens are checked against; the texts are borrowed from the configuration. */
struct jwt_auth {
	const char *algorithm; /* NULL, as is secret: not configured, every token is refused */
	const char *secret;
	const char *issuer;        /* NULL: any */
	const char *audience;      /* NULL: any */
	struct verified *verified; /* NULL: the signature is checked each time */
};

/* Takes over the settings, and reports a public key that is none, or that does not go with the
 * algorithm. */
void jwt_auth_init(struct jwt_auth *auth, const struct environment *env, struct problems *problems);
void jwt_auth_release(struct jwt_auth *auth); /* all-zero is fine */

/* A token that was found good. */
struct jwt_claims {
	cJSON *user;         /* all claims, user_id as text; in the arena */
	const char *user_id; /* in user */
	int64_t expires;     /* Unix seconds */
};

/* Checks a token at the time now, Unix seconds with a fraction.  False with the error of
 * doc/protocol-access.md#tokens, and the cause for the log. */
bool jwt_auth_check(const struct jwt_auth *auth, const char *token, double now, struct arena *a,
    struct jwt_claims *claims, struct error *err);

/*
 * ---- signature.c: signatures of tokens: HS, RS and ES with 256, 384 and 512 (RFC 7518 3.2
 * to 3.4), by OpenSSL.
 *
 * libjwt makes and checks the service's own tickets, but not the tokens of others: it refuses the
 * header of access tokens by RFC 9068 ("typ": "at+jwt"), and claims with numbers of over 64 bits.
 */

/* What a signature is checked with; algorithm is one of the nine names. */
struct signature_key {
	const char *algorithm;
	const char *secret; /* not empty; for RS and ES it is the public key as PEM */
};

/* Whether its key is a secret: HS256 to HS512. */
bool signature_is_hmac(const char *algorithm);

/* Bits of the curve that an ECDSA algorithm uses (RFC 7518 3.4); 0 for other algorithms. */
int signature_curve(const char *algorithm);

/* Whether the secret is a public key that goes with the key's algorithm, RS or ES. */
bool signature_key_fits(const struct signature_key *key);

/* Whether the signature (size bytes) is one of the key over the first len bytes of text. */
bool signature_verify(const struct signature_key *key, const char *text, size_t len,
    const void *signature, size_t size);

/*
 * Tokens whose signature was found good, so that it need not be checked with every request.
 *
 * A signature over the same bytes with the same key stays good; whatever can change, such as the
 * time, is not remembered here.  A token is known by its SHA-256 alone, so that none of them lies
 * in memory longer than its request.  All functions may be called from several threads.
 */
#define VERIFIED_SIZE 4096 /* places; a token takes the place of another one, if need be */

/* A memory for the tokens of one key. */
struct verified *verified_new(void);
void verified_free(struct verified *verified); /* NULL is fine */

/* Whether a token is remembered; remembers one. */
bool verified_has(struct verified *verified, const char *token);
void verified_add(struct verified *verified, const char *token);

/*
 * ---- custom_auth.c: an authentication that a plug-in brings: struct ag_auth of agentgraph.h
 * (doc/protocol-access.md#plug-ins).
 */

struct custom_auth {
	struct plugin plugin;
	void *data; /* the plug-in's own */
};

/* Loads and opens what config names; false with a problem added and nothing to close. */
bool custom_auth_open(
    struct custom_auth *auth, const struct config *config, struct problems *problems);
void custom_auth_close(struct custom_auth *auth); /* all-zero is fine */

/* Asks the plug-in.  A user without a user_id that can be one is anonymous: identity->user_id is
 * NULL then. */
bool custom_auth_check(const struct custom_auth *auth, const struct presented *presented,
    struct arena *a, struct identity *identity, struct error *err);

#endif
