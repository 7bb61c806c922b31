/* SPDX-License-Identifier: ISC */
/*
 * One connection to a database with its statements, whichever database it is.
 *
 * A driver is a constant: a table of functions for one kind of database (sqlite/sqlite_db.h,
 * postgresql/postgresql_db.h).  All else in this folder uses connections only through this header,
 * and names statements as sql/ does.
 *
 * A connection belongs to one thread at a time.  A query is one execution of a statement: once
 * something has gone wrong it does nothing more, so its user checks only once, at query_end.
 *
 * Errors are ERR_TRANSIENT_STORAGE for what may pass by itself (locked, no room left, no
 * connection), else ERR_STORAGE; the cause has the database's words.
 */
#ifndef AGENTGRAPH_STORAGE_SQL_DB_DB_H
#define AGENTGRAPH_STORAGE_SQL_DB_DB_H

#include "base/error.h"
#include "base/os/waiter.h"
#include "sql.h"

#include <stdbool.h>
#include <stdint.h>

enum db_mode {
	DB_READ,   /* refuses to change anything */
	DB_WRITE,  /* the latest commits may be lost in a power cut */
	DB_DURABLE /* a commit waits for the disk */
};

enum db_kind { DB_NULL, DB_INT, DB_TEXT, DB_BLOB, DB_DOUBLE };

struct db_driver;
struct postgresql_server;
struct shared;
struct turnstile;

struct db {
	const struct db_driver *driver;
	struct db *next; /* links idle connections in their pool */
	bool patient; /* when the answer to a commit is lost, keep asking for as long as it takes */
	bool unclear; /* the commit that failed just now, or the statement outside of a transaction,
			 may have been done: the answer was lost */
};

/* What connections are opened to.  The owner of a source owns its path. */
struct db_source {
	const struct db_driver *driver;
	char *path;                       /* of SQLite's file; else NULL */
	struct postgresql_server *server; /* else NULL; it outlives its users */
};

struct query {
	struct db *db;
	void *stmt; /* the driver's */
	struct error *err;
	const char *const *names; /* names of the parameters, the driver's */
	int bound;                /* number of the parameter that was bound last */
	bool failed;
};

struct db_driver {
	struct db *(*open)(const struct db_source *source, enum db_mode mode, struct error *err);
	void (*close)(struct db *db);
	const char *(*statement)(enum sql_id id); /* its text */
	bool (*script)(struct db *db, const char *sql, struct error *err);
	bool (*begin)(struct db *db, struct error *err);
	bool (*commit)(struct db *db, struct error *err);
	void (*rollback)(struct db *db);
	int64_t (*changes)(struct db *db);
	int64_t (*last_row)(struct db *db);
	bool (*again)(struct db *db);     /* NULL: never */
	void (*give_back)(struct db *db); /* frees memory that is a mere cache; NULL: nothing */
	bool side_by_side; /* transactions run side by side; what must not change is locked row by
			      row */

	/* For a whole database: see the functions database_*, below. */
	bool (*is_there)(const struct db_source *source);
	struct db *(*open_current)(const struct db_source *source, const char *name,
	    enum db_mode mode, struct turnstile *turnstile, struct error *err);
	void (*throw_away)(const struct db_source *source); /* NULL: nothing */

	/* For writers; NULL where there is nothing to do.  attend comes before a writer's first
	 * transaction, wrote after each, still within the writer's turn; the keeper is a helper
	 * that lives as long as the database is open. */
	void (*attend)(struct db *db, struct turnstile *turnstile);
	void (*wrote)(struct db *db, struct turnstile *turnstile);
	bool (*keeper_new)(const struct db_source *source, struct shared *shared,
	    struct turnstile *turnstile, void **keeper, struct error *err);
	void (*keeper_free)(void *keeper);

