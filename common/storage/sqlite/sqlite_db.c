/* SPDX-License-Identifier: ISC */
/* Connections to SQLite: opening, transactions, queries, and what its failures mean. */
#include "storage/sqlite/sqlite_db.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/sqlite/migrate.h"
#include "storage/sqlite/wal.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 5000
#define RETRY_NS 300000
#define WATCHED_STEPS 500 /* of SQLite's machine: some tens of rows */

static const char *sqlite_vfs; /* the VFS that files are opened with; NULL: SQLite's own */

/* The statistics of memory use cost a global mutex at every allocation. */
static void sqlite_configure_library(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_initialize();
	sqlite_vfs = wal_file_register();
}

/*
 * SQLite's busy handler.  Our own writers queue before they come here (turnstile.h); this waits for
 * outsiders, like a shell, and retries often, because a back-off as SQLite's own has long tails.
 */
static int sqlite_wait_for_lock(void *arg, int count)
{
	struct sqlite_db *db = arg;
	int64_t now = clock_monotonic_ms();
	if (count == 0)
		db->busy_until = now + db->patience_ms;
	if (now >= db->busy_until)
		return 0;
	nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
	return 1;
}

/* SQLite makes ENOSPC SQLITE_FULL, but its relatives a mere input/output error; and the cause of a
 * failed commit is only in errno. */
static bool sqlite_has_no_room(struct sqlite_db *db, int rc)
{
	int code = sqlite3_system_errno(db->handle);
	if (code == 0)
		code = errno;
	return (rc & 0xff) == SQLITE_IOERR && (code == ENOSPC || code == EDQUOT || code == EFBIG);
}

static bool sqlite_passes_by_itself(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
	case SQLITE_INTERRUPT:
		return true;
	default:
		return false;
	}
}

static bool sqlite_fail_with(struct sqlite_db *db, int rc, struct error *err)
{
	bool full = sqlite_has_no_room(db, rc);
	bool passes = full || sqlite_passes_by_itself(rc);
	error_set(err, passes ? ERR_TRANSIENT_STORAGE : ERR_STORAGE, NULL);
	if (rc == SQLITE_INTERRUPT) {
		err->status = ERROR_NOBODY_WAITS;
		return error_cause(err, "the client left before its answer was found");
	}
	return error_cause(err, "SQLite: %s%s (%d)", sqlite3_errmsg(db->handle),
	    full ? ", no space is left" : "", rc);
}

struct db *sqlite_open(const char *path, enum db_mode mode, struct error *err)
{
	static const enum sql_id mode_setup[] = {
	    [DB_READ] = SQL_CONNECTION_READ_ONLY,
	    [DB_WRITE] = SQL_SYNCHRONOUS_NORMAL,
	    [DB_DURABLE] = SQL_SYNCHRONOUS_FULL,
	};
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sqlite_db *db = xcalloc(1, sizeof(*db));
	bool ok;
	int rc;
	pthread_once(&once, sqlite_configure_library);
	db->db.driver = &sqlite_driver;
	db->patience_ms = PATIENCE_MS;
	rc = sqlite3_open_v2(
	    path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, sqlite_vfs);
	ok = rc == SQLITE_OK || sqlite_fail_with(db, rc, err);
	if (ok) {
		sqlite3_extended_result_codes(db->handle, 1);
		sqlite3_busy_handler(db->handle, sqlite_wait_for_lock, db);
		sqlite_memory_fits_add(db->handle);
		ok = db_exec(&db->db, SQL_CONNECTION_SETUP, err) &&
		    sqlite_memory_words_add(db, err) && db_exec(&db->db, mode_setup[mode], err);
	}
	if (ok)
		return &db->db;
	db_close(&db->db);
	return NULL;
}

static struct db *sqlite_open_source(
    const struct db_source *source, enum db_mode mode, struct error *err)
{
	return sqlite_open(source->path, mode, err);
}

static void sqlite_give_back(struct db *db)
{
	sqlite3_db_release_memory(sqlite_db_of(db)->handle);
}

static void sqlite_close(struct db *base)
{
	struct sqlite_db *db = sqlite_db_of(base);
	for (size_t i = 0; i < SQL_COUNT; i++) {
		sqlite3_finalize(db->statements[i]);
		free(db->names[i]);
	}
	sqlite3_close(db->handle);
	free(db);
}

