/* SPDX-License-Identifier: ISC */
/*
 * One SQLite connection with its prepared statements.
 *
 * A connection belongs to one thread at a time.  A query is one execution of a statement: it
 * remembers that something went wrong and then does nothing more, so its user looks once, at
 * query_end.
 *
 * Errors are ERR_TRANSIENT_STORAGE for what may pass by itself (locked, no room left), else
 * ERR_STORAGE; the cause has SQLite's words.
 */
#ifndef AGENTGRAPH_STORAGE_SQLITE_DB_H
#define AGENTGRAPH_STORAGE_SQLITE_DB_H

#include "base/error.h"
#include "base/waiter.h"
#include "sql.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum db_mode {
	DB_READ,   /* refuses to change anything */
	DB_WRITE,  /* synchronous=NORMAL */
	DB_DURABLE /* synchronous=FULL: a commit waits for the disk */
};

struct db {
	sqlite3 *handle;
	sqlite3_stmt *statements[SQL_COUNT]; /* prepared when first used */
	int64_t patience_ms;                 /* how long a lock is waited for */
	int64_t busy_until;                  /* when the present wait for a lock ends */
	struct db *next;                     /* in the pool of its owner */
};

/* Opens a database file that exists.  NULL with err set on failure. */
struct db *db_open(const char *path, enum db_mode mode, struct error *err);
void db_close(struct db *db);

/* Runs statements that give no rows and take no parameters. */
bool db_exec(struct db *db, enum sql_id id, struct error *err);
bool db_script(struct db *db, const char *sql, struct error *err);

/* A write transaction; it begins only while the file is where it was opened.  A rollback is fine
 * also where SQLite has rolled back by itself. */
bool db_begin(struct db *db, struct error *err);
bool db_commit(struct db *db, struct error *err);
void db_rollback(struct db *db);

/* True when the statement was ever prepared in this process, so that tests can tell what they have
 * left out. */
bool db_was_used(enum sql_id id);

struct query {
	struct db *db;
	sqlite3_stmt *stmt;
	struct error *err;
	int bound; /* number of the parameter that was bound last */
	bool failed;
};

/* db may be NULL when err is set already: the query has then failed from the start. */
void query_start(struct query *q, struct db *db, enum sql_id id, struct error *err);

/* Parameters, by name.  Texts are not copied; NULL is SQL's NULL. */
void query_text(struct query *q, const char *name, const char *value);
void query_text_part(struct query *q, const char *name, const char *value, size_t len);
void query_int(struct query *q, const char *name, int64_t value);
void query_blob(struct query *q, const char *name, const void *value, size_t size);

/* From now on rows are looked for only while somebody waits; a query that ends without them fails
 * with status 499.  NULL: however long it takes. */
void query_watch(struct query *q, const struct waiter *waiter);

/* The next row; false at the end and after a failure. */
bool query_row(struct query *q);

/* Columns of the present row, by the enum that sql.h has for the statement.  Texts live until the
 * next row; NULL stays NULL. */
const char *query_column_text(struct query *q, int column);
int64_t query_column_int(struct query *q, int column);
double query_column_double(struct query *q, int column);
const void *query_column_blob(struct query *q, int column, size_t *size);

/* Ends the query; false when anything failed. */
bool query_end(struct query *q);

/* For statements without rows: executes and ends. */
bool query_run(struct query *q);

#endif
