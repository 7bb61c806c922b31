/* SPDX-License-Identifier: ISC */
/* A place of PostgreSQL that is copied from or to. */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_COPY_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_COPY_H

#include "storage/sql/copy.h"

extern const struct copy_ops postgresql_copy;

#endif
