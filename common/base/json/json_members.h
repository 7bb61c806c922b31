/* SPDX-License-Identifier: ISC */
/*
 * Finding the members of an object by key, even where there are many.
 *
 * cJSON keeps them in a list, where finding one is linear.  A client must not be able to make that
 * quadratic, so whatever pairs up all members of an object goes through here.
 */
#ifndef AGENTGRAPH_BASE_JSON_JSON_MEMBERS_H
#define AGENTGRAPH_BASE_JSON_JSON_MEMBERS_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* A member and its place in the object, which settles the order of equal keys. */
struct json_member {
	cJSON *item;
	size_t position;
};

struct json_members {
	const cJSON *object;
	struct json_member *sorted; /* NULL while a walk along the list is the faster way */
	size_t count;
};

/* Indexes object.  Members may be appended to it meanwhile (they are not found), but none may be
 * removed. */
void json_members_init(struct json_members *m, const cJSON *object);
void json_members_release(struct json_members *m);

/* The member of that name, or NULL. */
cJSON *json_members_get(const struct json_members *m, const char *key);

/* Removes all but the last of members with the same key. */
void json_members_unique(cJSON *object);

#endif
