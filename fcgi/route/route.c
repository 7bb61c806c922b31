/* SPDX-License-Identifier: ISC */
/* Matching a path against patterns, and the methods that it allows. */
#include "fcgi/route/route.h"

#include "base/texts.h"
#include "config/config.h"

#include <string.h>

/* Compares character by character: most rows differ from a path in their first ones. */
static bool route_matches(
    const struct route *route, const struct path *path, const char *ids[ROUTE_IDS])
{
	size_t id = 0, i = 0;
	const char *part = route->path;
	for (; *part == '/' && i < path->count; i++) {
		const char *segment = path->segments[i];
		if (*++part == '{') {
			ids[id++] = segment;
			part += strcspn(part, "/");
			continue;
		}
		while (*part && *part == *segment && *part != '/')
			part++, segment++;
		if (*segment || (*part && *part != '/'))
			return false;
	}
	/* an empty segment at the end is a trailing slash */
	return !*part && i == path->count &&
	    (*path->segments[path->count - 1] || (route->flags & ROUTE_EMPTY_ID));
}

bool route_enabled(const struct route *row, const struct config *config)
{
	size_t on = row->dialect ? row->dialect->on : 0;
	return on == 0 || *(const bool *)((const char *)config + on);
}

/* Whether a path that has no row belongs to a protocol all the same. */
static bool route_is_of(const struct dialect *dialect, const struct path *path)
{
	if (dialect->all_below && path->count > 0 &&
	    strcmp(dialect->all_below, path->segments[0]) == 0)
		return true;
	return path->count > 1 && strcmp(path->segments[0], "v1") == 0 &&
	    texts_has(dialect->lacks, path->segments[1]);
}

void route_find(const struct route_table *table, const struct path *path, enum method method,
    struct route_match *match)
{
	memset(match, 0, sizeof(*match));
	enum method wanted = method == METHOD_HEAD ? METHOD_GET : method;
	for (size_t i = 0; path->count <= PATH_SEGMENTS && i < table->count; i++) {
		const struct route *row = &table->rows[i];
		const char *ids[ROUTE_IDS] = {NULL};
		if (!route_matches(row, path, ids))
			continue;
		match->allowed |= row->method | METHOD_OPTIONS;
		if (row->method == METHOD_GET)
			match->allowed |= METHOD_HEAD;
		match->flags |= row->flags;
		if (row->dialect)
			match->dialect = row->dialect;
		if (row->method != wanted)
			continue;
		match->route = row;
		memcpy(match->ids, ids, sizeof(ids));
		return;
	}
	for (size_t i = 0; i < table->count && !match->allowed; i++) {
		const struct dialect *dialect = table->rows[i].dialect;
		if (dialect && route_is_of(dialect, path))
			match->dialect = dialect;
	}
}
