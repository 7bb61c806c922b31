/* SPDX-License-Identifier: ISC */
/* A service of the demo without storage, for targets that read what clients send. */
#ifndef AGENTGRAPH_FUZZ_DEMO_SERVICE_H
#define AGENTGRAPH_FUZZ_DEMO_SERVICE_H

#include "graph/graph.h"
#include "replay.h"
#include "service/service.h"

/* Makes the service at the first call, with that configuration. */
static inline struct service *demo_service(struct config *config)
{
	static struct service service;
	if (service.graph)
		return &service;
	service.config = config;
	service.graph = graph_new("builtin:demo");
	graph_demo(service.graph);
	require(graph_compile(service.graph));
	service.anonymous = cJSON_CreateObject();
	return &service;
}

#endif
