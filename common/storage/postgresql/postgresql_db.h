/* SPDX-License-Identifier: ISC */
/*
 * The driver for PostgreSQL (storage/sql/db/db.h).
 *
 * A struct db here is no connection: it takes one from the server's for the time of a transaction,
 * or of a query outside of one.  Transactions of several processes run side by side: what one has
 * read stays true until its commit where it has locked that row, no longer.  When the connection
 * breaks in a commit, another one is asked what became of it.  Within a transaction nothing is
 * waited for whose rows nobody looks at yet: it goes to the server with the next statement whose
 * rows are looked at, or with the commit, so that a group of units takes few trips.  Queries
 * outside of transactions get their rows one by one.
 */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_DB_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_DB_H

#include "storage/postgresql/postgresql_server.h"
#include "storage/sql/copy.h"
#include "storage/sql/db/db.h"

extern const struct db_driver postgresql_driver;

/* A place of PostgreSQL that is copied from or to. */
extern const struct copy_ops postgresql_copy;

#endif
