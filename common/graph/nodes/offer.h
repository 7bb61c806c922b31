/* SPDX-License-Identifier: ISC */
/* What a model node offers its model: tools, and the files that messages name. */
#ifndef AGENTGRAPH_GRAPH_NODES_OFFER_H
#define AGENTGRAPH_GRAPH_NODES_OFFER_H

#include "graph/nodes/tools/node_tools.h"
#include "model/chat.h"

struct offer {
	struct node_tools node; /* of the tools node */
	struct chat_tool *tools;
	size_t count;
};

/*
 * The tools of that tools node now, and those that the run's client brought; none when name is
 * NULL.  Servers that are just starting are waited for, some seconds at most; a tool whose server
 * is away is missing.
 */
void offer_open(struct offer *offer, ag_run *run, const char *name);
void offer_close(struct offer *offer);

/* Writes into each call of an answer what kind of tool it is for
 * (doc/protocol-messages.md#content-blocks, tool_type), and a name where the model left it out;
 * returns answer. */
cJSON *offer_mark(const struct offer *offer, cJSON *answer);

/* chat_request's media; arg begins with the ag_run *. */
bool offer_media(const cJSON *media, struct chat_media *out, void *arg);

#endif
