/* SPDX-License-Identifier: ISC */
/*
 * The routes: rows of one constant table.
 *
 * Whatever must hold before a handler runs is a column and is enforced in one place (server.c).
 * HEAD and OPTIONS have no rows: every GET route answers HEAD, every path OPTIONS.
 */
#ifndef AGENTGRAPH_FCGI_ROUTE_H
#define AGENTGRAPH_FCGI_ROUTE_H

#include "body.h"
#include "method.h"
#include "path.h"

#include <stdbool.h>
#include <stddef.h>

struct config;
struct request;

#define ROUTE_IDS 2 /* {names} that a path can have */

enum route_flag {
	ROUTE_EMPTY_ID = 1,     /* the last part may be empty; elsewhere a trailing slash is 404 */
	ROUTE_ANY_HOST = 2,     /* exempt from ALLOWED_HOST */
	ROUTE_WEBSOCKET = 4,    /* only for requests that ask for a WebSocket */
	ROUTE_UNAUTHORIZED = 8, /* 401, not 403, for a credential that is missing or refused */
	ROUTE_UNCOUNTED = 16,   /* exempt from the rate limit */
	ROUTE_AG_UI = 32,       /* there only when ag_ui is enabled */
	ROUTE_INFRASTRUCTURE = 64, /* the API reference and what leads to it: takes no permission */
	ROUTE_DOCUMENT = 128,      /* there only with one of its pages in production */
	ROUTE_EVALS = 256,         /* there unless evaluation.serve is false */
	ROUTE_HOME = 512           /* not there in production */
};

struct route {
	enum method method;
	const char *path;     /* "/v1/threads/{thread_id}" */
	const char *resource; /* with action the scope it takes; both NULL: public */
	const char *action;
	enum body_rule body;
	void (*handle)(struct request *rq);
	unsigned flags;
};

struct route_table {
	const struct route *rows;
	size_t count;
};

extern const struct route_table routes;

struct route_match {
	const struct route *route;  /* NULL when no row has path and method */
	unsigned allowed;           /* methods that the path has; 0: an unknown path */
	unsigned flags;             /* of the path's rows */
	const char *ids[ROUTE_IDS]; /* what the {names} stand for, in order; else NULL */
};

/* Whether a row, or the flags of a path's rows, are of something that is switched on. */
bool route_enabled(unsigned flags, const struct config *config);

/* Finds the first row for path and method, HEAD counting as GET. */
void route_find(const struct route_table *table, const struct path *path, enum method method,
    struct route_match *match);

#endif
