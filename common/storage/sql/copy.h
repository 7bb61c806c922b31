/* SPDX-License-Identifier: ISC */
/*
 * Copying all there is from one database to another (agentgraph copy), whatever engines they have:
 * the tables and their columns are the same.  What lives no longer than a service, and what can be
 * made from the rest, is left out.
 *
 * A place is where a service keeps what it stores: a directory, or a schema of a server.  Nobody
 * may work on either place meanwhile.  The target must be empty, and counts as empty until the copy
 * is complete: after a failure, or if this process dies, the copy can be tried again from the
 * beginning.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_COPY_H
#define AGENTGRAPH_STORAGE_SQL_COPY_H

#include "storage/sql/db/db.h"
#include "storage/storage.h"

enum copy_database { COPY_THREADS, COPY_STORE, COPY_FILES, COPY_DATABASES };

struct copy_place {
	const struct copy_ops *ops;
	/* several may be the same; NULL: there is no such database */
	struct db *dbs[COPY_DATABASES];
	struct db *lock; /* its transaction keeps others out; or NULL */
	char *path;      /* the engine's */
	struct postgresql_server *server;
};

/* What an engine does about a place (storage.h). */
struct copy_ops {
	/* Opens a place and brings it up to date.  A target gets all databases, each with a
	 * transaction begun. */
	bool (*open)(struct copy_place *place, const char *url, bool is_target, struct error *err);

	/* Puts a target, whose transactions are committed, where a service finds it. */
	bool (*publish)(struct copy_place *place, struct error *err);

	void (*close)(struct copy_place *place);
};

/* Begins a transaction that keeps all others out; false with err set, also while a service works on
 * the database. */
bool copy_begin(struct db *db, struct error *err);

/* storage_copy between these two engines; the rows of all tables in one transaction a database,
 * which is rolled back where anything fails. */
bool sql_copy(const struct copy_ops *from_ops, const char *from, const struct copy_ops *to_ops,
    const char *to, struct copy_report *report, struct error *err);

#endif
