/* SPDX-License-Identifier: ISC */
/* What lg_store.c and lg_items.c share: items of the store, as their memories have them; and what
 * is said of members of bodies. */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_ITEM_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_ITEM_H

#include "service/service.h"

#define LG_LABELS_MOST 16
#define LG_CATEGORY "langgraph"
/* Members of the metadata: the item, its namespace up to a depth, and a member of its value. */
#define LG_ITEM_KEY "langgraph"
#define LG_DEPTH_KEY "langgraph.%d"
#define LG_VALUE_KEY "langgraph.value.%s"

/* Sets the mistake "<member> <must>" in the body; always false. */
bool lg_wrong(struct call *call, const char *member, const char *must);

/* Refuses a list in a body that is too long to look at each entry. */
void lg_list_check(struct call *call, const char *member, const cJSON *list);

/* Refuses a namespace, or a part of one, that is no array of labels. */
void lg_labels_check(struct call *call, const char *member, const cJSON *labels, bool may_be_empty);

/* The first labels, at most most, joined by points; in the arena. */
const char *lg_labels_text(struct call *call, const cJSON *labels, int most);

/* The item in a memory's metadata; NULL where there is no valid one, since anybody can write such
 * metadata. */
const cJSON *lg_item_of(struct call *call, const cJSON *memory);

/* The item of a memory as clients see it, a new tree. */
cJSON *lg_item_view(const cJSON *memory, const cJSON *item, bool scored);

#endif
