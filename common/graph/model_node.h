/* SPDX-License-Identifier: ISC */
/*
 * The model node: asks a chat model with the conversation, streams what it says, and adds its
 * answer, which may ask for tools.
 *
 * What the model is shown is the system prompt, behind it what is remembered and what was said
 * before, and the context as far as it is within the node's window.
 */
#ifndef AGENTGRAPH_GRAPH_MODEL_NODE_H
#define AGENTGRAPH_GRAPH_MODEL_NODE_H

#include "agentgraph.h"
#include "graph/shorten.h"
#include "graph/template.h"
#include "model/chat.h"

#include <stdbool.h>

struct model_node {
	struct chat_model *chat;
	struct template *system; /* the system prompt; NULL: none */
	char *tools;             /* name of the tools node whose tools are offered, or NULL */
	enum chat_choice choice; /* until a tool has answered: to force it again would not end */
	char *tool_name;         /* CHAT_TOOLS_NAMED */
	struct shortening shortening;
	cJSON *recall; /* what is searched for (recall.h), or NULL */
	char *output;  /* state field that gets the answer, or NULL */
	bool silent;   /* the answer goes to that field only */
};

/* What a node is made of is taken over; freed with model_node_free. */
void model_node_free(void *data);

/* The function of such a node (ag_node_fn); data is its struct model_node. */
ag_result model_node_run(ag_run *run, const ag_state *state, void *data);

#endif
