/* SPDX-License-Identifier: ISC */
/*
 * Request bodies (doc/protocol.md#request-bodies).
 *
 * Reading and parsing are two steps, because a body that is too large is refused before the caller
 * is known, and one that does not parse afterwards (doc/protocol.md#order-of-checks).
 */
#ifndef AGENTGRAPH_FCGI_REQUEST_BODY_H
#define AGENTGRAPH_FCGI_REQUEST_BODY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "fcgi/request/client.h"

#include <stdbool.h>
#include <stdint.h>

#define BODY_LINES_TYPE "application/x-ndjson"

enum body_rule {
	BODY_NONE,
	BODY_OPTIONAL,
	BODY_REQUIRED,
	BODY_LINES, /* lines of JSON, which the handler gets as text; the first one is the object */
	BODY_STREAM /* the handler reads it while it arrives, up to a limit of its own */
};

/*
 * Reads the announced length; *length is -1 when the text is empty (no body, or a chunked one).
 * False with err set when the text is no number, or the number is over max.
 */
bool body_length(const char *content_length, int64_t max, int64_t *length, struct error *err);

/*
 * Appends the body to out.  Memory grows with what arrives, not with what was announced.  False
 * with err set when it has more than max bytes, or ended before it was complete.
 */
bool body_read(
    struct client *client, int64_t length, int64_t max, struct buf *out, struct error *err);

/*
 * Parses the object of a body into the arena; *object is NULL when there is no body and none is
 * required.  *values is that of json_parse_within.  False with err set for anything else; a body
 * that is no JSON is refused with "Request body <not_json>".
 */
bool body_parse(struct arena *arena, const struct buf *text, const char *content_type,
    enum body_rule rule, const char *not_json, size_t *values, const cJSON **object,
    struct error *err);

/* Parses the first of several lines; *object is NULL if that is no JSON, or of more values, about
 * which whoever reads the lines complains.  False with err set when there is no body, or its type
 * is another one. */
bool body_parse_lines(struct arena *arena, const struct buf *text, const char *content_type,
    size_t values, const cJSON **object, struct error *err);

/* Media types that stand for JSON: application/json, application/<any>+json, and none at all. */
bool body_type_is_json(const char *content_type);

#endif
