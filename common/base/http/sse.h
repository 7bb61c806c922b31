/* SPDX-License-Identifier: ISC */
/*
 * Server-sent events (WHATWG HTML, 9.2.6), read as they arrive.
 *
 * The bytes may be cut anywhere.  Lines end in LF, CR or CRLF; a byte order mark, comments and
 * unknown fields are left out.  NUL bytes become question marks, so that what is handed out is a C
 * string; it need not be UTF-8.
 */
#ifndef AGENTGRAPH_BASE_HTTP_SSE_H
#define AGENTGRAPH_BASE_HTTP_SSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sse_event {
	const char *name; /* "message" unless the server named it */
	const char *data; /* its lines joined by \n */
	size_t len;
	const char *id; /* the latest one so far, "" when there was none */
};

/* Set max, on_event and arg; the rest starts as zeroes. */
struct sse {
	size_t max; /* bytes of one event or line; 0: 1 MiB */

	/* False ends the reading: sse_feed returns false. */
	bool (*on_event)(const struct sse_event *event, void *arg);
	void *arg;

	int64_t retry_ms; /* out: what the server last asked for; -1 when it named nothing usable */
	bool too_large;   /* out: why sse_feed returned false */

	struct buf line, name, data, id;
	bool has_data, after_cr, started;
};

/* Reads len more bytes.  False when on_event said so or something was too large; then the only
 * thing left to do is sse_release. */
bool sse_feed(struct sse *s, const char *bytes, size_t len);

/* The stream ended well: hands out an event that only lacks the blank line after it.  (The standard
 * drops it; there are servers that end so.) */
bool sse_finish(struct sse *s);

void sse_release(struct sse *s);

#endif
