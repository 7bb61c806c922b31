/* SPDX-License-Identifier: ISC */
/* Query parameters (doc/protocol.md#paths-and-methods). */
#ifndef AGENTGRAPH_FCGI_REQUEST_QUERY_H
#define AGENTGRAPH_FCGI_REQUEST_QUERY_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct query_field {
	const char *name;
	bool empty_is_absent; /* else an empty value is a mistake */
	const char *value;    /* out: decoded, valid UTF-8, in the arena; NULL when absent */
};

/*
 * Fills the fields from a raw query.  Of a repeated parameter the last one counts; unknown ones are
 * ignored.  False with err set for an empty value, or one that is not text.
 */
bool query_read(struct arena *arena, const char *query, struct query_field *fields, size_t count,
    struct error *err);

/* Every value of a parameter that may be repeated, in order.  *count is the room in values, and
 * then how many there are.  False with err set when there are more, and for one that is empty or no
 * text. */
bool query_values(struct arena *arena, const char *query, const char *name, const char **values,
    size_t *count, struct error *err);

/* A parameter object.name=value: the name, decoded and valid UTF-8, and the value. */
struct query_member {
	const char *name, *value;
};

/*
 * The parameters that ask for members of an object; the last one counts if one is repeated.  *count
 * is the room in members, and then how many there are.  False with err set when there are more, and
 * for a value that is empty or no text.
 */
bool query_members(struct arena *arena, const char *query, const char *object,
    struct query_member *members, size_t *count, struct error *err);

#endif
