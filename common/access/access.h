/* SPDX-License-Identifier: ISC */
/*
 * Who is asking, and what may they do (doc/protocol-access.md).
 *
 * Authentication turns a credential into an identity; authorization asks whether that identity may
 * do an action on a resource, and whose data it reaches.  One struct access serves all threads of a
 * process; what it holds is immutable, but for its owner cache.
 */
#ifndef AGENTGRAPH_ACCESS_ACCESS_H
#define AGENTGRAPH_ACCESS_ACCESS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/problems.h"
#include "config/config.h"
#include "storage/storage.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct access;

/*
 * Loads keys, plug-ins and caches as configured; NULL with every mistake in problems.  While
 * storage is NULL, owners of threads cannot be looked up: access_attach brings it before the first
 * request, or there is none.  shared is the instance's memory, and NULL together with storage.
 * config stays the caller's and must live as long.
 */
struct access *access_open(const struct config *config, struct storage *storage,
    struct shared *shared, struct problems *problems);
void access_attach(struct access *access, struct storage *storage, struct shared *shared);

/* Warns of a cache that does not answer now. */
void access_probe(struct access *access, struct problems *problems);

/* To be called before the storage is closed; NULL is fine. */
void access_close(struct access *access);

/* A request as authentication sees it. */
struct presented {
	const char *credential; /* the bearer token, or NULL */
	bool websocket;
	const char *method, *path, *address;
	/* Value of a request header by its lower-case name with dashes, or NULL; for custom
	 * backends. */
	const char *(*header)(void *arg, const char *name);
	void *arg;
};

struct identity {
	cJSON *user;         /* the user context, an object; in the arena */
	const char *user_id; /* NULL: a custom backend let somebody in without one */
	bool verified;       /* a credential was checked */
	int64_t expires;     /* Unix seconds, 0: never */
};

/*
 * Checks the credential.  With auth off everybody is anonymous and nothing is looked at.  False
 * with an error of doc/protocol-access.md#tokens or #plug-ins set (a status that a custom backend
 * chose is in err->status).
 */
bool access_authenticate(struct access *access, const struct presented *presented, struct arena *a,
    struct identity *identity, struct error *err);

/* An action on a resource: "graph", "invoke"; resource_id NULL where the request names none. */
struct permission {
	const char *resource;
	const char *action;
	const char *resource_id;
};

/*
 * Scope, then the backend (doc/protocol.md#order-of-checks step 7); stamps user.authz on
 * success.  False with PERMISSION_ERROR set.  With auth off everything is allowed.
 */
bool access_permit(struct access *access, struct identity *identity,
    const struct permission *permission, struct error *err);

/*
 * The same for a thread that was read, by the owner that it has: the owner that access_permit went
 * by may be an old one, if the thread was made, or deleted and made by somebody else, since then.
 */
bool access_owns(const struct access *access, const struct identity *identity,
    const struct permission *permission, const char *owner, struct error *err);

/* Whose threads a listing reaches: the user_id, or NULL for everybody's (the table of
 * doc/protocol-access.md#ownership). */
const char *access_reach(const struct access *access, const struct identity *identity);

/*
 * Forgets the owner of a thread in every tier and every process.  To be called before the thread is
 * deleted, in case this process dies on the way, and again afterwards.
 */
void access_evict(struct access *access, const char *thread_id);

#endif
