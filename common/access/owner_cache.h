/* SPDX-License-Identifier: ISC */
/*
 * Who owns which thread (doc/protocol-access.md#ownership): the database's answer, kept in
 * this process and, where one is configured, in a shared cache.
 *
 * An owner never changes, but a thread can be deleted and its id be used again by somebody else.
 * So every deletion counts up a generation in memory that all processes of the instance share, one
 * of many by the id's hash.  What a process keeps holds for the generation that it had read before
 * it asked the database.  The shared cache cannot be told apart from its past like that: it is
 * asked only about ids of whose generation nothing was deleted since the service started.  That
 * there is no thread is never kept.
 */
#ifndef AGENTGRAPH_ACCESS_OWNER_CACHE_H
#define AGENTGRAPH_ACCESS_OWNER_CACHE_H

#include "access/cache.h"
#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"

#include <stdbool.h>
#include <stddef.h>

#define OWNER_CACHE_SIZE 10000 /* threads; the one not asked for longest goes first */
#define OWNER_KEY_PREFIX "agentgraph:authz:owner:"

struct owner_cache;

/* cache may be NULL; it stays the caller's. */
struct owner_cache *owner_cache_new(
    struct storage *storage, struct shared *shared, struct cache *cache);
void owner_cache_free(struct owner_cache *owners); /* NULL is fine */

/* *owner is the thread's user_id, in the arena, or NULL when there is no such thread.  False with
 * err set when that cannot be told. */
bool owner_cache_get(struct owner_cache *owners, const char *thread_id, struct arena *a,
    const char **owner, struct error *err);

/*
 * The same from the database alone, for a thread whose kept owner is not who asks: other instances
 * tell nobody of the threads that they delete, and a shared cache may have been away.  What was
 * kept and is wrong is forgotten.
 */
bool owner_cache_ask(struct owner_cache *owners, const char *thread_id, const char *kept,
    struct arena *a, const char **owner, struct error *err);

/* Forgets the thread everywhere.  Called before it is deleted, in case this process dies on the
 * way, and again afterwards, in case it was asked for in between. */
void owner_cache_evict(struct owner_cache *owners, const char *thread_id);

/* How many threads this process keeps. */
size_t owner_cache_count(struct owner_cache *owners);

#endif
