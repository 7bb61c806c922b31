/* SPDX-License-Identifier: ISC */
/* Loading libpq's module, connecting, sharing connections, and what the server's failures mean. */
#include "storage/postgresql/postgresql_server.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "base/os/process/process.h"
#include "base/os/waiter.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "agentgraph-postgresql.so"
#define SCHEMA "agentgraph" /* unless the URL's options, the role or the database names another */

#define TAKE_MS 20000   /* how long a connection is waited for */
#define ANSWER_MS 60000 /* without a byte from the server for so long, the connection is lost */
#define LOOK_MS 100     /* how soon it is seen that nobody waits any more */

#define OLDEST_SERVER 150000

struct postgresql_server {
	const struct libpq *pq;
	void *library;
	char *url;
	_Atomic bool reached; /* the server has accepted a connection before */
	_Atomic int64_t answer_ms;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t given;
	struct postgresql_connection *idle;
	int count; /* of connections, idle or not */
	uint64_t era;
};

/* How many connections this thread has.  With one it does not wait for another, because it could be
 * waiting for itself. */
static _Thread_local int held;

static const char *module_directory;

void postgresql_module_directory(const char *path)
{
	module_directory = path;
}

/* ---- the module ---- */

static bool server_open_module(struct postgresql_server *s, struct error *err)
{
	const char *why;
	char *path;
	dlerror();
	path =
	    module_directory ? xasprintf("%s/%s", module_directory, MODULE) : process_part(MODULE);
	s->library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	free(path);
	s->pq = s->library ? dlsym(s->library, LIBPQ_TABLE) : NULL;
	if (s->pq && s->pq->version == LIBPQ_VERSION)
		return true;
	why = dlerror();
	error_set(err, ERR_STORAGE,
	    "PostgreSQL needs the module %s, which is not where the service's programs are, or cannot "
	    "be loaded%s%s: install it, or build with libpq (Debian: libpq-dev)",
	    MODULE, why ? ": " : "", why ? why : "");
	return false;
}

struct postgresql_server *postgresql_server_new(const char *url, struct error *err)
{
	struct postgresql_server *s = xcalloc(1, sizeof(*s));
	s->answer_ms = ANSWER_MS;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->given, NULL);
	s->url = xstrdup(url);
	if (server_open_module(s, err) &&
	    (s->pq->conninfo_is_valid(s->url) ||
		error_set(err, ERR_STORAGE,
		    "DATABASE_URL, or database: expected "
		    "postgresql://USER:PASSWORD@HOST:PORT/DATABASE as libpq reads it, with %%XX for "
		    "signs that mean something there")))
		return s;
	postgresql_server_free(s);
	return NULL;
}

int64_t postgresql_answer_within(struct postgresql_server *s, int64_t ms)
{
	return atomic_exchange(&s->answer_ms, ms);
}

const struct libpq *postgresql_libpq(const struct postgresql_server *s)
{
	return s->pq;
}

/* ---- what failures mean ---- */

