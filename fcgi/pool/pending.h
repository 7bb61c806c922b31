/* SPDX-License-Identifier: ISC */
/*
 * The bodies that are on their way, of all processes together: how many each address has, and how
 * many bytes of them are in temporary files.
 *
 * The table is in shared memory; what a process had ends with it, however it ends.
 */
#ifndef AGENTGRAPH_FCGI_POOL_PENDING_H
#define AGENTGRAPH_FCGI_POOL_PENDING_H

#include "base/os/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* One body's place; all-zero is none. */
struct pending {
	struct shared *shared;
	uint32_t place;
};

enum pending_answer {
	PENDING_TAKEN,
	PENDING_ADDRESS_FULL, /* the address has as many as it may */
	PENDING_FULL          /* there are too many of all addresses */
};

/* Takes a place for a body of that address, which may have `most` of them. */
enum pending_answer pending_take(
    struct pending *pending, struct shared *shared, const char *address, int64_t most);

/* Counts bytes that go to the body's file; false, and nothing counted, when all files together
 * would hold more than `most`. */
bool pending_grow(struct pending *pending, int64_t bytes, int64_t most);

/* Gives the place back, and the bytes with it; without effect on none. */
void pending_drop(struct pending *pending);

#endif
