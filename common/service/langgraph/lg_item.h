/* SPDX-License-Identifier: ISC */
/* Items of the store as their memories have them, what lg_store.c and lg_items.c share; and how
 * long a list in a body may be. */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_ITEM_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_ITEM_H

#include "service/service.h"

#define LG_LABELS_MOST 16
#define LG_CATEGORY "langgraph"
/* Members of the metadata: the item, its namespace up to a depth, and a member of its value. */
#define LG_ITEM_KEY "langgraph"
#define LG_DEPTH_KEY "langgraph.%d"
#define LG_VALUE_KEY "langgraph.value.%s"

/* "<member> <must>"; false. */
bool lg_item_wrong(struct call *call, const char *member, const char *must);

/* Whether a list in a body is short enough for each of its entries to be looked at; NULL is. */
bool lg_list_check(struct call *call, const char *member, const cJSON *list);

/* Whether a namespace, or a part of one, is of labels. */
bool lg_labels_check(struct call *call, const char *member, const cJSON *labels, bool may_be_empty);

/* The first labels with a point between two, in the arena. */
const char *lg_labels_text(struct call *call, const cJSON *labels, int most);

/* What a memory has of an item; NULL where it is none, as anybody can write such metadata. */
const cJSON *lg_item_of(struct call *call, const cJSON *memory);

/* The item of a memory that is one, a new tree. */
cJSON *lg_item_view(const cJSON *memory, const cJSON *item, bool scored);

#endif