/* Classes and codes of PostgreSQL's appendix A that stand for what passes by itself. */
static bool server_state_passes(const char *state)
{
	static const char *const begins[] = {
	    "08", "53", "57P", "55P03", "57014", "25006", "25P03", "25P04", "58"};
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(state, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* libpq's messages end with a newline, and may have several lines. */
static void server_cause(struct error *err, const char *text)
{
	char line[400];
	snprintf(line, sizeof(line), "%s", text && *text ? text : "no reason given");
	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : '\0';
	error_cause(err, "PostgreSQL: %s", line);
}

static enum postgresql_failure connection_lost(
    struct postgresql_server *s, const char *why, struct error *err)
{
	error_set(err, ERR_TRANSIENT_STORAGE, NULL);
	server_cause(err, why);
	pthread_mutex_lock(&s->lock);
	s->era++;
	pthread_mutex_unlock(&s->lock);
	return POSTGRESQL_LOST;
}

static enum postgresql_failure result_failed(struct postgresql_server *s,
    struct postgresql_connection *c, struct pg_result *result, struct error *err)
{
	const char *state = s->pq->result_error_field(result, LIBPQ_DIAG_SQLSTATE);
	const char *text = s->pq->result_error_field(result, LIBPQ_DIAG_MESSAGE_PRIMARY);
	enum postgresql_failure failure = POSTGRESQL_REFUSED;
	char cause[400];
	if (s->pq->status(c->conn) != LIBPQ_CONNECTION_OK || !state) {
		s->pq->clear(result);
		return connection_lost(s, s->pq->error_message(c->conn), err);
	}
	if (strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0)
		failure = POSTGRESQL_AGAIN;
	else if (server_state_passes(state))
		failure = POSTGRESQL_PASSES;
	error_set(err, failure == POSTGRESQL_REFUSED ? ERR_STORAGE : ERR_TRANSIENT_STORAGE, NULL);
	snprintf(cause, sizeof(cause), "%s (%s)", text ? text : "", state);
	server_cause(err, cause);
	/* A server that has become a standby stays one, so the next caller must look for the new
	 * primary.  The other codes are the last words of a session that is being ended. */
	if (strcmp(state, "25006") == 0 || strncmp(state, "57P", 3) == 0 ||
	    strcmp(state, "25P03") == 0 || strcmp(state, "25P04") == 0)
		failure = connection_lost(s, s->pq->error_message(c->conn), err);
	s->pq->clear(result);
	return failure;
}

/* ---- talking ---- */

/* Returns 1: something came, 0: nobody waits any more, -1: nothing came in time. */
static int server_wait(struct postgresql_server *s, struct postgresql_connection *c,
    const struct waiter *waiter, int64_t within_ms)
{
	int64_t end = clock_monotonic_ms() + within_ms;
	struct pollfd pfd = {.fd = s->pq->socket(c->conn), .events = POLLIN};
	while (!within_ms || clock_monotonic_ms() < end) {
		if (poll(&pfd, 1, waiter || within_ms < ANSWER_MS ? LOOK_MS : ANSWER_MS) > 0)
			return 1;
		if (waiter && waiter->gone(waiter->arg))
			return 0;
	}
	return -1;
}

void postgresql_abandon(struct postgresql_server *s, struct postgresql_connection *c)
{
	struct pg_cancel *cancel = s->pq->get_cancel(c->conn);
	struct error ignored = {0};
	struct pg_result *result;
	char why[256];
	if (cancel) {
		s->pq->cancel(cancel, why, sizeof(why));
		s->pq->free_cancel(cancel);
	}
	while (postgresql_next(s, c, NULL, &result, &ignored) != POSTGRESQL_LOST) {
		if (!result && !error_is_set(&ignored))
			break;
		s->pq->clear(result);
		error_release(&ignored);
	}
	error_release(&ignored);
}

enum postgresql_failure postgresql_next(struct postgresql_server *s,
    struct postgresql_connection *c, const struct waiter *waiter, struct pg_result **result,
    struct error *err)
{
	const struct libpq *pq = s->pq;
	int64_t within_ms = s->answer_ms;
	char late[48];
	int status;
	*result = NULL;
	while (pq->is_busy(c->conn)) {
		int came = server_wait(s, c, waiter, within_ms);
		if (came == 0) {
			postgresql_abandon(s, c);
			error_set(err, ERR_TRANSIENT_STORAGE, NULL);
			err->status = ERROR_NOBODY_WAITS;
			error_cause(err, "the client left before its answer was found");
			return POSTGRESQL_LEFT;
		}
		if (came < 0) {
			snprintf(late, sizeof(late), "no answer within %lld s",
			    (long long)within_ms / 1000);
			return connection_lost(s, late, err);
		}
		if (!pq->consume_input(c->conn))
			return connection_lost(s, s->pq->error_message(c->conn), err);
	}
	*result = pq->get_result(c->conn);
	if (!*result)
		return pq->status(c->conn) == LIBPQ_CONNECTION_OK
		    ? POSTGRESQL_FINE
		    : connection_lost(s, s->pq->error_message(c->conn), err);
	status = pq->result_status(*result);
	/* a statement that was left out behind a failed one is no failure of its own */
	if (status == LIBPQ_COMMAND_OK || status == LIBPQ_TUPLES_OK ||
	    status == LIBPQ_SINGLE_TUPLE || status == LIBPQ_PIPELINE_SYNC ||
	    status == LIBPQ_PIPELINE_ABORTED)
		return POSTGRESQL_FINE;
	struct pg_result *failed = *result;
	*result = NULL;
	return result_failed(s, c, failed, err);
}

enum postgresql_failure postgresql_unsent(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err)
{
	if (s->pq->status(c->conn) != LIBPQ_CONNECTION_OK)
		return connection_lost(s, s->pq->error_message(c->conn), err);
	error_set(err, ERR_STORAGE, NULL);
	server_cause(err, s->pq->error_message(c->conn));
	return POSTGRESQL_REFUSED;
}

enum postgresql_failure postgresql_execute(struct postgresql_server *s,
    struct postgresql_connection *c, const char *sql, char *value, size_t size, struct error *err)
{
	enum postgresql_failure failure = POSTGRESQL_FINE, next;
	struct pg_result *result;
	if (value)
		*value = '\0';
	if (!s->pq->send_query(c->conn, sql))
		return postgresql_unsent(s, c, err);
	do {
		next = postgresql_next(s, c, NULL, &result, err);
		failure = failure == POSTGRESQL_FINE ? next : failure;
		if (result && value && s->pq->ntuples(result) > 0 && s->pq->nfields(result) > 0)
			snprintf(value, size, "%s",
			    s->pq->getvalue(result, s->pq->ntuples(result) - 1, 0));
		if (result)
			s->pq->clear(result);
	} while (next != POSTGRESQL_LOST && (result || next != POSTGRESQL_FINE));
	return failure;
}

/* ---- connections ---- */

static void connection_close(struct postgresql_server *s, struct postgresql_connection *c)
{
	s->pq->finish(c->conn);
	free(c);
}

/* Whether server and database are fit for the service. */
static bool connection_suits(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err)
{
	const char *encoding = s->pq->parameter_status(c->conn, "server_encoding");
	if (s->pq->server_version(c->conn) < OLDEST_SERVER)
		return error_set(err, ERR_STORAGE,
		    "PostgreSQL %d is too old: 15 is the oldest that will do",
		    s->pq->server_version(c->conn) / 10000);
	if (!encoding || strcmp(encoding, "UTF8") != 0)
		return error_set(err, ERR_STORAGE,
		    "the database has the encoding %s: make it with UTF8",
		    encoding ? encoding : "of nobody knows what");
	return true;
}

/* Behind a pooler nothing is set in a session, so the search_path must come from the role or the
 * database. */
static bool connection_suits_pooled(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err)
{
	char answer[8];
	if (postgresql_execute(s, c,
		"SELECT 'fine' FROM pg_settings WHERE name = 'search_path' AND "
		"source IN ('user', 'database', 'database user') AND setting NOT LIKE '%,%'",
		answer, sizeof(answer), err) != POSTGRESQL_FINE)
		return false;
	return *answer ||
	    error_set(err, ERR_STORAGE,
		"behind a pooler the role must name the one schema of the service: ALTER ROLE %s "
		"SET search_path = " SCHEMA ", then RECONNECT in the pooler's console",
		s->pq->user(c->conn));
}

/*
 * Sets up a session.  The service has one schema: the first in the search_path that the URL's
 * options, the role or the database sets.  Statements are short, so compiling them or starting
 * processes for them takes longer than they do.  They are written for the server's own isolation
 * and quotes, which a role can have others of.  A pooler is known by giving out process numbers of
 * its own; it may run the next transaction in somebody else's session, so nothing is set there.
 * The server is to look whether anybody still waits for a statement, where it can.
 */
static bool connection_set_up(
    struct postgresql_server *s, struct postgresql_connection *c, struct error *err)
{
	struct error cannot = {0};
	char sql[768], set[16];
	snprintf(sql, sizeof(sql),
	    "SELECT set_config('lock_timeout', '20s', false),"
	    "set_config('idle_in_transaction_session_timeout', '30s', false),"
	    "set_config('jit', 'off', false),"
	    "set_config('max_parallel_workers_per_gather', '0', false),"
	    "set_config('default_transaction_isolation', 'read committed', false),"
	    "set_config('standard_conforming_strings', 'on', false),"
	    "set_config('search_path', CASE WHEN source IN ('client', 'user', "
	    "'database', 'database user') THEN split_part(setting, ',', 1) "
	    "ELSE '" SCHEMA "' END, false) "
	    "FROM pg_settings WHERE name = 'search_path' AND pg_backend_pid() = %d",
	    s->pq->backend_pid(c->conn));
	if (postgresql_execute(s, c, sql, set, sizeof(set), err) != POSTGRESQL_FINE)
		return false;
	c->pooled = *set == '\0';
	if (c->pooled)
		return connection_suits_pooled(s, c, err);
	if (postgresql_execute(s, c, "SET client_connection_check_interval = '5s'", NULL, 0,
		&cannot) == POSTGRESQL_LOST) {
		error_move(err, &cannot);
		return false;
	}
	error_release(&cannot);
	return true;
}

/* Whether waiting is in vain, because the server refuses the role or knows no such database.  A
 * server that has accepted connections before may just be in the middle of being set up again, so
 * there everything passes. */
static bool connection_is_mistaken(
    struct postgresql_server *s, const char *const *keys, const char *const *values)
{
	char state[6];
	if (atomic_load(&s->reached))
		return false;
	s->pq->refusal(keys, values, 1, state);
	return strncmp(state, "28", 2) == 0 || strncmp(state, "3D", 2) == 0 ||
	    strcmp(state, "42501") == 0;
}

static struct postgresql_connection *connection_open(struct postgresql_server *s, struct error *err)
{
	/* the URL can overrule all that stands before dbname */
	static const char *const keys[] = {"connect_timeout", "application_name", "keepalives_idle",
	    "keepalives_interval", "keepalives_count", "tcp_user_timeout", "dbname",
	    "client_encoding", NULL};
	const char *values[] = {"5", "agentgraph", "5", "2", "3", "10000", s->url, "UTF8", NULL};
	struct postgresql_connection *c = xcalloc(1, sizeof(*c));
	c->conn = s->pq->connect_params(keys, values, 1);
	if (c->conn && s->pq->status(c->conn) == LIBPQ_CONNECTION_OK) {
		atomic_store(&s->reached, true);
		if (connection_suits(s, c, err) && connection_set_up(s, c, err))
			return c;
	} else {
		bool mistaken = connection_is_mistaken(s, keys, values);
		error_set(err, mistaken ? ERR_STORAGE : ERR_TRANSIENT_STORAGE, NULL);
		server_cause(err, s->pq->error_message(c->conn));
	}
	connection_close(s, c);
	return NULL;
}

static bool connection_alive(struct postgresql_server *s, struct postgresql_connection *c)
{
	struct pollfd pfd = {.fd = s->pq->socket(c->conn), .events = POLLIN};
	if (poll(&pfd, 1, 0) == 0)
		return true;
	return s->pq->consume_input(c->conn) && s->pq->status(c->conn) == LIBPQ_CONNECTION_OK;
}

/* Waits for an idle connection; NULL where there is none.  *may_open then says whether another one
 * may be opened. */
static struct postgresql_connection *server_take_idle(
    struct postgresql_server *s, enum postgresql_age age, int64_t end, bool *may_open)
{
	struct postgresql_connection *c = NULL;
	bool in_time = true;
	pthread_mutex_lock(&s->lock);
	while (held == 0 && !s->idle && s->count >= POSTGRESQL_CONNECTIONS && in_time)
		in_time = clock_cond_wait(&s->given, &s->lock, end);
	if (s->idle) {
		c = s->idle;
		s->idle = c->next;
	}
	*may_open = c || held > 0 || s->count < POSTGRESQL_CONNECTIONS;
	if (!c && *may_open)
		s->count++;
	if (c && (age == POSTGRESQL_FRESH || c->era != s->era))
		c->reused = false; /* it is not used: see postgresql_take */
	else if (c)
		c->reused = true;
	pthread_mutex_unlock(&s->lock);
	return c;
}

/* Gives up the place of one that could not be opened.  The server may have as many as it takes, so
 * one of this process is waited for; NULL where it has none any more. */
static struct postgresql_connection *server_take_given(
    struct postgresql_server *s, enum postgresql_age age, int64_t end)
{
	struct postgresql_connection *c = NULL;
	bool in_time = held == 0 && age == POSTGRESQL_ANY;
	pthread_mutex_lock(&s->lock);
	s->count--;
	pthread_cond_broadcast(&s->given); /* not all who wait may open another one */
	while (in_time && !s->idle && s->count > 0)
		in_time = clock_cond_wait(&s->given, &s->lock, end);
	if (in_time && s->idle && s->idle->era == s->era) {
		c = s->idle;
		s->idle = c->next;
		c->reused = true;
	}
	pthread_mutex_unlock(&s->lock);
	return c;
}

struct postgresql_connection *postgresql_take(
    struct postgresql_server *s, enum postgresql_age age, struct error *err)
{
	int64_t end = clock_monotonic_ms() + TAKE_MS;
	bool may_open;
	struct postgresql_connection *c = server_take_idle(s, age, end, &may_open);
	if (!may_open) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		error_cause(
		    err, "all connections to PostgreSQL were busy for %d s", TAKE_MS / 1000);
		return NULL;
	}
	if (c && (!c->reused || !connection_alive(s, c))) {
		connection_close(s, c);
		c = NULL;
	}
	if (!c) {
		pthread_mutex_lock(&s->lock);
		uint64_t era = s->era;
		pthread_mutex_unlock(&s->lock);
		c = connection_open(s, err);
		if (c)
			c->era = era;
	}
	if (!c && (c = server_take_given(s, age, end)))
		error_release(err);
	held += c != NULL;
	return c;
}

void postgresql_give_back(struct postgresql_server *s, struct postgresql_connection *c)
{
	bool keep = s->pq->status(c->conn) == LIBPQ_CONNECTION_OK;
	held--;
	pthread_mutex_lock(&s->lock);
	keep = keep && c->era == s->era && s->count <= POSTGRESQL_CONNECTIONS;
	if (keep) {
		c->next = s->idle;
		s->idle = c;
		pthread_cond_signal(&s->given);
	} else {
		s->count--;
		pthread_cond_broadcast(&s->given);
	}
	pthread_mutex_unlock(&s->lock);
	if (!keep)
		connection_close(s, c);
}

void postgresql_server_free(struct postgresql_server *s)
{
	struct postgresql_connection *next;
	if (!s)
		return;
	for (struct postgresql_connection *c = s->idle; c; c = next) {
		next = c->next;
		connection_close(s, c);
	}
	pthread_cond_destroy(&s->given);
	pthread_mutex_destroy(&s->lock);
	free(s->url);
	/* the library stays loaded: what libpq has brought in may not survive being unloaded */
	free(s);
}

char *postgresql_describe(struct postgresql_server *s, struct error *err)
{
	struct postgresql_connection *c = postgresql_take(s, POSTGRESQL_ANY, err);
	const struct libpq *pq = s->pq;
	char schema[128], *text;
	if (!c)
		return NULL;
	if (postgresql_execute(s, c, "SHOW search_path", schema, sizeof(schema), err) !=
	    POSTGRESQL_FINE) {
		postgresql_give_back(s, c);
		return NULL;
	}
	text = xasprintf("PostgreSQL %d.%d at %s:%s, database %s as %s, schema %s",
	    pq->server_version(c->conn) / 10000, pq->server_version(c->conn) % 10000,
	    pq->host(c->conn), pq->port(c->conn), pq->db(c->conn), pq->user(c->conn), schema);
	postgresql_give_back(s, c);
	return text;
}
