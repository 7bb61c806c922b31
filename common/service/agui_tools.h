/* Tools that a browser offers for one run (doc/protocol-ag-ui.md#the-request). */
#ifndef AGENTGRAPH_SERVICE_AGUI_TOOLS_H
#define AGENTGRAPH_SERVICE_AGUI_TOOLS_H

#include "graph/run.h"
#include "service/service.h"

/*
 * Reads the array tools of a body, whose entries have the right types; false with the limit that is
 * broken in call->error.  offered gets those that the run may use: none where the configuration or
 * the graph has no place for them, and none that the graph has a tool of the same name for.
 */
bool agui_tools_read(struct call *call, const cJSON *tools, struct client_tools *offered);

#endif
