/* SPDX-License-Identifier: ISC */
/* The key `authorization`: the backend by name or import path, roles, scopes and isolation. */
#include "config/keys.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "config/words.h"

#include <stdlib.h>
#include <string.h>

/* The names in an object, all of role-based access; and the names that stand without an object. */
static const struct choice rbac_names[] = {
    {"rbac", AUTHZ_RBAC}, {"role_based", AUTHZ_RBAC}, {"roles", AUTHZ_RBAC}, {NULL, 0}};

static const struct choice names[] = {
    {"ownership", AUTHZ_OWNERSHIP},
    {"allow_all", AUTHZ_ALLOW_ALL},
    {"default", AUTHZ_ALLOW_ALL},
    {"none", AUTHZ_ALLOW_ALL},
    {NULL, 0},
};

const struct field_row authorization_rows[] = {
    FIELD_KNOWN("backend"),
    FIELD_KNOWN("type"),
    FIELD_KNOWN("roles"),
    FIELD_KNOWN("role_scopes"),
    FIELD_KNOWN("default_scopes"),
    FIELD_KNOWN("isolation"),
    FIELDS_END,
};

/* A copy of the array of scopes; an empty one for NULL, or after reporting that it is no such
 * array. */
static cJSON *authorization_read_scopes(
    const struct section *s, const char *key, const cJSON *scopes)
{
	const cJSON *wrong = not_strings(scopes);
	if (wrong)
		section_refuse(s, key, wrong, "an array of scopes, which are strings");
	return scopes && !wrong ? cJSON_Duplicate(scopes, true) : cJSON_CreateArray();
}

/* doc/protocol-access.md#ownership: every isolation but `none` is by owner. */
static void authorization_read_rbac(const struct section *rbac, struct config *config)
{
	cJSON *scopes = authorization_read_scopes(
	    rbac, "default_scopes", json_opt(rbac->object, "default_scopes"));
	const cJSON *isolation = json_opt(rbac->object, "isolation");
	const char *text = cJSON_GetStringValue(isolation);
	bool none = text && strcmp(text, "none") == 0;
	if (isolation && !none && (!text || strcmp(text, "owner") != 0))
		section_warning(
		    rbac, "isolation", "neither \"owner\" nor \"none\"; \"owner\" is used");
	config->authorization = AUTHZ_RBAC;
	config->rbac = cJSON_CreateObject();
	/* role to array of scopes, under either of its two names */
	cJSON *granted = json_add(config->rbac, "roles", cJSON_CreateObject());
	struct section roles;
	const cJSON *role;
	if (section_open(&roles, rbac, json_opt(rbac->object, "roles") ? "roles" : "role_scopes")) {
		cJSON_ArrayForEach(role, roles.object)
			json_set(granted, role->string,
			    authorization_read_scopes(&roles, role->string, role));
	}
	json_set(config->rbac, "default_scopes", scopes);
	json_add_str(config->rbac, "isolation", none ? "none" : "owner");
}

void authorization_read(const struct section *root, struct config *config)
{
	const cJSON *value = json_opt(root->object, "authorization");
	const cJSON *backend = json_opt(value, "backend");
	const char *text = cJSON_GetStringValue(value);
	const char *name = cJSON_GetStringValue(backend ? backend : json_opt(value, "type"));
	struct section rbac;
	char *module, *attribute;
	int kind;
	if (!value) {
		config->authorization = config->env.production ? AUTHZ_OWNERSHIP : AUTHZ_ALLOW_ALL;
	} else if (text && choice_find(names, text, &kind)) {
		config->authorization = (enum authorization_kind)kind;
	} else if (text && import_split(text, &module, &attribute)) {
		free(module);
		free(attribute);
		config->authorization = AUTHZ_CUSTOM;
		config->authorization_path = xstrdup(text);
	} else if (text) {
		section_problem(root, "authorization",
		    "Unknown authorization backend '%s'. Use a 'module:attr' path or one of: "
		    "allow_all, default, none, ownership.",
		    text);
	} else if (name && choice_find(rbac_names, name, &kind) &&
	    section_open(&rbac, root, "authorization")) {
		authorization_read_rbac(&rbac, config);
	} else {
		char *json = json_print(value);
		section_problem(
		    root, "authorization", "Unknown authorization backend config: %s", json);
		free(json);
	}
}
