/* SPDX-License-Identifier: ISC */
/* A checkpoint as clients see and name it (doc/protocol-history.md#checkpoints), and making a
 * thread go on from it. */
#ifndef AGENTGRAPH_SERVICE_HISTORY_EARLIER_H
#define AGENTGRAPH_SERVICE_HISTORY_EARLIER_H

#include "base/fields.h"
#include "service/service.h"
#include "storage/history.h"

/* The source for a checkpoint of a change from outside; CHECKPOINT_NONE where history is off. */
enum checkpoint_source earlier_of_update(const struct call *call);

/* The names of sources, and the name of one. */
extern const struct choice earlier_sources[];
const char *earlier_source_name(enum checkpoint_source source);

/* The id of the checkpoint with this number, in the arena. */
const char *earlier_id(struct arena *a, int64_t number);

/* Adds the id of the checkpoint with this number, null for 0; and the number of an id, 0 for what
 * is no id. */
void earlier_add_id(cJSON *out, const char *name, int64_t number);
int64_t earlier_number(const char *id);

/* A checkpoint as clients see it, a new tree; does not use the storage. */
cJSON *earlier_record(const struct checkpoint *checkpoint);

/* Sets "Checkpoint not found"; always false. */
bool earlier_not_found(struct call *call);

/* Reads a checkpoint of a thread that was read before; false with "Checkpoint not found", or a
 * storage error, set. */
bool earlier_find(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct checkpoint *checkpoint);

/* Reads the latest checkpoint that was kept for the end of the run with this id; false when there
 * is none, or with a storage error set. */
bool earlier_after_run(struct call *call, const struct thread *thread, const char *run_id,
    struct checkpoint *checkpoint);

/*
 * Prepares a thread that was put to an earlier state to go on from there: no run has it, and a
 * pause, or waiting calls, whose message its view does not have any more are closed
 * (thread_close_gone).  in_run says that a run had it then, between two nodes.  False with a
 * storage error set.
 */
bool earlier_ready(struct call *call, struct thread *thread, bool in_run);

/* earlier_find, and then earlier_ready for the checkpoint's thread. */
bool earlier_take(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct checkpoint *checkpoint);

/* Whether a run without any input can go on from the checkpoint
 * (doc/protocol-history.md#running-from-a-checkpoint); false with "Nothing follows this checkpoint"
 * set where neither a pause is open nor a node is next. */
bool earlier_goes_on(struct call *call, const struct checkpoint *checkpoint);

#endif
