/* SPDX-License-Identifier: ISC */
/*
 * A question to a chat model during a run: streamed to the client, and held to the form that was
 * asked for.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_ASK_H
#define AGENTGRAPH_GRAPH_NODES_ASK_H

#include "agentgraph.h"
#include "model/chat.h"

#include <stdbool.h>

/* What is asked.  Borrowed for the time of the call. */
struct model_question {
	const struct chat_model *chat;
	const char *system;    /* the system prompt, or NULL */
	const cJSON *messages; /* an array in output form */
	const struct chat_tool *tools;
	size_t tool_count;
	enum chat_choice choice;
	const char *tool_name;
	bool plain; /* text is wanted, whatever response_format says */
	bool show;  /* stream the answer to the client as that of the node */
};

/*
 * Asks.  *answer is then a new tree as chat_result's message; AG_ERROR, with *answer NULL, says why
 * with ag_fail.
 *
 * Where the model is asked for JSON, its answer is checked before anybody sees it: the text is not
 * streamed, and an answer that is no JSON, or does not fit the schema, is given back to the model
 * once with what is wrong; a second one fails, and so does a refusal.  An answer that asks for
 * tools is not checked.
 */
ag_result model_ask(ag_run *run, const struct model_question *question, cJSON **answer);

/* Counts the cost of an answer (or NULL) that becomes no message of the run. */
void model_spent(ag_run *run, const cJSON *answer);

#endif
