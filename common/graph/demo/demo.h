/* SPDX-License-Identifier: ISC */
/*
 * builtin:demo, how a newcomer, a smoke test and a load test meet the service.  It needs no model
 * and no network: what the last user said decides what happens.
 */
#ifndef AGENTGRAPH_GRAPH_DEMO_DEMO_H
#define AGENTGRAPH_GRAPH_DEMO_DEMO_H

#include "agentgraph.h"

#include <stdbool.h>

/* One run of the node `agent`. */
struct demo {
	ag_run *run;
	const ag_state *state;
	const char *text; /* what the user said */
	const char *rest; /* what follows the command; set by demo_answer */
};

/* Whether text is the command of that name ("/slow"), with or without something behind it. */
bool demo_is_command(const char *text, const char *name);

/* Does what d->text commands; a text that is no command is echoed. */
ag_result demo_answer(struct demo *d);

/* Answers prefix and text: a delta a word, then the message, whose usage counts the words. */
ag_result demo_say(struct demo *d, const char *prefix, const char *text);

#endif
