/* SPDX-License-Identifier: ISC */
/* A row of the table of checkpoints. */
#ifndef AGENTGRAPH_STORAGE_SQL_HISTORY_CHECKPOINT_ROW_H
#define AGENTGRAPH_STORAGE_SQL_HISTORY_CHECKPOINT_ROW_H

#include "storage/history.h"
#include "storage/sql/engine.h"

/* Whether the state of a thread needs no row of its own, which would be another page for every new
 * thread to write. */
bool state_is_short(const struct thread *thread);

/* Adds a checkpoint; state is the row of its state, 0: the state is short and needs none. */
bool checkpoint_insert(struct db *db, int64_t thread_row, const struct checkpoint *checkpoint,
    int64_t state, struct error *err);

#endif
