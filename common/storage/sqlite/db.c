/* SPDX-License-Identifier: ISC */
/* Opening connections, transactions, queries, and what SQLite's failures mean. */
#include "storage/sqlite/db.h"

#include "base/clock.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 5000
#define RETRY_NS 300000
#define WATCHED_STEPS 50 /* of SQLite's machine: a few rows */
#define NOBODY_WAITS 499 /* as web servers log it */

static atomic_bool used[SQL_COUNT];

bool db_was_used(enum sql_id id)
{
	return atomic_load(&used[id]);
}

/* The statistics of memory use cost a global mutex at every allocation. */
static void configure_library(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_initialize();
}

/*
 * SQLite's busy handler.  Our own writers queue before they come here (turnstile.h); this waits for
 * outsiders, like a shell, and retries often, because a back-off as SQLite's own has long tails.
 */
static int wait_for_lock(void *arg, int count)
{
	struct db *db = arg;
	int64_t now = clock_monotonic_ms();

	if (count == 0)
		db->busy_until = now + db->patience_ms;
	if (now >= db->busy_until)
		return 0;
	nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
	return 1;
}

static bool set_up(struct db *db, enum db_mode mode, struct error *err)
{
	static const enum sql_id mode_setup[] = {
	    [DB_READ] = SQL_CONNECTION_READ_ONLY,
	    [DB_WRITE] = SQL_SYNCHRONOUS_NORMAL,
	    [DB_DURABLE] = SQL_SYNCHRONOUS_FULL,
	};

	sqlite3_extended_result_codes(db->handle, 1);
	sqlite3_busy_handler(db->handle, wait_for_lock, db);
	return db_exec(db, SQL_CONNECTION_SETUP, err) && db_exec(db, mode_setup[mode], err);
}

/* ENOSPC becomes SQLITE_FULL; its relatives are only an input/output error, and of a failed commit
 * only errno knows the cause. */
static bool no_room(struct db *db)
{
	int code = sqlite3_system_errno(db->handle);

	if (code == 0)
		code = errno;
	return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

static bool passes_by_itself(struct db *db, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
	case SQLITE_INTERRUPT:
		return true;
	case SQLITE_IOERR:
		return no_room(db);
	default:
		return false;
	}
}

static bool fail_with(struct db *db, int rc, struct error *err)
{
	bool full = (rc & 0xff) == SQLITE_IOERR && no_room(db);
	bool transient = passes_by_itself(db, rc);

	error_set(err, transient ? ERR_TRANSIENT_STORAGE : ERR_STORAGE, NULL);
	if (rc == SQLITE_INTERRUPT) {
		err->status = NOBODY_WAITS;
		return error_cause(err, "the client left before its answer was found");
	}
	return error_cause(err, "SQLite: %s%s (%d)", sqlite3_errmsg(db->handle),
	    full ? ", no space is left" : "", rc);
}

struct db *db_open(const char *path, enum db_mode mode, struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct db *db = xcalloc(1, sizeof(*db));
	int rc;

	pthread_once(&once, configure_library);
	db->patience_ms = PATIENCE_MS;
	rc = sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK ? set_up(db, mode, err) : fail_with(db, rc, err))
		return db;
	db_close(db);
	return NULL;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(db->statements[i]);
	sqlite3_close(db->handle);
	free(db);
}

bool db_script(struct db *db, const char *sql, struct error *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK || fail_with(db, rc, err);
}

bool db_exec(struct db *db, enum sql_id id, struct error *err)
{
	atomic_store_explicit(&used[id], true, memory_order_relaxed);
	return db_script(db, sql_statements[id].text, err);
}

static bool run_plain(struct db *db, enum sql_id id, struct error *err)
{
	struct query q;

	query_start(&q, db, id, err);
	return query_run(&q);
}

/* What is written to a file that has lost its name is gone with this process, however well the
 * commit went. */
static bool is_in_place(struct db *db, struct error *err)
{
	int moved = 0;

	sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
	if (!moved)
		return true;
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "%s was removed or moved while the service ran: restart it",
	    sqlite3_db_filename(db->handle, NULL));
}

bool db_begin(struct db *db, struct error *err)
{
	return is_in_place(db, err) && run_plain(db, SQL_BEGIN, err);
}

