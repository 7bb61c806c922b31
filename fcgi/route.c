/* SPDX-License-Identifier: ISC */
/* Matching a path against patterns, and the methods that it allows. */
#include "route.h"

#include "config/config.h"

#include <string.h>

/* Whether one segment fits its part of a pattern, which has len bytes. */
static bool route_fits(const char *part, size_t len, const char *segment)
{
	if (*part == '{')
		return true;
	return !strncmp(part, segment, len) && !segment[len];
}

/* An empty segment at the end is a trailing slash. */
static bool slash_allowed(const struct route *route, const struct path *path)
{
	return *path->segments[path->count - 1] || (route->flags & ROUTE_EMPTY_ID);
}

static bool matches(const struct route *route, const struct path *path, const char *ids[ROUTE_IDS])
{
	size_t id = 0, i = 0;
	const char *part = route->path;
	while (*part == '/' && i < path->count) {
		part++;
		size_t len = strcspn(part, "/");
		if (!route_fits(part, len, path->segments[i]))
			return false;
		if (*part == '{')
			ids[id++] = path->segments[i];
		part += len;
		i++;
	}
	return !*part && i == path->count && slash_allowed(route, path);
}

bool route_enabled(unsigned flags, const struct config *config)
{
	return (config->ag_ui_enabled || !(flags & ROUTE_AG_UI)) &&
	    (config->evals_served || !(flags & ROUTE_EVALS));
}

static unsigned implied(enum method method)
{
	return method | METHOD_OPTIONS | (method == METHOD_GET ? METHOD_HEAD : 0);
}

void route_find(const struct route_table *table, const struct path *path, enum method method,
    struct route_match *match)
{
	memset(match, 0, sizeof(*match));
	if (path->count > PATH_SEGMENTS)
		return;
	enum method wanted = method == METHOD_HEAD ? METHOD_GET : method;
	for (size_t i = 0; i < table->count; i++) {
		const struct route *row = &table->rows[i];
		const char *ids[ROUTE_IDS] = {NULL};
		if (!matches(row, path, ids))
			continue;
		match->allowed |= implied(row->method);
		match->flags |= row->flags;
		if (row->method != wanted)
			continue;
		match->route = row;
		memcpy(match->ids, ids, sizeof(ids));
		return;
	}
}
