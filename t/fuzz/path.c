/* SPDX-License-Identifier: ISC */
/* Paths of requests: whatever the bytes, a path is refused, or it is text that can be matched
 * safely. */
#include "fcgi/request/path.h"
#include "base/json/json.h"
#include "fcgi/route/route.h"
#include "replay.h"

#include <stdlib.h>
#include <string.h>

static size_t kept(const struct path *path)
{
	return path->count < PATH_SEGMENTS ? path->count : PATH_SEGMENTS;
}

static void check(const struct path *path)
{
	struct route_match match;
	require(path->count > 0 && path->query);
	for (size_t i = 0; i < kept(path); i++)
		require(utf8_valid(path->segments[i], strlen(path->segments[i])) &&
		    strcmp(path->segments[i], "..") != 0);
	route_find(&routes, path, METHOD_GET, &match);
	require(!match.route || match.allowed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *uri = strndup((const char *)data, size);
	struct path path;
	if (path_parse(&path, uri))
		check(&path);
	free(uri);
	return 0;
}
