/* SPDX-License-Identifier: ISC */
/*
 * The calls on memories (doc/protocol-store.md#calls), of the routes under /v1/store and of graphs:
 * over the built-in store or a plug-in, and always of the caller's own memories.
 */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_CALLS_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_CALLS_H

#include "graph/run.h"
#include "service/service.h"

/* Refuses where no store is configured, before anything else is looked at
 * (doc/protocol.md#order-of-the-checks step 8). */
bool memory_configured(struct call *call);

/* Each returns the data of its route, in the call's arena, or NULL with the call's error set. */
cJSON *memory_store(struct call *call, const cJSON *body);
cJSON *memory_search(struct call *call, const cJSON *body);
cJSON *memory_list(struct call *call, const cJSON *body);
cJSON *memory_read(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_update(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_remove(struct call *call, const char *memory_id, const cJSON *body);
cJSON *memory_forget(struct call *call, const cJSON *body);

/* Stores one under an id that its owner chose, or what is there by that id anew.  False with the
 * error set. */
bool memory_set_one(struct call *call, const char *memory_id, const cJSON *body);

/* The list with category, memory_type and filters of a search beside it. */
cJSON *memory_list_of(struct call *call, const cJSON *body);

/* Memories for the nodes of a run, as its user: the functions above, without a client.  For
 * run_setup; config is that of the run, which with the call outlives it. */
struct run_store memories_of_run(struct call *call, const cJSON *config);

#endif
