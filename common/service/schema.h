/* The JSON Schema of a graph's state (SPEC 4.8, WIRE 4.8). */
#ifndef AGENTGRAPH_SERVICE_SCHEMA_H
#define AGENTGRAPH_SERVICE_SCHEMA_H

#include "graph/graph.h"

/* A new tree. */
cJSON *schema_of(const ag_graph *graph);

#endif
