/* SPDX-License-Identifier: ISC */
/* Tools that a client offers with a request, for one run, and runs itself
 * (doc/protocol-ag-ui.md#the-request, doc/protocol-openai.md#tools). */
#ifndef AGENTGRAPH_SERVICE_RUN_CLIENT_TOOLS_H
#define AGENTGRAPH_SERVICE_RUN_CLIENT_TOOLS_H

#include "graph/run.h"
#include "service/service.h"

/*
 * Reads an array of {name, description, parameters}, which have the right types; NULL is none.
 * False with the limit that is broken in call->error, at "body.tools[0]": no more than most, and
 * what one may be.  offered gets, in the arena, those that the run may use: none where they are not
 * allowed or the graph has no place for them, and none that the graph has a tool of the same name
 * for.
 */
bool client_tools_read(
    struct call *call, const cJSON *tools, int most, bool allowed, struct client_tools *offered);

#endif
