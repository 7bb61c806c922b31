/* SPDX-License-Identifier: ISC */
/* Tools that a client offers with a request, for one run, and runs itself
 * (doc/protocol-ag-ui.md#the-request, doc/protocol-openai.md#tools). */
#ifndef AGENTGRAPH_SERVICE_RUN_CLIENT_TOOLS_H
#define AGENTGRAPH_SERVICE_RUN_CLIENT_TOOLS_H

#include "graph/run.h"
#include "service/service.h"

/*
 * Reads an array of {name, description, parameters}, whose types were checked; NULL: there is none.
 * False with the broken limit in call->error, such as at "body.tools[0]": there may be most tools,
 * and each has limits.  offered gets, in the arena, the tools that the run may use: none where
 * tools are not allowed or the graph has no place for them, and none with the name of one of the
 * graph's tools.
 */
bool client_tools_read(
    struct call *call, const cJSON *tools, int most, bool allowed, struct client_tools *offered);

#endif
