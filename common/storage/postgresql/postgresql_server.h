/* SPDX-License-Identifier: ISC */
/*
 * A process's few connections to PostgreSQL, opened when they are needed and shared by its threads.
 *
 * A connection that the server has closed, or that got no answer, is thrown away, and with it those
 * that lie idle: their server has most likely gone the same way.  The password is in the URL alone,
 * which nothing here ever prints.
 */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SERVER_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SERVER_H

#include "base/error.h"
#include "sql.h"
#include "storage/postgresql/libpq.h"

#include <stdbool.h>
#include <stdint.h>

#define POSTGRESQL_CONNECTIONS 4 /* of a process, but for a thread that has one already */

struct postgresql_server;
struct waiter;

struct postgresql_connection {
	struct pg_conn *conn;
	bool pooled; /* each transaction may be in another session: it keeps nothing for the next */
	bool prepared[SQL_COUNT];
	bool reused; /* it may have gone while it lay idle */
	uint64_t era;
	struct postgresql_connection *next;
};

/* How an answer ended. */
enum postgresql_failure {
	POSTGRESQL_FINE,
	POSTGRESQL_REFUSED, /* by the server, for good */
	POSTGRESQL_PASSES,  /* by the server, for now */
	POSTGRESQL_AGAIN,   /* of a transaction that others have undone */
	POSTGRESQL_LOST,    /* there is no connection any more */
	POSTGRESQL_LEFT     /* nobody waits any more */
};

/*
 * Loads the module, from beside this program or from where programs are installed.  url is all that
 * libpq takes as one.  No connection is made yet.  NULL with err set.
 */
struct postgresql_server *postgresql_server_new(const char *url, struct error *err);

/* All connections must have been given back.  NULL is fine. */
void postgresql_server_free(struct postgresql_server *s);

/* The directory that the module is looked for in first; for tests.  It must live on. */
void postgresql_module_directory(const char *path);

/*
 * How long an answer may take from now on, in place of 60 s; 0: as long as it does, since TCP tells
 * when the server has gone.  Returns what it was before.
 */
int64_t postgresql_answer_within(struct postgresql_server *s, int64_t ms);

const struct libpq *postgresql_libpq(const struct postgresql_server *s);

/* Fresh: not one that may have died while it lay idle. */
enum postgresql_age { POSTGRESQL_ANY, POSTGRESQL_FRESH };

/*
 * A connection for the calling thread: an idle one, a new one, or after a wait for one.  It has the
 * service's schema as its search_path; behind a pooler (doc/postgresql.md#behind-pgbouncer) the
 * role must see to that.  NULL with ERR_TRANSIENT_STORAGE, or ERR_STORAGE where waiting does not
 * help.
 */
struct postgresql_connection *postgresql_take(
    struct postgresql_server *s, enum postgresql_age age, struct error *err);
void postgresql_give_back(struct postgresql_server *s, struct postgresql_connection *c);

/*
 * Waits for the next result of what was sent; *result NULL: that was the last one.  A result that
 * says that something failed is cleared, and err set.  waiter NULL: somebody waits.
 */
enum postgresql_failure postgresql_next(struct postgresql_server *s,
    struct postgresql_connection *c, const struct waiter *waiter, struct pg_result **result,
    struct error *err);

/* Statements without parameters.  The first column of the last row comes back in value, where
 * that is not NULL ("" when there is none). */
enum postgresql_failure postgresql_execute(struct postgresql_server *s,
    struct postgresql_connection *c, const char *sql, char *value, size_t size, struct error *err);

/* What could not be sent. */
enum postgresql_failure postgresql_unsent(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err);

/* Gives up what was sent, and drops what comes of it. */
void postgresql_abandon(struct postgresql_server *s, struct postgresql_connection *c);

/* "PostgreSQL 15.18 at db1:5432, database agents as agent, schema agentgraph", malloc'd; NULL with
 * err set. */
char *postgresql_describe(struct postgresql_server *s, struct error *err);

#endif
