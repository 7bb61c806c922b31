/* SPDX-License-Identifier: ISC */
/* POST /v1/ag-ui (doc/protocol-ag-ui.md): the run of a browser that speaks the AG-UI protocol. */
#ifndef AGENTGRAPH_SERVICE_AGUI_AGUI_H
#define AGENTGRAPH_SERVICE_AGUI_AGUI_H

#include "service/run/runs.h"

/*
 * Sends every event, RUN_STARTED first and one of RUN_FINISHED and RUN_ERROR last.  False with
 * call->error set when the request was refused before the first event; then nothing was sent.
 */
bool run_agui(struct call *call, const cJSON *body, struct chunk_sink *sink);

#endif
