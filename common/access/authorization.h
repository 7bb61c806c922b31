/* SPDX-License-Identifier: ISC */
/*
 * What somebody may do (doc/protocol-access.md#scopes): scopes, and whether threads are their
 * owner's alone.
 *
 * Four backends: ownership, allow_all, roles (RBAC), and one that a plug-in brings, struct
 * ag_authorization of agentgraph.h.
 */
#ifndef AGENTGRAPH_ACCESS_AUTHORIZATION_H
#define AGENTGRAPH_ACCESS_AUTHORIZATION_H

#include "access/access.h"
#include "config/plugin.h"

struct authorization {
	enum authorization_kind kind;
	const cJSON *rbac;    /* AUTHZ_RBAC: borrowed from the configuration */
	struct plugin plugin; /* AUTHZ_CUSTOM */
	void *data;           /* the plug-in's own */
};

/* Loads and opens what config asks for; false with a problem added and nothing to close. */
bool authorization_open(
    struct authorization *z, const struct config *config, struct problems *problems);
void authorization_close(struct authorization *z); /* all-zero is fine */

/* "owner" or "none": whether listings reach the caller's own data or everybody's. */
const char *authorization_isolation(const struct authorization *z);

/* Whether threads are their owner's alone, so that the decision table on them applies. */
bool authorization_guards_threads(const struct authorization *z);

/* The scopes that user has, an array of strings in the arena; NULL: unrestricted. */
cJSON *authorization_scopes(const struct authorization *z, const cJSON *user, struct arena *a);

/* Whether the scopes hold this pair; NULL holds all. */
bool scopes_hold(const cJSON *scopes, const struct permission *permission, struct arena *a);

/* What the plug-in says; true for the other backends. */
bool authorization_allows(
    const struct authorization *z, const cJSON *user, const struct permission *permission);

/* Tells the plug-in that a thread is about to be deleted, or was. */
void authorization_evict(const struct authorization *z, const char *thread_id);

#endif
