/* SPDX-License-Identifier: ISC */
/*
 * What a name in the file system stands for, so that one who comes late removes nothing but what it
 * knew: the name of a socket may be that of a successor's by then.
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

/* What lies at a path now; a link stands for itself. */
struct bound bound_at(const char *path);

/* Whether something else lies there now, or nothing. */
bool bound_is_other(struct bound bound, const char *path);

/* Removes the name unless it stands for something else.  The number of a file that is gone may be
 * given to another one, which was born later. */
void bound_remove(struct bound bound, const char *path);

#endif
