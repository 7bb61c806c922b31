/* SPDX-License-Identifier: ISC */
/* Rows of pushes (runs.h), as parts of transactions. */
#ifndef AGENTGRAPH_STORAGE_SQL_RUN_PUSHES_H
#define AGENTGRAPH_STORAGE_SQL_RUN_PUSHES_H

#include "storage/runs.h"
#include "storage/sql/db/db.h"
#include "storage/sql/moves.h"
#include "storage/sql/run/records.h"

/* Adds the push that came with a run whose record has just been made; NULL: none did. */
bool push_put_first(struct db *db, struct run_key run, const struct push *push, struct error *err);

/* Tells those whom it concerns, through the outbox, that a run has ended; or that nobody can answer
 * its pause any more, with status RUN_STOPPED. */
struct push_end {
	struct run_key run;
	enum run_status status; /* RUN_IDLE: what the record says */
};
bool pushes_tell(struct storage *st, struct db *db, const struct push_end *end, struct moves *moves,
    struct error *err);

#endif
