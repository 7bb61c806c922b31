/* SPDX-License-Identifier: ISC */
/* Authentication and authorization put together, and who owns the thread that is asked for. */
#include "access/access.h"

#include "access/authentication.h"
#include "access/authorization.h"
#include "access/cache.h"
#include "access/owner_cache.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/threads.h"

#include <stdlib.h>
#include <string.h>

struct access {
	enum auth_method auth;
	struct jwt_auth jwt;
	struct custom_auth custom;
	struct authorization authorization;
	struct cache *cache;        /* NULL: none is configured, or nobody needs one */
	struct owner_cache *owners; /* NULL: nobody asks, or the storage knows no owners */
};

/* ---- who ---- */

/* Asks the plug-in.  A WebSocket gets 403 for everything, whatever the plug-in chose or failed at
 * (doc/protocol-sockets.md#the-handshake). */
static bool access_check_custom(const struct access *access, const struct presented *presented,
    struct arena *a, struct identity *identity, struct error *err)
{
	struct error why = {0};
	if (custom_auth_check(&access->custom, presented, a, identity, &why))
		return true;
	if (presented->websocket) {
		why.status = 0;
		if (why.kind == ERR_INTERNAL) {
			log_error("%s", why.cause);
			why.kind = ERR_AUTHENTICATION_FAILED;
			strcpy(why.detail, "Authentication failed");
		}
	}
	error_move(err, &why);
	return false;
}

bool access_authenticate(struct access *access, const struct presented *presented, struct arena *a,
    struct identity *identity, struct error *err)
{
	struct jwt_claims claims;
	bool known = true;
	switch (access->auth) {
	case AUTH_NONE:
		*identity = (struct identity){
		    .user = arena_json(a, cJSON_CreateObject()), .user_id = "anonymous"};
		cJSON_AddStringToObject(identity->user, "user_id", identity->user_id);
		return true;
	case AUTH_JWT:
		if (!presented->credential || !*presented->credential)
			return error_set(err, ERR_REVOKED_TOKEN, NULL);
		known = jwt_auth_check(&access->jwt, presented->credential,
		    clock_seconds(clock_now()), a, &claims, err);
		if (known)
			*identity = (struct identity){.user = claims.user,
			    .user_id = claims.user_id,
			    .verified = true,
			    .expires = claims.expires};
		break;
	case AUTH_CUSTOM:
		known = access_check_custom(access, presented, a, identity, err);
		break;
	}
	/* Only access_permit says what somebody is allowed. */
	if (known)
		cJSON_DeleteItemFromObjectCaseSensitive(identity->user, "authz");
	return known;
}

/* ---- what ---- */

static bool access_deny(const struct permission *permission, struct error *err)
{
	return error_set(err, ERR_PERMISSION, "Not authorized to %s %s", permission->action,
	    permission->resource);
}

/* Whether owners are looked up at all: only the decision table of
 * doc/protocol-access.md#ownership asks for them. */
static bool access_needs_owners(const struct access *access)
{
	return access->auth != AUTH_NONE && authorization_guards_threads(&access->authorization);
}

/* Whether that table has a say in this permission. */
static bool access_is_guarded(const struct access *access, const struct permission *permission)
{
	return access_needs_owners(access) &&
	    (strcmp(permission->resource, "graph") == 0 ||
		strcmp(permission->resource, "checkpointer") == 0);
}

bool access_owns(const struct access *access, const struct identity *identity,
    const struct permission *permission, const char *owner, struct error *err)
{
	if (!access_is_guarded(access, permission) ||
	    (identity->user_id && strcmp(identity->user_id, owner) == 0))
		return true;
	return access_deny(permission, err);
}

