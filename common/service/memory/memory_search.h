/* SPDX-License-Identifier: ISC */
/* The five retrieval strategies over a store (doc/protocol-store.md#strategies). */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_SEARCH_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_SEARCH_H

#include "service/memory/memory_embed.h"
#include "service/memory/memory_request.h"

#define MEMORY_FOUND_MOST 1024 /* hits that a strategy may bring */

struct memory_hits {
	struct memory_hit items[MEMORY_FOUND_MOST]; /* scores from 0 to 1, best first */
	size_t count;
};

/* False with err set. */
bool memory_find(struct memory_set *st, const struct storage_context *ctx, struct embedding *e,
    const struct memory_request *rq, struct memory_hits *hits, struct error *err);

#endif
