/* SPDX-License-Identifier: ISC */
/*
 * A process's few connections to PostgreSQL, opened when they are needed and shared by its threads.
 *
 * A connection that the server has closed, or that got no answer, is thrown away, and with it those
 * that lie idle: their server has most likely gone the same way.  The password is only in the URL,
 * which nothing here ever prints.
 */
#ifndef AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SERVER_H
#define AGENTGRAPH_STORAGE_POSTGRESQL_POSTGRESQL_SERVER_H

#include "base/error.h"
#include "sql.h"
#include "storage/postgresql/libpq.h"

#include <stdbool.h>
#include <stdint.h>

/* most of a process; a thread that has one already may exceed it */
#define POSTGRESQL_CONNECTIONS 4

struct postgresql_server;
struct waiter;

struct postgresql_connection {
	struct pg_conn *conn;
	bool pooled; /* behind a pooler: each transaction may be in another session, so a session
			keeps nothing for the next */
	bool prepared[SQL_COUNT];
	bool reused;  /* it was idle, and may have been closed meanwhile */
	uint64_t era; /* the server's, when it was opened: an older one is not used again */
	struct postgresql_connection *next;
};

/* How an answer ended. */
enum postgresql_failure {
	POSTGRESQL_FINE,
	POSTGRESQL_REFUSED, /* the server refused it for good */
	POSTGRESQL_PASSES,  /* the server refused it for now */
	POSTGRESQL_AGAIN,   /* another transaction was in the way; this one can be run again */
	POSTGRESQL_LOST,    /* the connection is lost */
	POSTGRESQL_LEFT     /* nobody waits any more */
};

/*
 * Loads the module, from beside this program or from where programs are installed.  url may be
 * anything that libpq takes as one.  Does not connect yet.  NULL with err set.
 */
struct postgresql_server *postgresql_server_new(const char *url, struct error *err);

/* All connections must have been given back.  NULL is fine. */
void postgresql_server_free(struct postgresql_server *s);

/* Sets the directory in which the module is looked for, for tests.  path must live on. */
void postgresql_module_directory(const char *path);

/*
 * Sets how long an answer may take from now on, instead of 60 s; 0: any time, since TCP tells when
 * the server has gone.  Returns the time before.
 */
int64_t postgresql_answer_within(struct postgresql_server *s, int64_t ms);

const struct libpq *postgresql_libpq(const struct postgresql_server *s);

/* FRESH: not one that may have died while it was idle. */
enum postgresql_age { POSTGRESQL_ANY, POSTGRESQL_FRESH };

/*
 * Takes a connection for the calling thread: an idle one or a new one, after a wait where there are
 * too many, or the server takes no more.  Its search_path is the service's schema; behind a pooler
 * (doc/postgresql.md#behind-pgbouncer) the role must see to that.  NULL with ERR_TRANSIENT_STORAGE,
 * or ERR_STORAGE where waiting does not help.
 */
struct postgresql_connection *postgresql_take(
    struct postgresql_server *s, enum postgresql_age age, struct error *err);
void postgresql_give_back(struct postgresql_server *s, struct postgresql_connection *c);

/*
 * Waits for the next result of what was sent; *result is NULL behind the last one.  A result that
 * says that something failed is cleared, and err set.  waiter NULL: goes on until the answer comes.
 */
enum postgresql_failure postgresql_next(struct postgresql_server *s,
    struct postgresql_connection *c, const struct waiter *waiter, struct pg_result **result,
    struct error *err);

/* Executes statements without parameters.  Writes the first column of the last row to value, where
 * that is not NULL; "" when there is none. */
enum postgresql_failure postgresql_execute(struct postgresql_server *s,
    struct postgresql_connection *c, const char *sql, char *value, size_t size, struct error *err);

/* Reports that something could not be sent: the connection is lost. */
enum postgresql_failure postgresql_unsent(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err);

/* Cancels what was sent, and drops its results. */
void postgresql_abandon(struct postgresql_server *s, struct postgresql_connection *c);

/* "PostgreSQL 15.18 at db1:5432, database agents as agent, schema agentgraph", malloc'd; NULL with
 * err set. */
char *postgresql_describe(struct postgresql_server *s, struct error *err);

#endif