static bool access_check_owner(struct access *access, const struct identity *identity,
    const struct permission *permission, struct arena *a, struct error *err)
{
	struct error failure = {0};
	const char *owner = NULL, *now = NULL;
	if (!access_is_guarded(access, permission))
		return true;
	if (!identity->user_id)
		return access_deny(permission, err);
	if (!permission->resource_id || !access->owners)
		return true;
	const char *id = permission->resource_id;
	if (owner_cache_get(access->owners, id, a, &owner, &failure)) {
		if (!owner || strcmp(identity->user_id, owner) == 0)
			return true;
		if (owner_cache_ask(access->owners, id, owner, a, &now, &failure))
			return !now || access_owns(access, identity, permission, now, err);
	}
	/* A lookup that fails denies; the log has why. */
	log_error("the owner of a thread cannot be looked up: %s", error_why(&failure));
	error_release(&failure);
	return access_deny(permission, err);
}

bool access_permit(struct access *access, struct identity *identity,
    const struct permission *permission, struct error *err)
{
	const struct authorization *z = &access->authorization;
	bool permitted = false;
	if (access->auth == AUTH_NONE)
		return true;
	struct arena *a = arena_new();
	const cJSON *scopes = authorization_scopes(z, identity->user, a);
	if (!scopes_hold(scopes, permission, a))
		error_set(err, ERR_PERMISSION, "Missing required scope: %s:%s",
		    permission->resource, permission->action);
	else if (access_check_owner(access, identity, permission, a, err))
		permitted = authorization_allows(z, identity->user, permission) ||
		    access_deny(permission, err);
	if (permitted) {
		cJSON *authz = cJSON_CreateObject();
		json_add_str(authz, "user_id", identity->user_id);
		json_add_str(authz, "scope", authorization_isolation(z));
		json_add_or_null(authz, "scopes", cJSON_Duplicate(scopes, true));
		json_set(identity->user, "authz", authz);
	}
	arena_free(a);
	return permitted;
}

const char *access_reach(const struct access *access, const struct identity *identity)
{
	if (access->auth == AUTH_NONE ||
	    strcmp(authorization_isolation(&access->authorization), "none") == 0)
		return NULL;
	return identity->user_id ? identity->user_id : "anonymous";
}

void access_evict(struct access *access, const char *thread_id)
{
	if (access->owners)
		owner_cache_evict(access->owners, thread_id);
	if (access->auth != AUTH_NONE)
		authorization_evict(&access->authorization, thread_id);
}

/* ---- its life ---- */

struct access *access_open(const struct config *config, struct storage *storage,
    struct shared *shared, struct problems *problems)
{
	struct access *access = xcalloc(1, sizeof(*access));
	size_t before = problems->errors;
	access->auth = config->auth;
	switch (config->auth) {
	case AUTH_NONE:
		break;
	case AUTH_JWT:
		jwt_auth_init(&access->jwt, &config->env, problems);
		break;
	case AUTH_CUSTOM:
		custom_auth_open(&access->custom, config, problems);
		break;
	}
	authorization_open(&access->authorization, config, problems);
	if (config->cache && access_needs_owners(access))
		access->cache = cache_new(config->cache, config->cache_place, problems);
	if (problems->errors > before) {
		access_close(access);
		return NULL;
	}
	if (storage)
		access_attach(access, storage, shared);
	return access;
}

void access_probe(struct access *access, struct problems *problems)
{
	const char *why;
	if (access->cache && !cache_ping(access->cache, &why))
		problems_warn(problems,
		    "cache: the server at %s does not answer (%s): each process caches the owners "
		    "of threads alone until it does",
		    cache_name(access->cache), why);
}

void access_attach(struct access *access, struct storage *storage, struct shared *shared)
{
	if (!access_needs_owners(access))
		return;
	if (storage->threads->owner)
		access->owners = owner_cache_new(storage, shared, access->cache);
	else
		log_warning("this storage knows no owners of threads: whoever is let in reaches "
			    "all of them");
}

void access_close(struct access *access)
{
	if (!access)
		return;
	owner_cache_free(access->owners);
	cache_free(access->cache);
	authorization_close(&access->authorization);
	custom_auth_close(&access->custom);
	jwt_auth_release(&access->jwt);
	free(access);
}
