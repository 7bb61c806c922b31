/* SPDX-License-Identifier: ISC */
/* What a transaction did to the queue and the like, so that others can be told after its commit. */
#ifndef AGENTGRAPH_STORAGE_SQL_MOVES_H
#define AGENTGRAPH_STORAGE_SQL_MOVES_H

#include "storage/storage.h"

/* A unit clears this first, as it may run more than once. */
struct moves {
	int64_t waiting; /* by how many the waiting jobs grew; may be negative */
	bool queue;      /* there is a job that can be claimed */
	bool outbox;     /* the outbox has more */
	bool dropped;    /* there are chunks whose record is gone */
	int64_t trims;   /* row of a thread that has too many checkpoints; or 0 */
};

/* Tells the other processes, and the sweeper.  Always true. */
bool moves_tell(struct storage *st, const struct moves *moves);

#endif