static bool sqlite_script(struct db *base, const char *sql, struct error *err)
{
	struct sqlite_db *db = sqlite_db_of(base);
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK || sqlite_fail_with(db, rc, err);
}

static const char *sqlite_statement(enum sql_id id)
{
	return sql_statements[id].text;
}

static bool sqlite_run_plain(struct db *db, enum sql_id id, struct error *err)
{
	struct query q;
	query_start(&q, db, id, err);
	return query_run(&q);
}

static bool sqlite_begin(struct db *db, struct error *err)
{
	sqlite3 *handle = sqlite_db_of(db)->handle;
	int moved = 0;

	/* a file that has lost its name is gone with this process, so a commit to it would be
	 * lost */
	sqlite3_file_control(handle, NULL, SQLITE_FCNTL_HAS_MOVED, &moved);
	if (!moved)
		return sqlite_run_plain(db, SQL_BEGIN, err);
	error_set(err, ERR_STORAGE, NULL);
	return error_cause(err, "%s was removed or moved while the service ran: restart it",
	    sqlite3_db_filename(handle, NULL));
}

static bool sqlite_commit(struct db *db, struct error *err)
{
	return sqlite_run_plain(db, SQL_COMMIT, err);
}

static void sqlite_rollback(struct db *db)
{
	struct error ignored = {0};
	if (!sqlite3_get_autocommit(sqlite_db_of(db)->handle))
		sqlite_run_plain(db, SQL_ROLLBACK, &ignored);
	error_release(&ignored);
}

static int64_t sqlite_changes(struct db *db)
{
	return sqlite3_changes(sqlite_db_of(db)->handle);
}

static int64_t sqlite_last_row(struct db *db)
{
	return sqlite3_last_insert_rowid(sqlite_db_of(db)->handle);
}

/* ---- queries ---- */

static void sqlite_fail(struct query *q, int rc)
{
	q->failed = true;
	sqlite_fail_with(sqlite_db_of(q->db), rc, q->err);
}

/* Copies the names, in one block, because a statement that is prepared again for a new schema has
 * others. */
static const char **sqlite_names(sqlite3_stmt *stmt)
{
	int count = sqlite3_bind_parameter_count(stmt);
	size_t size = ((size_t)count + 1) * sizeof(char *);
	for (int i = 1; i <= count; i++)
		size += strlen(sqlite3_bind_parameter_name(stmt, i)) + 1;
	const char **names = xmalloc(size);
	char *to = (char *)(names + count + 1);

	for (int i = 0; i < count; i++) {
		names[i] = to;
		to = stpcpy(to, sqlite3_bind_parameter_name(stmt, i + 1)) + 1;
	}
	names[count] = NULL;
	return names;
}

