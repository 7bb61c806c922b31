/* SPDX-License-Identifier: ISC */
/*
 * The sliding windows of the memory backend, in the region SHARED_LIMITS: one count for all
 * processes of an instance, gone when the last of them ends (doc/protocol-access.md#rate-limits).
 *
 * Each key has a log of the requests that were allowed, so the count is exact.  Only above
 * LIMIT_EXACT requests in a window those within 1/LIMIT_EXACT of it share a mark and leave together
 * with their latest.  Room is fixed: LIMIT_KEYS keys, and marks for over a million requests; when
 * either is used up, the key that was not asked for longest is forgotten.
 *
 * A process may die at any point: what it had counted stays counted.
 */
#ifndef AGENTGRAPH_ACCESS_LIMIT_TABLE_H
#define AGENTGRAPH_ACCESS_LIMIT_TABLE_H

#include "access/limit.h"
#include "base/os/shared.h"

#include <stddef.h>
#include <stdint.h>

#define LIMIT_KEYS 50000
#define LIMIT_EXACT 4096

struct limit_table; /* in shared memory */

/* What is allowed. */
struct limit_rule {
	int64_t requests;
	int64_t window;       /* seconds */
	int64_t (*now)(void); /* microseconds of a clock that all processes share */
};

/* The table in the region, which whoever comes first makes ready. */
struct limit_table *limit_table_of(struct shared *sh);

/* Counts a request of key, unless it is refused. */
void limit_table_check(struct limit_table *table, const struct limit_rule *rule, const char *key,
    struct limit_verdict *verdict);

/* How many keys are known. */
size_t limit_table_count(struct limit_table *table);

#endif
