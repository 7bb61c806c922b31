/* SPDX-License-Identifier: ISC */
/* Transactions on PostgreSQL, and the table of its driver. */
#include "storage/postgresql/postgresql_internal.h"

#include "base/id.h"
#include "base/memory.h"
#include "base/os/clock.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLEAR_UP_MS 30000 /* how long to ask what became of a commit */

/* ---- transactions ---- */

static struct db *postgresql_open(
    const struct db_source *source, enum db_mode mode, struct error *err)
{
	struct postgresql_db *db = xcalloc(1, sizeof(*db));
	(void)mode;
	(void)err;
	db->db.driver = &postgresql_driver;
	db->server = source->server;
	random_bytes(&db->writer, sizeof(db->writer));
	return &db->db;
}

static void postgresql_close(struct db *base)
{
	assert(!postgresql_db_of(base)->connection);
	free(base);
}

static void db_let_go(struct postgresql_db *db)
{
	if (db->connection)
		postgresql_give_back(db->server, db->connection);
	db->connection = NULL;
	db->pipelined = false;
	db->pending = 0;
}

/* Ends the queries that units have sent and not looked at, as the transaction is over. */
static void db_forget_asked(struct postgresql_db *db)
{
	while (db->asked) {
		struct query *q = db->asked->q;
		q->failed = true;
		db->db.driver->end(q);
	}
}

static const char *postgresql_statement(enum sql_id id)
{
	return sql_statements[id].postgresql;
}

static bool postgresql_script(struct db *base, const char *sql, struct error *err)
{
	struct postgresql_db *db = postgresql_db_of(base);
	struct postgresql_connection *c = postgresql_take(db->server, POSTGRESQL_ANY, err);
	bool ok;
	if (!c)
		return false;
	ok = postgresql_execute(db->server, c, sql, NULL, 0, err) == POSTGRESQL_FINE;
	postgresql_give_back(db->server, c);
	return ok;
}

static void postgresql_rollback(struct db *base)
{
	struct postgresql_db *db = postgresql_db_of(base);
	struct error ignored = {0};
	if (!db->connection)
		return;
	pipeline_collect(db, NULL, &ignored);
	error_release(&ignored);
	db_forget_asked(db);
	pipeline_forget(db);
	if (postgresql_pq_of(base)->status(db->connection->conn) == LIBPQ_CONNECTION_OK)
		postgresql_execute(db->server, db->connection, "ROLLBACK", NULL, 0, &ignored);
	error_release(&ignored);
	db_let_go(db);
}

/* BEGIN goes out with the first statements, and its result is seen with theirs. */
static bool postgresql_begin(struct db *base, struct error *err)
{
	struct postgresql_db *db = postgresql_db_of(base);
	db->again = base->unclear = false;
	*db->transaction = '\0';
	db->connection = postgresql_take(db->server, POSTGRESQL_ANY, err);
	if (!db->connection)
		return false;
	db->pipelined = postgresql_pq_of(base)->enter_pipeline_mode(db->connection->conn) != 0;
	if (!db->pipelined || !pipeline_send(db, "BEGIN")) {
		pipeline_note(db, postgresql_unsent(db->server, db->connection, err));
	} else {
		/* notes the transaction in the database: where the answer to its commit is lost,
		 * that note can be asked for */
		query_start(&db->note, base, SQL_COMMIT_NOTE, err);
		query_int(&db->note, ":writer", db->writer);
		query_int(&db->note, ":number", ++db->number);
		query_send(&db->note);
		if (!db->note.failed)
			return true;
	}
	postgresql_rollback(base);
	return false;
}

/* Asks what became of the transaction; status is "" when that cannot be found out now. */
static void db_ask(struct postgresql_db *db, char status[32])
{
	struct error ignored = {0};
	struct postgresql_connection *c = postgresql_take(db->server, POSTGRESQL_FRESH, &ignored);
	char sql[192];
	/* a transaction whose id we never got was not committed */
	snprintf(status, 32, "%s", *db->transaction ? "" : "aborted");
	if (c && !*status) {
		snprintf(sql, sizeof(sql), "SELECT pg_xact_status('%s'::xid8)", db->transaction);
		/* a server that refuses the id as one of the future is a standby that never got the
		 * transaction */
		if (postgresql_execute(db->server, c, sql, status, 32, &ignored) ==
		    POSTGRESQL_REFUSED)
			snprintf(status, 32, "aborted");
	}
	/* this transaction, or another one that got its id after a crash */
	if (c && strcmp(status, "committed") == 0) {
		snprintf(sql, sizeof(sql),
		    "SELECT CASE count(*) WHEN 0 THEN 'aborted' ELSE 'committed' END FROM commits "
		    "WHERE writer = %" PRId64 " AND number = %" PRId64,
		    db->writer, db->number);
		if (postgresql_execute(db->server, c, sql, status, 32, &ignored) != POSTGRESQL_FINE)
			*status = '\0';
	}
	if (c)
		postgresql_give_back(db->server, c);
	error_release(&ignored);
}

