/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints as LangGraph's clients see them (doc/protocol-langgraph.md#states).
 *
 * There a checkpoint stands between what a run was given and what it said, so that a page can have
 * another answer to it.  Here it is no row: the first checkpoint of a run stands for both, and the
 * earlier one has the id "<parent>-<checkpoint>", which sorts between the two.
 */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_STATE_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_STATE_H

#include "service/langgraph/lg_values.h"
#include "storage/history.h"
#include "storage/runs.h"

/* What an id of a checkpoint names. */
struct lg_place {
	struct checkpoint checkpoint; /* number 0: before any, which only an input has */
	bool is_input;                /* what its run was given has come, and nothing else */
	const char *last;             /* then: id of the message that it ends with */
	int64_t parent;               /* then: the checkpoint before; 0: there is none */
	struct run_record run;        /* then: whose input it is */
	int64_t number;               /* then: of the checkpoint that its id ends with */
	bool shared; /* it is that of an earlier run, which was given the same there */
};

/* Finds the one of that id in a thread that was read before; false with "Checkpoint not found", or
 * a storage error, set. */
bool lg_place_find(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct lg_place *place);

/* The id of the checkpoint that a body names: checkpoint_id, or that of the object checkpoint; NULL
 * where neither does, or with the error set. */
const char *lg_checkpoint_id(struct call *call, const cJSON *body);

/* The id of the checkpoint that a thread goes on from, in the arena, or NULL; a storage error is
 * set. */
const char *lg_latest_id(struct call *call, const struct thread *thread);

/* The object that names a checkpoint of a thread, a new tree; id may be NULL. */
cJSON *lg_checkpoint_view(const char *thread_id, const char *id);

#endif