bool db_commit(struct db *db, struct error *err)
{
	return run_plain(db, SQL_COMMIT, err);
}

void db_rollback(struct db *db)
{
	struct error ignored = {0};

	if (!sqlite3_get_autocommit(db->handle))
		run_plain(db, SQL_ROLLBACK, &ignored);
	error_release(&ignored);
}

static void db_fail(struct query *q, int rc)
{
	q->failed = true;
	fail_with(q->db, rc, q->err);
}

static sqlite3_stmt *prepared(struct query *q, enum sql_id id)
{
	sqlite3_stmt **stmt = &q->db->statements[id];
	int rc;

	if (*stmt)
		return *stmt;
	rc = sqlite3_prepare_v3(
	    q->db->handle, sql_statements[id].text, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
	if (rc != SQLITE_OK)
		db_fail(q, rc);
	else
		assert(sql_statements[id].columns == 0 ||
		    sql_statements[id].columns == sqlite3_column_count(*stmt));
	atomic_store_explicit(&used[id], true, memory_order_relaxed);
	return *stmt;
}

void query_start(struct query *q, struct db *db, enum sql_id id, struct error *err)
{
	*q = (struct query){.db = db, .err = err, .failed = !db};
	if (db)
		q->stmt = prepared(q, id);
}

/* The number of a parameter.  Most code binds them in the order of the text, so that the next one
 * is it. */
static int parameter(struct query *q, const char *name)
{
	const char *next = sqlite3_bind_parameter_name(q->stmt, q->bound + 1);

	if (next && strcmp(next, name) == 0)
		return ++q->bound;
	return q->bound = sqlite3_bind_parameter_index(q->stmt, name);
}

void query_text(struct query *q, const char *name, const char *value)
{
	int rc;

	if (q->failed)
		return;
	rc = sqlite3_bind_text(q->stmt, parameter(q, name), value, -1, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		db_fail(q, rc);
}

void query_text_part(struct query *q, const char *name, const char *value, size_t len)
{
	int rc;

	if (q->failed)
		return;
	rc = sqlite3_bind_text64(
	    q->stmt, parameter(q, name), value, len, SQLITE_STATIC, SQLITE_UTF8);
	if (rc != SQLITE_OK)
		db_fail(q, rc);
}

void query_int(struct query *q, const char *name, int64_t value)
{
	int rc;

	if (q->failed)
		return;
	rc = sqlite3_bind_int64(q->stmt, parameter(q, name), value);
	if (rc != SQLITE_OK)
		db_fail(q, rc);
}

void query_blob(struct query *q, const char *name, const void *value, size_t size)
{
	int rc;

	if (q->failed)
		return;
	rc = sqlite3_bind_blob64(q->stmt, parameter(q, name), value, size, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		db_fail(q, rc);
}

static int db_watch(void *arg)
{
	const struct waiter *waiter = arg;

	return waiter->gone(waiter->arg);
}

void query_watch(struct query *q, const struct waiter *waiter)
{
	if (waiter && !q->failed)
		sqlite3_progress_handler(q->db->handle, WATCHED_STEPS, db_watch, (void *)waiter);
}

bool query_row(struct query *q)
{
	int rc;

	if (q->failed)
		return false;
	errno = 0;
	rc = sqlite3_step(q->stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		db_fail(q, rc);
	return rc == SQLITE_ROW;
}

const char *query_column_text(struct query *q, int column)
{
	return (const char *)sqlite3_column_text(q->stmt, column);
}

int64_t query_column_int(struct query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

double query_column_double(struct query *q, int column)
{
	return sqlite3_column_double(q->stmt, column);
}

const void *query_column_blob(struct query *q, int column, size_t *size)
{
	const void *value = sqlite3_column_blob(q->stmt, column);

	*size = (size_t)sqlite3_column_bytes(q->stmt, column);
	return value;
}

bool query_end(struct query *q)
{
	if (q->stmt) {
		sqlite3_reset(q->stmt);
		sqlite3_clear_bindings(q->stmt);
		sqlite3_progress_handler(q->db->handle, 0, NULL, NULL);
	}
	return !q->failed;
}

bool query_run(struct query *q)
{
	query_row(q);
	return query_end(q);
}
