/* SPDX-License-Identifier: ISC */
/* What is served: graph, tools, state schema and tool announcements (doc/protocol-runs.md); and the
 * state of the service. */
#ifndef AGENTGRAPH_SERVICE_ABOUT_H
#define AGENTGRAPH_SERVICE_ABOUT_H

#include "graph/graph.h"
#include "service/service.h"

/* Each returns the data of its route. */
cJSON *graph_info(struct call *call);
cJSON *graph_tools(struct call *call);
cJSON *graph_schema(struct call *call);
cJSON *graph_setup(struct call *call, const cJSON *body);

/* schema.c: the JSON Schema of a graph's state (doc/protocol-runs.md#the-schema-of-the-state), a
 * new tree. */
cJSON *schema_of(const ag_graph *graph);

/* ---- status.c: the service itself, as its operators see it (doc/protocol-service.md). */

/* The data of GET /v1/service; rights, a new tree, becomes part of it. */
cJSON *service_status(struct call *call, cJSON *rights);

/* Those permissions that the caller has where no thread is named, as an array of scopes, each once;
 * null when the caller has all.  A new tree. */
cJSON *service_rights(struct call *call, const struct permission *permissions, size_t count);

#endif
