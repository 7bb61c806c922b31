/* SPDX-License-Identifier: ISC */
/* Reading the bodies of the routes under /v1/store, and finding whose memories they are about. */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_REQUEST_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_REQUEST_H

#include "service/memory/memory_embed.h"
#include "service/service.h"
#include "storage/memories.h"

enum strategy {
	STRATEGY_SIMILARITY,
	STRATEGY_TEMPORAL,
	STRATEGY_RELEVANCE,
	STRATEGY_HYBRID,
	STRATEGY_GRAPH
};

/* What a body asks for.  Texts live in the call's arena; members that a route does not have keep
 * their defaults. */
struct memory_request {
	const cJSON *config, *options; /* objects, or NULL */
	const char *owner;             /* the user that a new memory belongs to */
	struct memory_filter filter;   /* scope and conditions */
	const cJSON *filters;          /* the conditions as JSON, or NULL */

	const char *memory_id;
	const char *content;
	const char *memory_type, *category; /* a new memory's */
	const cJSON *metadata;              /* an object, as it came, or NULL */

	const char *query;
	int64_t limit;
	int64_t max_tokens;
	double threshold; /* below 0: none */
	enum strategy strategy;
	enum vector_metric metric;
};

/* Which members a route reads. */
enum memory_part {
	MEMORY_CONTENT = 1, /* content and metadata */
	MEMORY_KIND = 2,    /* memory_type and category of a new memory */
	MEMORY_FILTER = 4,  /* memory_type, category and filters */
	MEMORY_QUERY = 8,
	MEMORY_LIMIT = 16,
	MEMORY_NARROWED = 32 /* config.thread_id narrows the scope, and for callers who reach all
				users config.user_id does */
};

/* Reads body, which may be NULL; false with every mistake in call->error. */
bool memory_request_read(
    struct call *call, const cJSON *body, unsigned parts, struct memory_request *rq);

/* Checks a memory's id from a path. */
bool memory_id_check(struct call *call, const char *memory_id);

/* Metadata in the form that is stored and shown, a new tree: without reserved keys, and with
 * category unless that is NULL. */
cJSON *memory_metadata(const cJSON *metadata, const char *category);

/* The names as requests spell them. */
const char *strategy_name(enum strategy strategy);
const char *metric_name(enum vector_metric metric);

/* ---- memory_search.c: the five retrieval strategies over a store
 * (doc/protocol-store.md#search-strategies). */

#define MEMORY_FOUND_MOST 1024 /* most hits that a strategy may bring */

/* Searches by the request's strategy: hits with scores from 0 to 1, best first.  hits->items must
 * have room for MEMORY_FOUND_MOST, whatever the limit.  False with err set. */
bool memory_find(struct memory_set *st, const struct storage_context *ctx, struct embedding *e,
    const struct memory_request *rq, struct memory_hits *hits, struct error *err);

#endif
