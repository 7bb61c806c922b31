/* What is served: graph, tools, state schema, tool announcements (doc/protocol-runs.md). */
#ifndef AGENTGRAPH_SERVICE_ABOUT_H
#define AGENTGRAPH_SERVICE_ABOUT_H

#include "service/service.h"

/* Each returns the data of its route. */
cJSON *graph_info(struct call *call);
cJSON *graph_tools(struct call *call);
cJSON *graph_schema(struct call *call);
cJSON *graph_setup(struct call *call, const cJSON *body);

#endif
