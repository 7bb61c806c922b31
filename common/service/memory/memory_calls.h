/* SPDX-License-Identifier: ISC */
/*
 * Operations on memories (doc/protocol-store.md#calls), for the routes under /v1/store and for
 * graphs: over the built-in store or a plug-in, and always on the caller's own memories.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_CALLS_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_CALLS_H

#include "graph/run.h"
#include "service/service.h"

/* Whether a store is configured; else false with the error set.  This is checked before anything
 * else (doc/protocol.md#order-of-checks step 8). */
bool memory_configured(struct call *call);

/* Each returns the data of its route, in the call's arena, or NULL with the call's error set. */
cJSON *memory_store(struct call *call, const cJSON *body);
cJSON *memory_search(struct call *call, const cJSON *body);
cJSON *memory_list(struct call *call, const cJSON *body);
cJSON *memory_read(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_update(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_remove(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_forget(struct call *call, const cJSON *body);

/* Stores a memory under an id that its owner chose, replacing one with the same id.  False with the
 * error set. */
bool memory_set_one(struct call *call, const char *memory_id, const cJSON *body);

/* The same as memory_list, but with the category, memory_type and filters of a search. */
cJSON *memory_list_of(struct call *call, const cJSON *body);

/* The functions above for the nodes of a run, as its user; for run_setup.  config is the run's, and
 * must outlive the run, as must the call. */
struct run_store memories_of_run(struct call *call, const cJSON *config);

#endif
