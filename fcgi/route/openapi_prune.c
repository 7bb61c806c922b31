/* SPDX-License-Identifier: ISC */
/* Following references from the operations, and deleting what none of them reaches. */
#include "fcgi/route/openapi.h"

#include "base/json/json.h"

#include <stdio.h>
#include <string.h>

#define COMPONENTS "#/components/"

/* The component that a target such as "schemas/Time" names; NULL when there is none. */
static const cJSON *openapi_prune_find(const cJSON *components, const char *target)
{
	const cJSON *kind;
	cJSON_ArrayForEach(kind, components) {
		size_t len = strlen(kind->string);
		if (!strncmp(target, kind->string, len) && target[len] == '/')
			return json_get(kind, target + len + 1);
	}
	return NULL;
}

/* Adds to used all components that node refers to, by itself or through other components. */
static void openapi_prune_mark(cJSON *used, const cJSON *components, const cJSON *node)
{
	const char *ref = json_str(node, "$ref");
	const cJSON *child;
	if (ref && !strncmp(ref, COMPONENTS, strlen(COMPONENTS))) {
		const char *target = ref + strlen(COMPONENTS);
		if (json_get(used, target))
			return;
		cJSON_AddTrueToObject(used, target);
		openapi_prune_mark(used, components, openapi_prune_find(components, target));
	}
	cJSON_ArrayForEach(child, node)
		openapi_prune_mark(used, components, child);
}

void openapi_prune(cJSON *document)
{
	cJSON *components = json_get(document, "components"), *kind;
	cJSON *used = cJSON_CreateObject();
	openapi_prune_mark(used, components, json_get(document, "paths"));
	cJSON_ArrayForEach(kind, components) {
		if (strcmp(kind->string, "securitySchemes") == 0)
			continue;
		for (cJSON *item = kind->child, *next; item; item = next) {
			char target[128];
			next = item->next;
			snprintf(target, sizeof(target), "%s/%s", kind->string, item->string);
			if (!json_get(used, target))
				cJSON_Delete(cJSON_DetachItemViaPointer(kind, item));
		}
	}
	cJSON_Delete(used);
}
