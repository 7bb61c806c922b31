/* SPDX-License-Identifier: ISC */
/* Splitting, decoding and resolving of segments. */
#include "fcgi/request/path.h"

#include "base/http/percent.h"
#include "base/utf8.h"

#include <string.h>

/* Decodes the segment in place; false when the result is no valid UTF-8, or has a NUL. */
static bool path_decode(char *segment)
{
	char *out = segment;
	for (const char *in = segment; *in; in++) {
		int c = (unsigned char)*in;
		if (c == '%') {
			c = percent_byte(in + 1);
			if (c <= 0)
				return false;
			in += 2;
		}
		*out++ = (char)c;
	}
	*out = '\0';
	return utf8_valid(segment, (size_t)(out - segment));
}

static void path_push(struct path *path, const char *segment)
{
	if (path->count < PATH_SEGMENTS)
		path->segments[path->count] = segment;
	path->count++;
}

/* The last segment leaves an empty one behind when it is a dot segment: "/a/.." is "/". */
static bool path_add(struct path *path, const char *segment, bool last)
{
	if (!strcmp(segment, "..")) {
		if (path->count == 0)
			return false;
		path->count--;
	} else if (strcmp(segment, ".") != 0) {
		path_push(path, segment);
		return true;
	}
	if (last)
		path_push(path, "");
	return true;
}

bool path_parse(struct path *path, char *uri)
{
	path->count = 0;
	path->query = "";
	char *rest = uri;
	if (*uri != '/') { /* "http://host" is cut off */
		char *scheme_end = strstr(uri, "://");
		if (!scheme_end || strcspn(uri, "/?") < (size_t)(scheme_end - uri))
			return false;
		rest = scheme_end + 3;
		rest += strcspn(rest, "/?");
	}
	char *query = strchr(rest, '?');
	if (query) {
		*query = '\0';
		path->query = query + 1;
	}
	if (*rest == '/')
		rest++;
	while (rest) {
		char *segment = strsep(&rest, "/");
		if (!path_decode(segment) || !path_add(path, segment, !rest))
			return false;
	}
	return true;
}
