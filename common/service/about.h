/* SPDX-License-Identifier: ISC */
/* What is served: graph, tools, state schema, tool announcements (doc/protocol-runs.md). */
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

#endif
