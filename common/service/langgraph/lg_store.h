/* SPDX-License-Identifier: ISC */
/*
 * The store by LangGraph's protocol, whose items are memories of the caller's
 * (doc/protocol-langgraph.md#store).
 *
 * The id of an item's memory is made from its owner, namespace and key.  Its metadata has the whole
 * item under "langgraph", and beside it what searches ask for.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_STORE_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_STORE_H

#include "service/service.h"

/* Bodies may be NULL; false, or NULL, is with call->error set. */
bool lg_item_put(struct call *call, const cJSON *body);
/* true also when there is no such item */
bool lg_item_remove(struct call *call, const cJSON *body);
/* Returns the item, or null where there is none.  The arguments are as they come in the query, the
 * namespace's labels joined by points; NULL when absent. */
cJSON *lg_item_read(struct call *call, const char *name_space, const char *key);
cJSON *lg_items_search(struct call *call, const cJSON *body);
cJSON *lg_namespaces(struct call *call, const cJSON *body);

#endif
