/* SPDX-License-Identifier: ISC */
/*
 * What root makes in somebody's directory is theirs: a command that root has run must not leave
 * what the service cannot open.  And whoever has the directory may have put links there, which lead
 * root nowhere.
 */
#ifndef AGENTGRAPH_BASE_OS_OWNED_H
#define AGENTGRAPH_BASE_OS_OWNED_H

#include <stdbool.h>

/* Makes a file of mode 600 that is not there yet, for reading and writing, where root makes it for
 * the owner of its directory; the descriptor, or -1 with errno set. */
int owned_create(const char *path);

/* The same where it may be there already; EPERM: it is no file, ELOOP: it is a symbolic
 * link. */
int owned_open(const char *path);

/* Gives an open file that was made at path to the owner of its directory; where that cannot be,
 * root keeps it. */
void owned_give(const char *path, int fd);

/* Makes a directory of mode 700 in one that is there, likewise, or finds it.  False with errno set:
 * ENOTDIR, ELOOP where something else is there. */
bool owned_directory(const char *path);

#endif
