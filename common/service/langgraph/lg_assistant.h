/* SPDX-License-Identifier: ISC */
/* The one assistant, which is the graph (doc/protocol-langgraph.md#assistants). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_ASSISTANT_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_ASSISTANT_H

#include "service/service.h"

/* Its id, the UUID that LangGraph's own server makes of the graph's name; in the arena. */
const char *lg_assistant_id(struct call *call);

/* Whether the assistant has this id or name. */
bool lg_assistant_is(struct call *call, const char *id);

/* The same, with the error set where there is no such assistant. */
bool lg_assistant_check(struct call *call, const char *id);

/* The name of the graph there, which is the attribute in agent. */
const char *lg_graph_id(const struct call *call);

#endif
