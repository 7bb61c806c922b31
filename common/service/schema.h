/* The JSON Schema of a graph's state (doc/protocol-runs.md#the-schema-of-the-state). */
#ifndef AGENTGRAPH_SERVICE_SCHEMA_H
#define AGENTGRAPH_SERVICE_SCHEMA_H

#include "graph/graph.h"

/* A new tree. */
cJSON *schema_of(const ag_graph *graph);

#endif