static void sqlite_start(struct query *q, enum sql_id id)
{
	struct sqlite_db *db = sqlite_db_of(q->db);
	sqlite3_stmt **stmt = &db->statements[id];

	if (!*stmt) {
		int rc = sqlite3_prepare_v3(
		    db->handle, sql_statements[id].text, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
		if (rc != SQLITE_OK) {
			sqlite_fail(q, rc);
		} else {
			assert(sql_statements[id].columns == 0 ||
			    sql_statements[id].columns == sqlite3_column_count(*stmt));
			db->names[id] = sqlite_names(*stmt);
		}
	}
	q->stmt = *stmt;
	q->names = db->names[id];
}

/* The number of a parameter.  Most code binds parameters in the order of the text, so the next one
 * is tried first; its name was asked for once, since SQLite searches from the first one on. */
static int sqlite_parameter(struct query *q, const char *name)
{
	const char *next = q->names[q->bound];
	if (next && strcmp(next, name) == 0)
		return ++q->bound;
	return q->bound = sqlite3_bind_parameter_index(q->stmt, name);
}

static void sqlite_text(struct query *q, const char *name, const char *value, size_t len)
{
	int rc = sqlite3_bind_text64(
	    q->stmt, sqlite_parameter(q, name), value, len, SQLITE_STATIC, SQLITE_UTF8);
	if (rc != SQLITE_OK)
		sqlite_fail(q, rc);
}

static void sqlite_integer(struct query *q, const char *name, int64_t value)
{
	int rc = sqlite3_bind_int64(q->stmt, sqlite_parameter(q, name), value);
	if (rc != SQLITE_OK)
		sqlite_fail(q, rc);
}

static void sqlite_blob(struct query *q, const char *name, const void *value, size_t size)
{
	int rc =
	    sqlite3_bind_blob64(q->stmt, sqlite_parameter(q, name), value, size, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		sqlite_fail(q, rc);
}

/* Asks the waiter at most once a millisecond, as that costs a system call. */
static int sqlite_progress(void *arg)
{
	struct sqlite_db *db = arg;
	int64_t now = clock_monotonic_ms();
	if (now == db->waiter_asked_at)
		return 0;
	db->waiter_asked_at = now;
	return db->waiter->gone(db->waiter->arg);
}

static void sqlite_watch(struct query *q, const struct waiter *waiter)
{
	struct sqlite_db *db = sqlite_db_of(q->db);
	db->waiter = waiter;
	db->waiter_asked_at = 0;
	sqlite3_progress_handler(db->handle, WATCHED_STEPS, sqlite_progress, db);
}

static bool sqlite_row(struct query *q)
{
	int rc;
	errno = 0;
	rc = sqlite3_step(q->stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		sqlite_fail(q, rc);
	return rc == SQLITE_ROW;
}

static enum db_kind sqlite_kind(struct query *q, int column)
{
	switch (sqlite3_column_type(q->stmt, column)) {
	case SQLITE_INTEGER:
		return DB_INT;
	case SQLITE_FLOAT:
		return DB_DOUBLE;
	case SQLITE_TEXT:
		return DB_TEXT;
	case SQLITE_BLOB:
		return DB_BLOB;
	default:
		return DB_NULL;
	}
}

static const char *sqlite_take_text(struct query *q, int column)
{
	return (const char *)sqlite3_column_text(q->stmt, column);
}

static int64_t sqlite_take_int(struct query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

static double sqlite_take_double(struct query *q, int column)
{
	return sqlite3_column_double(q->stmt, column);
}

static const void *sqlite_take_blob(struct query *q, int column, size_t *size)
{
	const void *value = sqlite3_column_blob(q->stmt, column);
	*size = (size_t)sqlite3_column_bytes(q->stmt, column);
	return value;
}

static void sqlite_end(struct query *q)
{
	struct sqlite_db *db = sqlite_db_of(q->db);
	sqlite3_reset(q->stmt);
	sqlite3_clear_bindings(q->stmt);
	if (db->waiter)
		sqlite3_progress_handler(db->handle, 0, NULL, NULL);
	db->waiter = NULL;
}

/* ---- databases ---- */

static bool sqlite_is_there(const struct db_source *source)
{
	return access(source->path, F_OK) == 0;
}

static void sqlite_remove_file(const char *path, const char *suffix)
{
	char *name = xasprintf("%s%s", path, suffix);
	unlink(name);
	free(name);
}

static void sqlite_throw_away(const struct db_source *source)
{
	sqlite_remove_file(source->path, "");
	sqlite_remove_file(source->path, "-wal");
	sqlite_remove_file(source->path, "-shm");
}

static bool sqlite_keeper_new(const struct db_source *source, struct shared *shared,
    struct turnstile *turnstile, void **keeper, struct error *err)
{
	struct db *db = sqlite_open(source->path, DB_WRITE, err);
	*keeper = db ? wal_keeper_new(db, shared, turnstile, err) : NULL;
	return *keeper != NULL;
}

static void sqlite_keeper_free(void *keeper)
{
	wal_keeper_free(keeper);
}

const struct db_driver sqlite_driver = {
    .open = sqlite_open_source,
    .close = sqlite_close,
    .statement = sqlite_statement,
    .script = sqlite_script,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .changes = sqlite_changes,
    .last_row = sqlite_last_row,
    .give_back = sqlite_give_back,
    .is_there = sqlite_is_there,
    .open_current = sqlite_open_current,
    .throw_away = sqlite_throw_away,
    .attend = wal_attend,
    .wrote = wal_write_back,
    .keeper_new = sqlite_keeper_new,
    .keeper_free = sqlite_keeper_free,
    .start = sqlite_start,
    .text = sqlite_text,
    .integer = sqlite_integer,
    .blob = sqlite_blob,
    .watch = sqlite_watch,
    .row = sqlite_row,
    .column_kind = sqlite_kind,
    .column_text = sqlite_take_text,
    .column_int = sqlite_take_int,
    .column_double = sqlite_take_double,
    .column_blob = sqlite_take_blob,
    .end = sqlite_end,
};
