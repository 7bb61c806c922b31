/* The live socket's side of a helper: records in, records out, around one live session. */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_LIVE_H
#define AGENTGRAPH_WS_BRIDGE_WS_LIVE_H

#include "ws_session.h"

/* Serves from READY to the end of the input.  False when a tool of the graph does not end: then the
 * service must be left alone, and the process end. */
bool ws_live_run(struct service *service, const struct session_setup *setup);

#endif
