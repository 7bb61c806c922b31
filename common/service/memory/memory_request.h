/* SPDX-License-Identifier: ISC */
/* The bodies of the routes under /v1/store, checked; and whose memories they are about. */
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

/* What a body asks for.  Texts live in the call's arena; of a route that does not have them, the
 * members are as the defaults are. */
struct memory_request {
	const cJSON *config, *options; /* objects, or NULL */
	const char *owner;             /* whom a new memory belongs to */
	struct memory_filter filter;   /* scope and conditions */
	const cJSON *filters;          /* the same as JSON, or NULL */

	const char *memory_id;
	const char *content;
	const char *memory_type, *category; /* of a new memory */
	const cJSON *metadata;              /* as it came, an object, or NULL */

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
	MEMORY_NARROWED = 32 /* config.thread_id, and config.user_id of who reaches all, narrow */
};

/* Reads body, which may be NULL; false with every mistake in call->error. */
bool memory_request_read(
    struct call *call, const cJSON *body, unsigned parts, struct memory_request *rq);

/* Checks an id of a path. */
bool memory_id_check(struct call *call, const char *memory_id);

/* Metadata as it is stored and shown: without reserved keys, with category unless that is NULL; a
 * new tree. */
cJSON *memory_metadata(const cJSON *metadata, const char *category);

/* As requests spell them. */
const char *strategy_name(enum strategy strategy);
const char *metric_name(enum vector_metric metric);

/* ---- memory_search.c: the five retrieval strategies over a store
 * (doc/protocol-store.md#strategies). */

#define MEMORY_FOUND_MOST 1024 /* hits that a strategy may bring */

/* Hits with scores from 0 to 1, best first; their items have room for MEMORY_FOUND_MOST, whatever
 * the limit.  False with err set. */
bool memory_find(struct memory_set *st, const struct storage_context *ctx, struct embedding *e,
    const struct memory_request *rq, struct memory_hits *hits, struct error *err);

#endif
