/* SPDX-License-Identifier: ISC */
/*
 * The path of a request, as segments.
 *
 * It is split before it is decoded, so that %2F stays inside its segment
 * (doc/protocol.md#paths-and-methods).  Segments "." and ".." are resolved (RFC 3986 5.2.4),
 * however they are written.
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_PATH_H
#define AGENTGRAPH_FCGI_REQUEST_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define PATH_SEGMENTS 8 /* more than any route has; the rest is counted, not kept */

struct path {
	const char *segments[PATH_SEGMENTS]; /* decoded, valid UTF-8 without NUL */
	size_t count;                        /* "/" has one segment, which is empty */
	const char *query;                   /* behind the '?', raw; "" when there is none */
};

/*
 * Parses REQUEST_URI, in origin form (/path?query) or absolute form (http://host/path?query).  uri
 * is changed and must outlive path.  False for a path that leaves the root, or whose escapes are
 * invalid or give NUL or invalid UTF-8.
 */
bool path_parse(struct path *path, char *uri);

#endif
