/* SPDX-License-Identifier: ISC */
/*
 * A directory for targets that need files; it is in memory, if there is room.
 */
#ifndef AGENTGRAPH_FUZZ_SCRATCH_H
#define AGENTGRAPH_FUZZ_SCRATCH_H

#include "replay.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#define SCRATCH_SIZE 64 /* bytes of a path, with its end */

static inline void scratch_make(char dir[SCRATCH_SIZE])
{
	snprintf(dir, SCRATCH_SIZE, "%s/agentgraph-fuzz.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	require(mkdtemp(dir) != NULL);
}

static inline int scratch_remove_one(
    const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

/* Removes the directory with everything in it. */
static inline void scratch_remove(const char *dir)
{
	nftw(dir, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
