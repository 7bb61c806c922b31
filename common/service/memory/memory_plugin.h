/* SPDX-License-Identifier: ISC */
/* A memory store that a plug-in brings: struct ag_store of agentgraph.h. */
#ifndef AGENTGRAPH_SERVICE_MEMORY_MEMORY_PLUGIN_H
#define AGENTGRAPH_SERVICE_MEMORY_MEMORY_PLUGIN_H

#include "config/plugin.h"
#include "service/memory/memory_request.h"

struct memory_plugin {
	struct plugin plugin;
	void *data; /* the plug-in's own */
};

/* Loads and opens what config->store names; false with a problem added and nothing to close. */
bool memory_plugin_open(
    struct memory_plugin *p, const struct config *config, struct problems *problems);
void memory_plugin_close(struct memory_plugin *p); /* all-zero is fine */

/*
 * The operations.  They return new trees in the call's arena, with memories in the form of
 * doc/protocol-store.md#memories.  False or NULL with ERR_STORE_UNAVAILABLE set, or
 * ERR_RESOURCE_NOT_FOUND for a memory that does not exist.
 */
bool memory_plugin_put(struct memory_plugin *p, struct call *call, const struct memory_request *rq);
cJSON *memory_plugin_get(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq);
bool memory_plugin_update(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq);
bool memory_plugin_remove(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq);
cJSON *memory_plugin_list(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq);
cJSON *memory_plugin_search(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq);
bool memory_plugin_forget(
    struct memory_plugin *p, struct call *call, const struct memory_request *rq, int64_t *count);

#endif
