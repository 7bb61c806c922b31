/* SPDX-License-Identifier: ISC */
/*
 * The driver for PostgreSQL (sql/db.h).
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

#include "sql.h"
#include "storage/postgresql/postgresql_server.h"
#include "storage/sql/copy.h"
#include "storage/sql/db.h"

#include <stdbool.h>

extern const struct db_driver postgresql_driver;

extern const struct copy_ops postgresql_copy;

/* ---- postgresql_text.c: statements as PostgreSQL takes them, with numbers where sql/ has names */

#define POSTGRESQL_PARAMETERS 48

struct postgresql_text {
	char *sql;                          /* ":thread" is "$1" in it, at each place */
	char *names[POSTGRESQL_PARAMETERS]; /* ":thread" */
	int count;
	bool gives_number; /* it makes a row, and returns its number */
};

/* That of a statement, made when it is first asked for; it lives as long as the process. */
const struct postgresql_text *postgresql_text(enum sql_id id);

#endif
