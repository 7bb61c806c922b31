/* SPDX-License-Identifier: ISC */
/*
 * Which tool calls may run (doc/protocol-runs.md#client-side-tools): those that the nodes of this
 * run asked for, and those that a pause left open.  Messages that clients told as history may hold
 * calls as well; they never run, and neither do calls of earlier turns.
 */
#ifndef AGENTGRAPH_GRAPH_NODES_TOOLS_ASKING_H
#define AGENTGRAPH_GRAPH_NODES_TOOLS_ASKING_H

#include "graph/run.h"

/* The latest message whose calls may run, and where their answers are; the run owns both. */
struct asking {
	const cJSON *message; /* NULL: there is none */
	const cJSON *later;   /* the first of the run's messages after it, with next; or NULL */
};

/* Finds it: what the run has said comes before what a pause left open. */
void asking_find(ag_run *run, struct asking *asking);

/* Whether a later message answers the call.  Servers of models may repeat an id in each answer. */
bool asking_is_answered(const struct asking *asking, const char *call_id);

/* The id of the latest such message while one of its calls has no answer, else NULL; a pause keeps
 * it. */
const char *asking_open(ag_run *run);

#endif
