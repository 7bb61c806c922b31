/* SPDX-License-Identifier: ISC */
/*
 * The model node: asks a chat model with the conversation, streams what it says, and adds its
 * answer, which may ask for tools.
 *
 * What the model is shown is the system prompt, behind it what is remembered and what was said
 * before, and the context as far as it is within the node's window.  A context that has grown past
 * it is cut for good: what leaves is summed up by the model itself, into the state's
 * context_summary, which every later prompt carries.  It stays in the thread's list of messages.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_MODEL_NODE_H
#define AGENTGRAPH_GRAPH_NODES_MODEL_NODE_H

#include "agentgraph.h"
#include "graph/message/template.h"
#include "model/chat.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * ---- window.c: how much of a conversation a model is shown: where to cut a context that has grown
 * too long.
 *
 * Tokens are estimated, four bytes to one, because every provider counts its own way.
 */

#define WINDOW_BYTES_PER_TOKEN 4

/* Limits of a context; 0: none of that kind. */
struct window {
	size_t max_messages;
	size_t max_tokens;
	double keep; /* the share of the limits that is left after a cut, so that cuts are rare */
};

/*
 * How many of the oldest messages have to go; 0 when the context is within its limits.  A tool's
 * result never stays without its call, nor a call without its result; where that leaves a choice,
 * what stays begins with a user message.  The last message always stays.
 */
size_t window_cut(const struct window *window, const cJSON *context);

/* Estimated tokens of one message. */
size_t window_tokens(const cJSON *message);

/* ---- model_node.c */

struct shortening {
	struct window window;
	bool summary; /* whether what leaves is summed up */
	char *prompt; /* the prompt for the summary; NULL: the built-in one */
};

struct model_node {
	struct chat_model *chat;
	struct template *system; /* the system prompt; NULL: none */
	char *tools;             /* name of the tools node whose tools are offered, or NULL */
	/* holds until a tool has answered: to force a call again and again would never end */
	enum chat_choice choice;
	char *tool_name; /* CHAT_TOOLS_NAMED */
	struct shortening shortening;
	cJSON *recall; /* what is searched for in the store (recall.h), or NULL */
	char *output;  /* state field that gets the answer, or NULL */
	bool silent;   /* the answer goes to that field only */
};

/* Frees a struct model_node and all that it owns, which is everything in it. */
void model_node_free(void *data);

/* The function of such a node (ag_node_fn); data is its struct model_node. */
ag_result model_node_run(ag_run *run, const ag_state *state, void *data);

/* ---- shorten.c */

/*
 * Cuts the context where it is past the window: the first message that is to be shown; *notes is
 * what stands for those that left, malloc'd or NULL.  What could not be summed up is not shown this
 * time, and stays in the context.
 */
const cJSON *shorten(const struct shortening *how, const struct chat_model *chat, ag_run *run,
    const cJSON *context, char **notes);

#endif
