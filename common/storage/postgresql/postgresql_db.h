/* SPDX-License-Identifier: ISC */
/*
 * The driver for PostgreSQL (storage/sql/db/db.h).
 *
 * Here a struct db is no connection: it takes one of the server's (postgresql_server.h) for the
 * time of a transaction, or of a query outside of one.  Transactions of several processes run side
 * by side: what one has read stays true until its commit only if it has locked that row.  When the
 * connection breaks in a commit, another one is asked what became of it.  Within a transaction a
 * statement whose rows nobody looks at yet is not waited for: its answer comes with that of the
 * next one that is, or of the commit, so that a group of units takes few trips.  Queries outside of
 * transactions get their rows one by one.
 */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_DB_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_DB_H

#include "storage/postgresql/postgresql_server.h"
#include "storage/sql/copy.h"
#include "storage/sql/db/db.h"

extern const struct db_driver postgresql_driver;

/* The operations on a schema that is copied from or to (sql/copy.h). */
extern const struct copy_ops postgresql_copy;

#endif
