/* SPDX-License-Identifier: ISC */
/*
 * Identifies the file behind a name, so that a process which removes the name later removes only
 * what it knew: by then the name of a socket may belong to a successor.
 */
#ifndef AGENTGRAPH_BASE_BOUND_H
#define AGENTGRAPH_BASE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

struct bound {
	uint32_t device_major, device_minor;
	uint64_t inode; /* 0: nothing */
	int64_t born;   /* nanoseconds since 1970; 0 where the file system does not know */
};

/* The file that lies at a path now; a link is not followed. */
struct bound bound_at(const char *path);

/* Whether another file lies at the path now, or none. */
bool bound_is_other(struct bound bound, const char *path);

/* Removes the name, unless another file lies there.  (A new file may have the inode number of one
 * that is gone, but was born later.) */
void bound_remove(struct bound bound, const char *path);

#endif
