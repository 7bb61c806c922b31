/* SPDX-License-Identifier: ISC */
/* What a transaction did to the queue, which others are told of after its commit. */
#ifndef AGENTGRAPH_STORAGE_SQL_MOVES_H
#define AGENTGRAPH_STORAGE_SQL_MOVES_H

#include "storage/storage.h"

/* A unit begins with none of it, as it may run more than once. */
struct moves {
	int64_t waiting; /* so many jobs more wait */
	bool queue;      /* something can be claimed */
	bool outbox;     /* it has more */
	bool dropped;    /* there are chunks without a record */
	int64_t trims;   /* row of a thread that has more checkpoints than are kept; or 0 */
};

/* Tells the other processes, and the sweeper.  True. */
bool moves_tell(struct storage *st, const struct moves *moves);

#endif
