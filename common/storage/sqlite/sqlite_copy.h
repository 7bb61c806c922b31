/* SPDX-License-Identifier: ISC */
/* A place of SQLite that is copied from or to. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_SQLITE_COPY_H
#define AGENTGRAPH_STORAGE_SQLITE_SQLITE_COPY_H

#include "storage/sql/copy.h"

extern const struct copy_ops sqlite_copy;

#endif
