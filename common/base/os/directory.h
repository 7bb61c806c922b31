/* SPDX-License-Identifier: ISC */
/* Making a directory with those above it. */
#ifndef AGENTGRAPH_BASE_OS_DIRECTORY_H
#define AGENTGRAPH_BASE_OS_DIRECTORY_H

#include <stdbool.h>

/* Makes path and what is missing above it, each for its owner alone.  True when it was made; false
 * with errno set otherwise, EEXIST when something is there already. */
bool directory_make(const char *path);

#endif
