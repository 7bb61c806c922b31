/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints as LangGraph's clients see them (doc/protocol-langgraph.md#states).
 *
 * LangGraph has a checkpoint between what a run was given and what it said, so that a page can ask
 * for another answer.  Here there is no such row: the first checkpoint of a run stands for both,
 * and the earlier one gets the id "<parent>-<checkpoint>", which sorts between the two.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_STATE_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_STATE_H

#include "service/langgraph/lg_values.h"
#include "storage/history.h"
#include "storage/runs.h"

/* The place that an id of a checkpoint names. */
struct lg_place {
	/* number 0: before any checkpoint, which only an input can be */
	struct checkpoint checkpoint;
	bool is_input;    /* the place between a run's input and what it said; the members below are
			     for that */
	const char *last; /* id of the message that it ends with */
	int64_t parent;   /* the checkpoint before; 0: there is none */
	struct run_record run; /* the run whose input it is */
	int64_t number;        /* number of the checkpoint that the id ends with */
	bool shared; /* an earlier run was given the same input there, and has this place */
};

/* Finds the place with this id in a thread that was read before; false with "Checkpoint not found",
 * or a storage error, set. */
bool lg_place_find(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct lg_place *place);

/* The id of the checkpoint that a body names, by checkpoint_id or in the object checkpoint; NULL
 * where it names none, or with the error set. */
const char *lg_checkpoint_id(struct call *call, const cJSON *body);

/* The id of the checkpoint that a thread goes on from, in the arena; NULL where there is none, or
 * with a storage error set. */
const char *lg_latest_id(struct call *call, const struct thread *thread);

/* The object that names a checkpoint of a thread, a new tree; id may be NULL. */
cJSON *lg_checkpoint_view(const char *thread_id, const char *id);

#endif
