/* SPDX-License-Identifier: ISC */
/* Scopes from an identity, its roles or a plug-in, and what follows from them. */
#include "access/authorization.h"

#include "agentgraph.h"
#include "base/json/json.h"

#include <string.h>

static const struct ag_authorization *authorization_custom(const struct authorization *z)
{
	return z->kind == AUTHZ_CUSTOM ? z->plugin.table : NULL;
}

/* ---- roles ---- */

static void authorization_add_strings(cJSON *scopes, const cJSON *array)
{
	const cJSON *item;
	if (!cJSON_IsArray(array))
		return;
	cJSON_ArrayForEach(item, array) {
		if (cJSON_IsString(item))
			cJSON_AddItemToArray(scopes, cJSON_CreateString(item->valuestring));
	}
}

/* Adds what one role grants; true when that is everything. */
static bool authorization_add_role(cJSON *scopes, const cJSON *roles, const cJSON *role)
{
	const cJSON *granted = cJSON_IsString(role) ? json_get(roles, role->valuestring) : NULL;
	authorization_add_strings(scopes, granted);
	return json_has_str(granted, "*");
}

/* The scopes of the user's roles, which are "roles" if that is an array or a string, or else
 * "role". */
static cJSON *authorization_role_scopes(
    const struct authorization *z, const cJSON *user, struct arena *a)
{
	const cJSON *roles = json_get(z->rbac, "roles"), *own = json_opt(user, "roles"), *role;
	cJSON *scopes = arena_json(a, cJSON_CreateArray());
	bool everything = false;
	authorization_add_strings(scopes, json_get(z->rbac, "default_scopes"));
	if (!cJSON_IsArray(own) && !cJSON_IsString(own))
		own = json_opt(user, "role");
	if (!cJSON_IsArray(own))
		everything = authorization_add_role(scopes, roles, own);
	else
		cJSON_ArrayForEach(role, own)
			everything = authorization_add_role(scopes, roles, role) || everything;
	return everything ? NULL : scopes;
}

/* ---- scopes ---- */

cJSON *authorization_scopes(const struct authorization *z, const cJSON *user, struct arena *a)
{
	const struct ag_authorization *table = authorization_custom(z);
	cJSON *given = table && table->scopes_for ? table->scopes_for(user, z->data) : NULL;
	if (z->kind == AUTHZ_RBAC)
		return authorization_role_scopes(z, user, a);
	/* the identity's own claim counts when it is an array (doc/protocol-access.md#scopes) */
	const cJSON *claim = json_get(user, "scopes");
	if (!given && !cJSON_IsArray(claim))
		return NULL;
	/* what is given and is no array grants nothing */
	cJSON *scopes = arena_json(a, cJSON_CreateArray());
	authorization_add_strings(scopes, given ? arena_json(a, given) : claim);
	return scopes;
}

bool scopes_hold(const cJSON *scopes, const struct permission *permission, struct arena *a)
{
	return !scopes ||
	    json_has_str(
		scopes, arena_printf(a, "%s:%s", permission->resource, permission->action));
}

/* ---- whose data ---- */

const char *authorization_isolation(const struct authorization *z)
{
	const struct ag_authorization *table = authorization_custom(z);
	const char *scope = "owner";
	if (z->kind == AUTHZ_ALLOW_ALL)
		scope = "none";
	else if (z->kind == AUTHZ_RBAC)
		scope = json_str(z->rbac, "isolation");
	else if (table && table->isolation_scope)
		scope = table->isolation_scope(z->data);
	return scope && strcmp(scope, "none") == 0 ? "none" : "owner";
}

bool authorization_guards_threads(const struct authorization *z)
{
	return z->kind == AUTHZ_OWNERSHIP ||
	    (z->kind == AUTHZ_RBAC && strcmp(authorization_isolation(z), "owner") == 0);
}

/* ---- the plug-in ---- */

bool authorization_allows(
    const struct authorization *z, const cJSON *user, const struct permission *permission)
{
	const struct ag_authorization *table = authorization_custom(z);
	return !table ||
	    table->authorize(user, permission->resource, permission->action,
		permission->resource_id, z->data) == AG_ALLOW;
}

void authorization_evict(const struct authorization *z, const char *thread_id)
{
	const struct ag_authorization *table = authorization_custom(z);
	if (table && table->evict)
		table->evict(thread_id, z->data);
}

bool authorization_open(
    struct authorization *z, const struct config *config, struct problems *problems)
{
	const struct plugin_want want = {"authorization", config->authorization_path,
	    AG_AUTHORIZATION, "struct ag_authorization"};
	*z = (struct authorization){.kind = config->authorization, .rbac = config->rbac};
	if (z->kind != AUTHZ_CUSTOM)
		return true;
	if (plugin_load(&z->plugin, config, &want, problems)) {
		const struct ag_authorization *table = z->plugin.table;
		if (table->authorize && (!table->open || table->open(&z->data) == 0))
			return true;
		problems_add(problems, "authorization: %s: %s", config->authorization_path,
		    table->authorize ? "the plug-in refused to start"
				     : "expected it to have a function authorize");
		plugin_close(z->plugin.library);
	}
	*z = (struct authorization){0};
	return false;
}

void authorization_close(struct authorization *z)
{
	const struct ag_authorization *table = authorization_custom(z);
	if (table && table->close)
		table->close(z->data);
	plugin_close(z->plugin.library);
	*z = (struct authorization){0};
}
