/* SPDX-License-Identifier: ISC */
/*
 * Which fields of the graph a node has set: what they are when it ends is compared to what was told
 * before.  A branch has fields of its own, and an array of which a map has a thousand branches is
 * not compared in each of them: the engine says what was set there.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_FIELDS_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_FIELDS_H

#include "graph/run.h"

/* All-zero at first. */
struct told_fields {
	cJSON *whole; /* outside of branches, as they were told last; NULL: not yet */
};

void told_fields_release(struct told_fields *told);

/* A node of the run begins. */
void told_fields_begin(struct told_fields *told, const ag_run *whole);

/* The same for an end that is told, if no node has begun: the run went on behind the last node of a
 * subgraph.  before is the thread as the run found it.  Whether this was so. */
bool told_fields_begin_late(
    struct told_fields *told, const ag_graph *graph, const struct thread *before);

/* A node, or a subgraph, ends: the names of the fields that it has set, a new array.  What branches
 * have set together is among those of the next node outside of branches. */
cJSON *told_fields_end(struct told_fields *told, const ag_run *run, const struct run_event *event);

#endif
