/* SPDX-License-Identifier: ISC */
/*
 * The routes: rows of one constant table.
 *
 * Whatever must hold before a handler runs is a column and is enforced in one place (server.c).
 * HEAD and OPTIONS have no rows: every GET route answers HEAD, every path OPTIONS.
 */
#ifndef AGENTGRAPH_FCGI_ROUTE_ROUTE_H
#define AGENTGRAPH_FCGI_ROUTE_ROUTE_H

#include "base/error.h"
#include "base/problems.h"
#include "fcgi/request/body.h"
#include "fcgi/request/path.h"

#include <stdbool.h>
#include <stddef.h>

struct config;
struct request;

/* The HTTP methods that routes can have, as bits, so that a set of them is one number. */
enum method {
	METHOD_OTHER = 0,
	METHOD_DELETE = 1,
	METHOD_GET = 2,
	METHOD_HEAD = 4,
	METHOD_OPTIONS = 8,
	METHOD_POST = 16,
	METHOD_PUT = 32,
	METHOD_PATCH = 64
};

#define METHOD_LIST_SIZE 64

/* METHOD_OTHER for every name that no route has; names are case-sensitive (RFC 9110 9.1). */
enum method method_parse(const char *name);
const char *method_name(enum method method);

/* "GET, HEAD, OPTIONS": the set in alphabetical order, for Allow.  Returns out. */
char *method_list(unsigned set, char out[METHOD_LIST_SIZE]);

#define ROUTE_IDS 2 /* {names} that a path can have */

enum route_flag {
	ROUTE_EMPTY_ID = 1,     /* the last part may be empty; elsewhere a trailing slash is 404 */
	ROUTE_ANY_HOST = 2,     /* exempt from ALLOWED_HOST */
	ROUTE_WEBSOCKET = 4,    /* only for requests that ask for a WebSocket */
	ROUTE_UNAUTHORIZED = 8, /* 401, not 403, for a credential that is missing or refused */
	ROUTE_UNCOUNTED = 16,   /* exempt from the rate limit */
	ROUTE_INFRASTRUCTURE = 32, /* the API reference and what leads to it: takes no permission */
	ROUTE_DOCUMENT = 64,       /* there only with one of its pages in production */
	ROUTE_HOME = 128,          /* not there in production */
	ROUTE_BACKGROUND = 256     /* needs runs in the background */
};

/*
 * What a family of routes has of its own: the switch that turns it on, and how the protocol that it
 * speaks differs from the service's.  Members that are NULL or 0 change nothing.
 */
struct dialect {
	size_t on;             /* offset in struct config of the bool that switches the routes on */
	const char *not_json;  /* ends "Request body ..." when a body is no JSON */
	int mistakes;          /* the status in place of 422; 0: 422 */
	bool late_thread;      /* only the run knows its thread, and checks the scope itself */
	const char *all_below; /* the first part of paths that are all its own, also unknown ones */

	/* The second part of paths below /v1 that the protocol has elsewhere, up to NULL, and what
	 * their 404 says; or NULL. */
	const char *const *lacks;
	const char *lacks_says;

	bool api_key;     /* without a bearer token, the header X-Api-Key counts as one */
	bool own_origins; /* a page of an origin that is not in ORIGINS is refused (403) */
	bool allow_rows;  /* Allow of a 405 names the methods of its rows alone, without OPTIONS */

	const char *error_shape; /* what the OpenAPI document calls the body of an error; or NULL */

	/* Makes the whole body of an answer with an error, in the arena; status and headers are the
	 * usual ones. */
	cJSON *(*error_body)(struct request *rq, const struct error_view *view);

	/* What WWW-Authenticate says with 401, in the arena; NULL: the scheme alone. */
	const char *(*challenge)(struct request *rq);
};

struct route {
	enum method method;
	const char *path;     /* "/v1/threads/{thread_id}" */
	const char *resource; /* with action the scope that it needs; both NULL: public */
	const char *action;
	enum body_rule body;
	void (*handle)(struct request *rq);
	unsigned flags;
	const struct dialect *dialect; /* or NULL */
};

struct route_table {
	const struct route *rows;
	size_t count;
};

extern const struct route_table routes;

struct route_match {
	const struct route *route;     /* NULL when no row has path and method */
	unsigned allowed;              /* methods that the path has; 0: an unknown path */
	unsigned flags;                /* of all rows of the path */
	const struct dialect *dialect; /* of any row of the path; NULL when none has one */
	const char *ids[ROUTE_IDS];    /* what the {names} stand for, in order; else NULL */
};

/* Whether the configuration has the row switched on. */
bool route_enabled(const struct route *row, const struct config *config);

/* Finds the first row for path and method, HEAD counting as GET. */
void route_find(const struct route_table *table, const struct path *path, enum method method,
    struct route_match *match);

/* ---- guard.c: the boot-time guard (doc/protocol-access.md#public-routes): no route is open by
 * mistake. */

/* Adds one problem that names every row without resource and action which is not on the allowlist
 * of public paths.  True when there is none. */
bool guard_check(const struct route_table *table, struct problems *problems);

#endif
