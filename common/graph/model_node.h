/*
 * The model node: asks a chat model with the conversation, streams what it says, and adds its
 * answer, which may ask for tools.
 *
 * What the model is shown is the context within its window.  A context that has grown past it is
 * cut for good: what leaves is summed up by the model itself, into the state's context_summary,
 * which every later prompt carries.
 */
#ifndef AGENTGRAPH_GRAPH_MODEL_NODE_H
#define AGENTGRAPH_GRAPH_MODEL_NODE_H

#include "graph/graph.h"
#include "graph/template.h"
#include "graph/window.h"
#include "model/chat.h"

#include <stdbool.h>

struct model_node {
	struct chat_model *chat;
	struct template *system; /* the system prompt; NULL: none */
	char **tools;            /* names of tools nodes whose tools are offered; ends with NULL */
	enum chat_choice choice;
	char *tool_name; /* CHAT_TOOLS_NAMED */
	struct window window;
	bool summary;         /* whether what leaves the window is summed up */
	char *summary_prompt; /* instead of the built-in one, or NULL */
	char *output;         /* state field that gets the answer, or NULL */
	bool silent;          /* the answer goes to that field only */
};

/* What a node is made of is taken over; freed with model_node_free. */
void model_node_free(void *data);

/* The function of such a node (ag_node_fn); data is its struct model_node. */
ag_result model_node_run(ag_run *run, const ag_state *state, void *data);

/*
 * Asks the model with messages, an array in output form, beside the system prompt (NULL: none).
 * show streams the answer to the client as that of the node.  *answer is then a new tree as
 * chat_result's message; AG_ERROR says why with ag_fail.
 */
struct model_question {
	const struct chat_model *chat;
	const char *system;
	const cJSON *messages;
	const struct chat_tool *tools;
	size_t tool_count;
	enum chat_choice choice;
	const char *tool_name;
	bool show;
};
ag_result model_ask(ag_run *run, const struct model_question *question, cJSON **answer);

#endif
