/* SPDX-License-Identifier: ISC */
/*
 * Which fields of the graph a node has set: what they are when it ends is compared to what was told
 * before.  A branch has fields of its own, which say nothing about those of the others.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_FIELDS_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_TOLD_FIELDS_H

#include "graph/run.h"

/* All-zero at first. */
struct told_fields {
	cJSON *whole;    /* outside of branches, as they were told last; NULL: not yet */
	cJSON *branches; /* for each branch, as they were when its node began that has not ended */
};

void told_fields_release(struct told_fields *told);

/* A node begins; whole is the run, and run the branch that the node is in, or the run. */
void told_fields_begin(struct told_fields *told, const ag_run *whole, const ag_run *run,
    const struct run_event *event);

/* A node ends: the names of the fields that are not as they were told, a new array.  What branches
 * and subgraphs have set together is among those of the next node outside of branches. */
cJSON *told_fields_end(struct told_fields *told, const ag_run *run, const struct run_event *event);

#endif
