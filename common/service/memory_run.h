/* Memories for the nodes of a run, as its user: the routes' own functions, without a client. */
#ifndef AGENTGRAPH_SERVICE_MEMORY_RUN_H
#define AGENTGRAPH_SERVICE_MEMORY_RUN_H

#include "graph/run.h"
#include "service/service.h"

/* For run_setup.  config is that of the run, which with the call outlives it. */
struct run_store memories_of_run(struct call *call, const cJSON *config);

#endif
