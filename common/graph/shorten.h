/* SPDX-License-Identifier: ISC */
/*
 * Keeping a conversation within what a model can be shown.
 *
 * A context that has grown past a node's window is cut for good: what leaves is summed up by the
 * model itself, into the state's context_summary, which every later prompt carries.  It stays in
 * the thread's list of messages.
 */
#ifndef AGENTGRAPH_GRAPH_SHORTEN_H
#define AGENTGRAPH_GRAPH_SHORTEN_H

#include "agentgraph.h"
#include "graph/window.h"
#include "model/chat.h"

#include <stdbool.h>

struct shortening {
	struct window window;
	bool summary; /* whether what leaves is summed up */
	char *prompt; /* what the model is told to do with it, instead of the built-in one; or NULL
		       */
};

/*
 * Cuts the context where it is past the window: *first is the first message that is to be shown,
 * *notes what stands for those that left, malloc'd or NULL.  What could not be summed up is not
 * shown this time, and stays in the context.
 */
void shorten(const struct shortening *how, const struct chat_model *chat, ag_run *run,
    const ag_state *state, const cJSON *context, const cJSON **first, char **notes);

#endif
