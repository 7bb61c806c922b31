/* SPDX-License-Identifier: ISC */
/*
 * Making files that belong to the owner of their directory, even when root makes them: a command
 * that root has run must not leave files that the service cannot open.  Links that the owner of the
 * directory may have put there are not followed.
 */
#ifndef AGENTGRAPH_BASE_OS_OWNED_H
#define AGENTGRAPH_BASE_OS_OWNED_H

#include <stdbool.h>

/* Makes a new file of mode 600 and opens it for reading and writing; root gives it to the owner of
 * its directory.  The descriptor, or -1 with errno set. */
int owned_create(const char *path);

/* The same for a file that may exist already; EPERM: it is no file, ELOOP: it is a symbolic
 * link. */
int owned_open(const char *path);

/* Gives an open file that was made at path to the owner of its directory; if that fails, root keeps
 * it. */
void owned_give(const char *path, int fd);

/* Makes a directory of mode 700 in an existing one, likewise, unless it exists.  False with errno
 * set; ENOTDIR, ELOOP: something else is there. */
bool owned_directory(const char *path);

#endif
