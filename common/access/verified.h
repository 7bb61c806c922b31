/* SPDX-License-Identifier: ISC */
/*
 * Tokens whose signature was found good, so that it need not be checked with every request.
 *
 * A signature over the same bytes with the same key stays good; whatever can change, such as the
 * time, is not remembered here.  A token is known by its SHA-256 alone, so that none of them lies
 * in memory longer than its request.  All functions may be called from several threads.
 */
#ifndef AGENTGRAPH_ACCESS_VERIFIED_H
#define AGENTGRAPH_ACCESS_VERIFIED_H

#include <stdbool.h>

#define VERIFIED_SIZE 4096 /* places; a token takes that of another one, if need be */

struct verified;

/* For the tokens of one key. */
struct verified *verified_new(void);
void verified_free(struct verified *verified); /* NULL is fine */

bool verified_has(struct verified *verified, const char *token);
void verified_add(struct verified *verified, const char *token);

#endif
