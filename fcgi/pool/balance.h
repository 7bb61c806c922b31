/* SPDX-License-Identifier: ISC */
/*
 * How many requests each process of the pool has in hand, so that none takes more than its part.
 *
 * The processes take connections in turn (workers.c), which alone spreads what comes one by one. In
 * a burst, or when one process gets less of the processors, another could take a connection more
 * while the first is still waking up.  So a process that has more in hand than another one that
 * could take more stands back for a moment.
 */
#ifndef AGENTGRAPH_FCGI_POOL_BALANCE_H
#define AGENTGRAPH_FCGI_POOL_BALANCE_H

#include "base/os/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* This process's part; all-zero is one that is alone. */
struct balance {
	struct shared *shared;
	struct balance_cell *own;
};

/* Takes a cell among those of the other processes; when all are taken, the process goes without. */
void balance_join(struct balance *balance, struct shared *shared);

/* A connection was accepted (1), or is done (-1); from any thread. */
void balance_count(struct balance *balance, int change);

/* Somebody waits for connections at this time of clock_monotonic_ms; 0: nobody does any more. */
void balance_waits(struct balance *balance, int64_t now);

/* Whether another process that waits for connections has so few in hand that the next one is its.
 */
bool balance_ahead(const struct balance *balance, int64_t now);

#endif
