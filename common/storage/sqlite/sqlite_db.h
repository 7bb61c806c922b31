/* SPDX-License-Identifier: ISC */
/* The driver for SQLite (storage/sql/db/db.h): connections to database files in WAL mode. */
#ifndef AGENTGRAPH_STORAGE_SQLITE_SQLITE_DB_H
#define AGENTGRAPH_STORAGE_SQLITE_SQLITE_DB_H

#include "storage/sql/db/db.h"
#include "storage/sql/db/turnstile.h"

#include <sqlite3.h>

struct sqlite_db {
	struct db db; /* first, so that one pointer is both */
	sqlite3 *handle;
	sqlite3_stmt *statements[SQL_COUNT]; /* prepared when first used */
	const char **names[SQL_COUNT];       /* names of their parameters, then NULL */
	int64_t patience_ms;                 /* how long a lock is waited for */
	int64_t busy_until;                  /* when the present wait for a lock ends */
	const struct waiter *waiter;         /* who waits for the present query, or NULL */
	int64_t waiter_asked_at;
};

extern const struct db_driver sqlite_driver;

static inline struct sqlite_db *sqlite_db_of(struct db *db)
{
	return (struct sqlite_db *)db;
}

/* The source of the database in this file; takes over path. */
static inline struct db_source sqlite_source(char *path)
{
	return (struct db_source){.driver = &sqlite_driver, .path = path};
}

/* Opens a database file that exists (DB_WRITE: synchronous=NORMAL, DB_DURABLE: FULL).  NULL with
 * err set on failure. */
struct db *sqlite_open(const char *path, enum db_mode mode, struct error *err);

/* The operations on a state directory that is copied from or to (sql/copy.h). */
struct copy_ops;
extern const struct copy_ops sqlite_copy;

/* Adds the function memory_fits to a connection. */
void sqlite_memory_fits_add(sqlite3 *handle);

/* Adds the functions that rank by words to a connection; false with err set. */
bool sqlite_memory_words_add(struct sqlite_db *db, struct error *err);

#endif
