/* SPDX-License-Identifier: ISC */
/* Rows of pushes (runs.h), as parts of transactions. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_PUSHES_H
#define AGENTGRAPH_STORAGE_SQL_RUN_PUSHES_H

#include "storage/runs.h"
#include "storage/sql/db/db.h"
#include "storage/sql/moves.h"
#include "storage/sql/run/records.h"

/* Puts one that came with its task's run, which has just been made; NULL: none did. */
bool push_put_first(struct db *db, struct run_key run, const struct push *push, struct error *err);

/* A run has ended, as its record says; but a paused one that nobody answers any
 * more, with status RUN_STOPPED.  Whom that concerns is told by the outbox. */
struct push_end {
	struct run_key run;
	enum run_status status; /* RUN_IDLE: that of the record */
};
bool pushes_tell(struct storage *st, struct db *db, const struct push_end *end, struct moves *moves,
    struct error *err);

#endif
