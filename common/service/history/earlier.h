/* SPDX-License-Identifier: ISC */
/* One checkpoint as clients see and name it (doc/protocol-history.md#checkpoints), and what a
 * thread becomes that goes on from it. */
#ifndef AGENTGRAPH_SERVICE_HISTORY_EARLIER_H
#define AGENTGRAPH_SERVICE_HISTORY_EARLIER_H

#include "base/fields.h"
#include "service/service.h"
#include "storage/history.h"

/* The source of what is kept for a change from outside; none where history is off. */
enum checkpoint_source earlier_of_update(const struct call *call);

/* The words for what a checkpoint was kept for, and that for one of them. */
extern const struct choice earlier_sources[];
const char *earlier_source_name(enum checkpoint_source source);

/* Adds the id of a checkpoint of that number, null for 0;
 * the number of an id, 0 for what is none. */
void earlier_add_id(cJSON *out, const char *name, int64_t number);
int64_t earlier_number(const char *id);

/* What a checkpoint says, a new tree; the storage is not asked. */
cJSON *earlier_record(const struct checkpoint *checkpoint);

/* Sets "Checkpoint not found"; false. */
bool earlier_not_found(struct call *call);

/* Reads a checkpoint of a thread that was read before; false with "Checkpoint not found", or a
 * storage error, set. */
bool earlier_find(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct checkpoint *checkpoint);

/* The latest checkpoint that is kept for the end of the run of that id; false when there is none,
 * or with a storage error set. */
bool earlier_after_run(struct call *call, const struct thread *thread, const char *run_id,
    struct checkpoint *checkpoint);

/*
 * Makes a thread of an earlier state one that can go on from there: no run has it, and a pause, or
 * calls, whose message its view does not have any more are closed (change_remove).  in_run: a run
 * had it between two nodes.  False with a storage error set.
 */
bool earlier_ready(struct call *call, struct thread *thread, bool in_run);

/* earlier_find, settled. */
bool earlier_take(struct call *call, const struct thread *thread, const char *checkpoint_id,
    struct checkpoint *checkpoint);

/* What a run that is given nothing does there (doc/protocol-history.md#runs): false with "Nothing
 * follows this checkpoint" set where neither a pause is open nor a node is next. */
bool earlier_goes_on(struct call *call, const struct checkpoint *checkpoint);

#endif
