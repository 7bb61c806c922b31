/* SPDX-License-Identifier: ISC */
/*
 * Regions: the branches of a fork, side by side, up to their join.
 *
 * Each branch is a run of its own (ag_run) that sees the state as it was at the fork and what it
 * changes itself: its messages and updates stay with it, and enter the run that forked in the order
 * of declaration when the region is left, whatever the branches' speed.  A branch may fork again.
 *
 * Branches run on the thread of the run that forked and on others, of which a run has so many
 * (run_setup.parallel) and a process REGION_THREADS.  A region never waits for a thread: the one
 * that it has runs what no other takes, so that regions within regions, and those of many runs,
 * cannot wait for each other in a circle.
 *
 * What branches share (the observer, the writes of the run, what each has come to) is guarded by
 * one lock of the run, run_side.lock; all else of a branch belongs to the thread that runs it.
 *
 * A subgraph is a region of one branch, whose run walks another graph with fields of its own: these
 * begin with what its node's input says, and at its end the node's output is what it has set.
 *
 * A region that is left before its join (a pause, tools at the client, a process that ends) is kept
 * as JSON beside the thread's pause: for each branch how far it is, its updates, and the ids of its
 * messages, which are stored with the thread then.  A background run keeps it whenever a branch
 * arrives, with messages that are not stored yet, so that no branch that arrived runs again: now
 * and then as a whole, and in between what is new.
 */
#ifndef AGENTGRAPH_GRAPH_REGION_REGION_H
#define AGENTGRAPH_GRAPH_REGION_REGION_H

#include "graph/run_internal.h"

#define REGION_PARALLEL 16    /* branches of a run at once, unless the configuration says else */
#define REGION_ELEMENTS 10000 /* likewise, of a run's maps together */
#define REGION_THREADS 1024

/*
 * Runs the branches of fork: new ones, or those that kept describes.  On GO_ON the run has what
 * they said and set, and goes on at the join.  Otherwise it has what they said, and on FAILED, with
 * err set, and WAS_STOPPED what they set as well; on PAUSED, WAITS_FOR_CLIENT and GIVEN_BACK
 * run->region is what is to be kept.
 */
enum verdict region_run(ag_run *run, const struct edge *fork, const cJSON *kept, struct error *err);

/* The same for the edge into a subgraph, with its retries, its time and its cache.  When an order
 * came between two attempts (WAS_STOPPED, GIVEN_BACK), nothing of it is left. */
enum verdict subgraph_run(
    ag_run *run, const struct edge *enter, const cJSON *kept, struct error *err);

/* A region has failed of err.  True where it is a subgraph whose on_error follows: *place is that
 * node, and of the subgraph nothing is left but the failure. */
bool region_pass_over(ag_run *run, const struct edge *region, int *place, struct error *err);

/* Makes what was kept ready for another run: the limit and what it costs begin anew, and what was
 * said so far (charged) is not counted again. */
void region_renew(cJSON *kept);

/* Adds to what was kept the branches that have arrived since (storage/runs.h), when a run is taken
 * up again; sets err where that fails. */
void region_recall(ag_run *run, cJSON *kept, struct error *err);

/* The place of a region that was kept; GRAPH_UNSET with err set when the graph no longer has it. */
int region_place(const ag_run *run, const cJSON *kept, struct error *err);

/* The open interrupts in a region that was kept, in order of declaration: a new array of
 * references. */
cJSON *region_interrupts(const cJSON *kept);

/* The kind of the first open interrupt (state.h), or NULL. */
const char *region_pause_kind(const cJSON *kept);

/* The calls in it that wait for the client, and the message that asked first, in the form of
 * waiting_json: a new tree. */
cJSON *region_waiting(const cJSON *kept);

/* For a new turn that leaves a region whose calls wait at the client: the run gets what the
 * branches have set, as when a region is stopped, except the fields that the turn sets itself.
 * Subgraphs leave nothing. */
void region_abandon(ag_run *run, const cJSON *kept);

/* Takes the id for a call of a branch; false where a call of the run has it already. */
bool region_claim_call(struct run_side *side, const char *id);

/* Answers branches that wait: those whose interrupts' ids are the keys of answer, or else the first
 * one.  answer is NULL where the first one has paused before or after a node. */
void region_answer(cJSON *kept, const cJSON *answer);

#endif
