/* SPDX-License-Identifier: ISC */
/*
 * Items of a store by LangGraph's protocol, which are memories of the caller's
 * (doc/protocol-langgraph.md#store).
 *
 * An item's memory has an id that is made of its owner, namespace and key, and in its metadata,
 * under "langgraph", all that the item is; beside it stands what searches ask for.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_STORE_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_STORE_H

#include "service/service.h"

/* Bodies may be NULL; false, or NULL, is with call->error set. */
bool lg_item_put(struct call *call, const cJSON *body);
bool lg_item_remove(struct call *call, const cJSON *body); /* also of one that is not there */
/* As they come in the query, the namespace's labels with a point between two; NULL when absent.
 * The item, or null where there is none. */
cJSON *lg_item_read(struct call *call, const char *name_space, const char *key);
cJSON *lg_items_search(struct call *call, const cJSON *body);
cJSON *lg_namespaces(struct call *call, const cJSON *body);

#endif
