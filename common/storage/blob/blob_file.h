/* SPDX-License-Identifier: ISC */
/*
 * Files on their way into a store.  Whoever writes one keeps it locked, so that a sweeper knows
 * what has no writer any more.
 */
#ifndef AGENTGRAPH_STORAGE_BLOB_BLOB_FILE_H
#define AGENTGRAPH_STORAGE_BLOB_BLOB_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A new file, name below the directory root (or AT_FDCWD), with its writer's lock; -1 with errno
 * set. */
int blob_file_create(int root, const char *name, mode_t mode);

/* Writes all of it; false with errno set. */
bool blob_file_write(int fd, const char *data, size_t len);

/* Makes errno err, "cannot <what> <directory>/<name>": transient when there is no room left for the
 * file.  Always false. */
bool blob_file_failed(const char *what, const char *directory, const char *name, struct error *err);

#endif
