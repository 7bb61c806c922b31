/* SPDX-License-Identifier: ISC */
/*
 * The rate limit: how many requests a key may make in a sliding window
 * (doc/protocol-access.md#rate-limits).
 *
 * Where the count is kept is the configuration's choice: in memory that the processes of this
 * instance share, in a Redis server that several instances share, or with a plug-in.
 */
#ifndef AGENTGRAPH_ACCESS_LIMIT_H
#define AGENTGRAPH_ACCESS_LIMIT_H

#include "access/address.h"
#include "base/arena.h"
#include "base/problems.h"
#include "config/config.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limiter;
struct shared;

/* Seconds throughout. */
struct limit_verdict {
	bool allowed;
	bool counted;        /* false: the backend failed, and what follows is no count */
	int64_t limit;       /* requests in a window */
	int64_t remaining;   /* requests that are left in this window */
	int64_t reset_after; /* until the oldest request leaves the window, or until a retry */
	int64_t window;
};

/*
 * Loads what the configuration asks for, the container of `injectq` also when nothing needs it yet.
 * NULL with every mistake in problems.  Without a rate limit nothing is counted.
 */
struct limiter *limiter_open(const struct config *config, struct problems *problems);
void limiter_close(struct limiter *limiter); /* NULL is fine */

/* Warns of a server that does not answer now. */
void limiter_probe(struct limiter *limiter, struct problems *problems);

/* Gives the backend `memory` the memory to count in; to be called before the first check. */
void limiter_share(struct limiter *limiter, struct shared *shared);

/* Whether requests are counted at all. */
bool limiter_is_on(const struct limiter *limiter);

/* Whether the key of a request depends on who asks, so that a credential has to be looked at. */
bool limiter_needs_user(const struct limiter *limiter);

/* Whether the path, without its query, is never counted. */
bool limiter_excludes(const struct limiter *limiter, const char *path, size_t len);

/* Which proxies are believed (address.h); borrowed. */
const struct address_trust *limiter_trust(const struct limiter *limiter);

/* What an address is counted as: itself for IPv4, its network for IPv6. */
void limiter_network(const struct limiter *limiter, const char *address, char out[ADDRESS_SIZE]);

/* The key that a request is counted under, in the arena.  user_id is NULL for whoever has not
 * proved to be somebody. */
const char *limiter_key(
    const struct limiter *limiter, const char *user_id, const char *address, struct arena *a);

/* Counts a request of key, unless it is refused.  Never waits longer than a second. */
void limit_check(struct limiter *limiter, const char *key, struct limit_verdict *verdict);

/* Adds limit, window_seconds and retry_after_seconds, as a refusal has them. */
void limit_describe(const struct limit_verdict *verdict, cJSON *object);

#endif
