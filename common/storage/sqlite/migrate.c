/* SPDX-License-Identifier: ISC */
/* Opening a database file, new or old, and bringing its schema up to date. */
#include "storage/sqlite/migrate.h"

#include "base/os/owned.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PRAGMA_VALUE 0 /* the only column of a pragma that answers */

/*
 * An existing file is not opened: closing a descriptor of a database would drop the locks that
 * SQLite holds on it elsewhere in this process.
 */
bool database_create(const char *path, struct error *err)
{
	int fd = owned_create(path);
	if (fd < 0 && errno != EEXIST)
		return error_set(
		    err, ERR_STORAGE, "%s cannot be created: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return true;
}

/* Work that is too much for one transaction; it is done in many, before the migration to that
 * version. */
static const struct {
	const char *database;
	int version;
	bool (*run)(struct db *db, struct error *err);
} before[] = {
    {"threads", 4, messages_move},
};

/* Runs a migration in one transaction, so that a process that dies here leaves the version
 * before. */
static bool migrate_apply(struct db *db, const struct sql_migration *m, struct error *err)
{
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		if (strcmp(before[i].database, m->database) == 0 &&
		    before[i].version == m->version && !before[i].run(db, err))
			return false;
	}
	if (!db_begin(db, err))
		return false;
	if (db_script(db, m->text, err) && db_commit(db, err))
		return true;
	db_rollback(db);
	return false;
}

bool database_version(
    struct db *db, const char *path, const char *name, int *version, struct error *err)
{
	const struct sql_migration *end = sql_migrations + sql_migration_count;
	struct query q;
	int newest = 0;
	for (const struct sql_migration *m = sql_migrations; m < end; m++) {
		if (strcmp(m->database, name) == 0 && m->version > newest)
			newest = m->version;
	}
	*version = 0;
	query_start(&q, db, SQL_USER_VERSION, err);
	if (query_row(&q))
		*version = (int)query_column_int(&q, PRAGMA_VALUE);
	if (!query_end(&q))
		return false;
	return *version <= newest ||
	    error_set(err, ERR_STORAGE,
		"%s has schema version %d, but this program knows versions up to %d: it was "
		"written by a newer one",
		path, *version, newest);
}

static bool migrate(struct db *db, const char *path, const char *name, struct error *err)
{
	const struct sql_migration *end = sql_migrations + sql_migration_count;
	struct query q;
	int version;
	bool wal;
	if (sqlite3_db_readonly(sqlite_db_of(db)->handle, "main") == 1)
		return error_set(err, ERR_STORAGE,
		    "%s cannot be written: check the permissions of the file and its directory",
		    path);
	query_start(&q, db, SQL_JOURNAL_WAL, err);
	wal = query_row(&q) && strcmp(query_column_text(&q, PRAGMA_VALUE), "wal") == 0;
	if (!query_end(&q))
		return false;
	if (!wal)
		return error_set(err, ERR_STORAGE,
		    "%s: its file system does not support SQLite's WAL mode", path);
	if (!database_version(db, path, name, &version, err))
		return false;
	for (const struct sql_migration *m = sql_migrations; m < end; m++) {
		if (strcmp(m->database, name) == 0 && m->version > version &&
		    !migrate_apply(db, m, err))
			return false;
	}
	return true;
}

struct db *sqlite_open_current(const struct db_source *source, const char *name, enum db_mode mode,
    struct turnstile *turnstile, struct error *err)
{
	const char *path = source->path;
	struct error named = {0};
	struct db *db = NULL;
	bool ok;
	turnstile_enter(turnstile);
	ok = database_create(path, err) && (db = db_open(source, mode, err)) != NULL &&
	    migrate(db, path, name, err);
	turnstile_leave(turnstile);
	if (ok)
		return db;
	db_close(db);
	/* An error that only has SQLite's words gets a sentence with the file's name, as a failure
	 * at the start needs.  A transient one may happen in a request, whose client must not be
	 * told a path, so there the name goes into the cause. */
	if (err->cause[0] == '\0')
		return NULL;
	if (err->kind == ERR_TRANSIENT_STORAGE) {
		error_set(&named, err->kind, NULL);
		error_cause(&named, "%s cannot be opened: %s", path, err->cause);
	} else {
		error_set(&named, err->kind, "%s cannot be opened: %s", path, err->cause);
	}
	error_release(err);
	error_move(err, &named);
	return NULL;
}