	/* These are only called for queries that have not failed. */
	void (*start)(struct query *q, enum sql_id id);
	void (*text)(struct query *q, const char *name, const char *value, size_t len);
	void (*integer)(struct query *q, const char *name, int64_t value);
	void (*blob)(struct query *q, const char *name, const void *value, size_t size);
	void (*watch)(struct query *q, const struct waiter *waiter);
	void (*send)(struct query *q); /* NULL: nothing */
	bool (*row)(struct query *q);
	bool (*run)(struct query *q); /* row and end at once; NULL: these are called */
	enum db_kind (*column_kind)(struct query *q, int column);
	const char *(*column_text)(struct query *q, int column);
	int64_t (*column_int)(struct query *q, int column);
	double (*column_double)(struct query *q, int column);
	const void *(*column_blob)(struct query *q, int column, size_t *size);
	void (*end)(struct query *q); /* also called for a failed query, if it has a stmt */
};

/* Opens a database that exists.  NULL with err set on failure. */
struct db *db_open(const struct db_source *source, enum db_mode mode, struct error *err);
void db_close(struct db *db); /* NULL is fine */

/* Runs statements that give no rows and take no parameters. */
bool db_exec(struct db *db, enum sql_id id, struct error *err);
bool db_script(struct db *db, const char *sql, struct error *err);

/* A write transaction: nobody else writes to the database until it ends, unless its driver runs
 * them side by side.  A rollback is fine even where the database has rolled back by itself. */
bool db_begin(struct db *db, struct error *err);
bool db_commit(struct db *db, struct error *err);
void db_rollback(struct db *db);

/* Where transactions run side by side, makes those that take the same turn wait for each other;
 * this is for tables whose rows must be numbered in the order of the commits.  Elsewhere it does
 * nothing. */
bool db_take_turn(struct db *db, const char *of, struct error *err);

/* How many rows the latest statement that wrote has changed; and the number that the database gave
 * to the row that was made last. */
int64_t db_changes(struct db *db);
int64_t db_last_row(struct db *db);

/* Whether the transaction that was rolled back just now may succeed when it is run again. */
bool db_again(struct db *db);

/*
 * Whole databases.  is_there says whether there is one, so that a reader does not make it.  open
 * opens one for writing, and makes it or brings it up to date as sql/ says, where the driver does
 * that here; the detail of an error names it.  throw_away removes one that nobody has open, so that
 * the next is empty, where each source has a database of its own.
 */
bool database_is_there(const struct db_source *source);
struct db *database_open(const struct db_source *source, const char *name, enum db_mode mode,
    struct turnstile *turnstile, struct error *err);
void database_throw_away(const struct db_source *source);

/* Whether this process has ever used the statement; tests find out so which ones they leave out. */
bool db_was_used(enum sql_id id);

/* Begins a query.  db may be NULL when err is set already; the query has then failed from the
 * start. */
void query_start(struct query *q, struct db *db, enum sql_id id, struct error *err);

/* Parameters, by name.  Texts are not copied; NULL is SQL's NULL. */
void query_text(struct query *q, const char *name, const char *value);
void query_text_part(struct query *q, const char *name, const char *value, size_t len);
void query_int(struct query *q, const char *name, int64_t value);
void query_blob(struct query *q, const char *name, const void *value, size_t size);

/* From now on the query goes on only while somebody waits for it; else it fails with status 499.
 * NULL: it takes as long as it takes. */
void query_watch(struct query *q, const struct waiter *waiter);

/*
 * Within a transaction: sends the query to the server, where there is one, without waiting for its
 * rows, so that several queries share one trip; the rows are looked at later.  A query that nobody
 * has ended is ended with its transaction.
 */
void query_send(struct query *q);

/* The next row; false at the end and after a failure. */
bool query_row(struct query *q);

/* Columns of the present row, by the enum that sql.h has for the statement.  Texts live until the
 * next row; NULL stays NULL.  The kind is that of the value. */
enum db_kind query_column_kind(struct query *q, int column);
const char *query_column_text(struct query *q, int column);
int64_t query_column_int(struct query *q, int column);
double query_column_double(struct query *q, int column);
const void *query_column_blob(struct query *q, int column, size_t *size);

/* Ends the query; false when anything failed. */
bool query_end(struct query *q);

/* For statements without rows: executes and ends. */
bool query_run(struct query *q);

/* Runs such a statement, whose only parameter is :row. */
bool db_run_on_row(struct db *db, enum sql_id id, int64_t row, struct error *err);

#endif