/* After a commit whose answer was lost: true when it was committed.  db->unclear says that this
 * cannot be found out. */
static bool db_clear_up(struct postgresql_db *db, struct error *err)
{
	int64_t end = clock_monotonic_ms() + CLEAR_UP_MS;
	char status[32];
	for (;;) {
		db_ask(db, status);
		if (strcmp(status, "committed") == 0) {
			error_release(err);
			return true;
		}
		if (strcmp(status, "aborted") == 0) {
			db->again = true;
			return false;
		}
		if (clock_monotonic_ms() > end && !db->db.patient)
			break;
		clock_sleep_ms(50);
	}
	db->again = false;
	db->db.unclear = true;
	return false;
}

/*
 * Sends COMMIT behind the statements that are on their way; where one of those fails the server
 * does not execute it.  The transaction's id is fetched before, since without it nobody could ask
 * what became of the commit.
 */
static enum postgresql_failure db_send_commit(struct postgresql_db *db, struct error *err)
{
	struct postgresql_connection *c = db->connection;
	struct pg_result *committed = NULL;
	enum postgresql_failure failure = POSTGRESQL_FINE;
	if (!*db->transaction)
		failure = pipeline_collect(db, NULL, err);
	if (failure != POSTGRESQL_FINE)
		return failure;
	if (!db->pipelined)
		return postgresql_execute(db->server, c, "COMMIT", NULL, 0, err);
	if (!pipeline_send(db, "COMMIT"))
		return postgresql_unsent(db->server, c, err);
	failure = pipeline_collect(db, &committed, err);
	if (!committed)
		return failure;
	/* an error that came after the commit does not matter */
	postgresql_pq_of(&db->db)->clear(committed);
	error_release(err);
	return POSTGRESQL_FINE;
}

static bool postgresql_commit(struct db *base, struct error *err)
{
	struct postgresql_db *db = postgresql_db_of(base);
	enum postgresql_failure failure = pipeline_earlier(db, err);
	if (failure == POSTGRESQL_FINE)
		failure = db_send_commit(db, err);
	db_forget_asked(db);
	if (failure != POSTGRESQL_FINE && failure != POSTGRESQL_LOST) {
		pipeline_note(db, failure);
		postgresql_rollback(base);
		if (failure != POSTGRESQL_PASSES)
			return false;
		/* The connection may have failed, before the commit or after it, so ask.  A
		 * transaction that failed for another reason is not run again. */
		bool committed = db_clear_up(db, err);

		db->again = false;
		return committed;
	}
	pipeline_forget(db);
	db_let_go(db);
	return failure == POSTGRESQL_FINE || db_clear_up(db, err);
}

static bool postgresql_again(struct db *base)
{
	bool again = postgresql_db_of(base)->again;
	postgresql_db_of(base)->again = false;
	return again;
}

static int64_t postgresql_changes(struct db *base)
{
	struct postgresql_db *db = postgresql_db_of(base);
	if (!db->counted)
		pipeline_settle(db);
	return db->changes;
}

static int64_t postgresql_last_row(struct db *base)
{
	return postgresql_db_of(base)->last_row;
}

/* ---- databases ---- */

static bool postgresql_is_there(const struct db_source *source)
{
	(void)source;
	return true;
}

/* Opening the engine has brought the only schema up to date. */
static struct db *postgresql_open_current(const struct db_source *source, const char *name,
    enum db_mode mode, struct turnstile *turnstile, struct error *err)
{
	(void)name;
	(void)turnstile;
	return postgresql_open(source, mode, err);
}

const struct db_driver postgresql_driver = {
    .open = postgresql_open,
    .close = postgresql_close,
    .statement = postgresql_statement,
    .script = postgresql_script,
    .begin = postgresql_begin,
    .commit = postgresql_commit,
    .rollback = postgresql_rollback,
    .changes = postgresql_changes,
    .last_row = postgresql_last_row,
    .again = postgresql_again,
    .side_by_side = true,
    .is_there = postgresql_is_there,
    .open_current = postgresql_open_current,
    .start = postgresql_query_start,
    .text = postgresql_bind_text,
    .integer = postgresql_bind_integer,
    .blob = postgresql_bind_blob,
    .watch = postgresql_query_watch,
    .send = postgresql_query_send,
    .row = postgresql_query_row,
    .run = postgresql_query_run,
    .column_kind = postgresql_column_kind,
    .column_text = postgresql_column_text,
    .column_int = postgresql_column_int,
    .column_double = postgresql_column_double,
    .column_blob = postgresql_column_blob,
    .end = postgresql_query_end,
};
