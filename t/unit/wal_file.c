/* SPDX-License-Identifier: ISC */
/*
 * What our access to the log leaves in the files, seen with SQLite's own: by other connections, and
 * by who finds the files after the process has died, which is what a copy of them is.
 */
#include "storage/sqlite/sqlite_db.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct error err;

static void run(sqlite3 *db, const char *sql)
{
	char *message = NULL;
	CU_ASSERT_EQUAL(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK);
	if (message)
		printf("# %s: %s\n", sql, message);
	sqlite3_free(message);
}

/* The first column of the only row; -1: there is an error. */
static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t value = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static bool is_whole(sqlite3 *db)
{
	return number(db,
		   "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") == 1;
}

/* ---- databases ---- */

static struct db *open_ours(const char *name)
{
	struct db *db;
	int fd = open(unit_path(name), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	close(fd);
	db = sqlite_open(unit_path(name), DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	return db;
}

/* A table whose rows take a third of a page, in a cache of ten pages, so that much is written
 * before a transaction commits. */
static struct db *make_ours(const char *name)
{
	struct db *db = open_ours(name);
	run(sqlite_db_of(db)->handle,
	    "PRAGMA journal_mode = WAL; PRAGMA cache_size = 10;"
	    "CREATE TABLE t (id INTEGER PRIMARY KEY, value INTEGER NOT NULL, filling BLOB);");
	return db;
}

static sqlite3 *open_own(const char *name)
{
	sqlite3 *db = NULL;

	CU_ASSERT_EQUAL(
	    sqlite3_open_v2(unit_path(name), &db, SQLITE_OPEN_READWRITE, "unix"), SQLITE_OK);
	sqlite3_busy_timeout(db, 5000);
	return db;
}

static void copy_file(const char *from, const char *to, const char *suffix)
{
	char command[1024], source[400];
	snprintf(source, sizeof(source), "%s%s", unit_path(from), suffix);
	snprintf(command, sizeof(command), "cp %s %s%s", source, unit_path(to), suffix);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* What is found after a crash: the log has to be read again, as its index is gone. */
static sqlite3 *open_after_crash(const char *name)
{
	copy_file(name, "crashed", "");
	copy_file(name, "crashed", "-wal");
	unlink(unit_path("crashed-shm"));
	return open_own("crashed");
}

static void insert(sqlite3 *db, int64_t first, int64_t count)
{
	char sql[300];
	snprintf(sql, sizeof(sql),
	    "WITH RECURSIVE n (i) AS (SELECT %" PRId64
	    " UNION ALL SELECT i + 1 FROM n LIMIT %" PRId64 ")"
	    "INSERT INTO t SELECT i, i, zeroblob(1300) FROM n",
	    first, count);
	run(db, sql);
}

#define SUM "SELECT count(*) * 1000000 + coalesce(sum(value), 0) FROM t"

/* Both others see what this connection sees outside of a transaction. */
static void is_seen_by_all(const char *name, struct db *db)
{
	int64_t sum = number(sqlite_db_of(db)->handle, SUM);
	sqlite3 *other = open_own(name), *later;

	CU_ASSERT_EQUAL(number(other, SUM), sum);
	CU_ASSERT_TRUE(is_whole(other));
	later = open_after_crash(name);
	CU_ASSERT_EQUAL(number(later, SUM), sum);
	CU_ASSERT_TRUE(is_whole(later));
	sqlite3_close(later);
	sqlite3_close(other);
}

/* ---- facts ---- */

/* Calls that write, of this process so far. */
static int64_t writes_so_far(void)
{
	char line[64];
	int64_t count = -1;
	FILE *f = fopen("/proc/self/io", "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "syscw: %" SCNd64, &count);
	fclose(f);
	return count;
}

static void a_commit_is_written_in_one_piece(void)
{
	struct db *db = make_ours("pieces");
	sqlite3 *handle = sqlite_db_of(db)->handle;
	int64_t before;

	run(handle, "PRAGMA cache_size = 1000");
	insert(handle, 1, 30);
	before = writes_so_far();
	run(handle, "UPDATE t SET value = value + 1");
	CU_ASSERT_EQUAL(writes_so_far() - before, 1);
	before = writes_so_far();
	insert(handle, 100, 1000); /* of 330 pages, 31 at once */
	CU_ASSERT(writes_so_far() - before < 20);
	is_seen_by_all("pieces", db);
	db_close(db);
}

static void what_was_written_before_the_commit_is_kept(void)
{
	struct db *db = make_ours("spilled");
	sqlite3 *handle = sqlite_db_of(db)->handle;

	insert(handle, 1, 100);
	run(handle, "BEGIN");
	insert(handle, 1000, 200);
	run(handle, "UPDATE t SET value = value + 7"); /* pages that are in the log already */
	run(handle, "UPDATE t SET value = value * 3 WHERE id % 10 = 0");
	run(handle, "COMMIT");
	is_seen_by_all("spilled", db);
	db_close(db);
}

static void what_a_savepoint_takes_back_is_not_kept(void)
{
	struct db *db = make_ours("savepoint");
	sqlite3 *handle = sqlite_db_of(db)->handle;

	insert(handle, 1, 100);
	run(handle, "BEGIN");
	insert(handle, 1000, 100);
	run(handle, "SAVEPOINT s");
	insert(handle, 2000, 300);
	run(handle, "UPDATE t SET value = 1");
	run(handle, "ROLLBACK TO s");
	insert(handle, 3000, 40);
	run(handle, "COMMIT");
	CU_ASSERT_EQUAL(number(handle, "SELECT count(*) FROM t"), 240);
	is_seen_by_all("savepoint", db);
	db_close(db);
}

/* A page each, of the first 60 rows. */
static void change_pages(sqlite3 *db, int count)
{
	char sql[100];
	for (int i = 0; i < count; i++) {
		snprintf(sql, sizeof(sql), "UPDATE t SET value = -1 WHERE id = %d", 1 + 3 * i);
		run(db, sql);
	}
}

/* What the first one had written of it would be written over what the second one did. */
static void what_was_rolled_back_does_not_come_later(void)
{
	struct db *first = make_ours("rolled-back"), *second = open_ours("rolled-back");
	sqlite3 *handle = sqlite_db_of(first)->handle;

	insert(handle, 1, 60);
	for (int count = 5; count <= 20; count++) {
		run(handle, "BEGIN");
		change_pages(handle, count);
		run(handle, "ROLLBACK");
		insert(sqlite_db_of(second)->handle, 1000 * count, 50);
		run(handle, "UPDATE t SET value = value + 1 WHERE id = 1");
		is_seen_by_all("rolled-back", first);
	}
	is_seen_by_all("rolled-back", second);
	db_close(second);
	db_close(first);
}

static void a_log_begins_anew(void)
{
	struct db *db = make_ours("anew");
	sqlite3 *handle = sqlite_db_of(db)->handle;

	for (int i = 0; i < 6; i++) {
		insert(handle, 1000 * i, 50);
		sqlite3_wal_checkpoint_v2(handle, NULL,
		    i % 2 ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		insert(handle, 1000 * i + 500, 3);
		is_seen_by_all("anew", db);
	}
	run(handle, "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 100000");
	insert(handle, 10000, 50);
	is_seen_by_all("anew", db);
	db_close(db);
}

static void a_database_may_have_other_pages(void)
{
	struct db *db = open_ours("pages");
	sqlite3 *handle = sqlite_db_of(db)->handle;

	for (int size = 512; size <= 65536; size *= 2) {
		char sql[100];
		snprintf(
		    sql, sizeof(sql), "PRAGMA journal_mode = DELETE; PRAGMA page_size = %d;", size);
		run(handle, sql);
		run(handle,
		    "VACUUM; PRAGMA journal_mode = WAL; PRAGMA cache_size = 10;"
		    "DROP TABLE IF EXISTS t;"
		    "CREATE TABLE t (id INTEGER PRIMARY KEY, value INTEGER NOT NULL, filling BLOB);");
		insert(handle, 1, 300);
		CU_ASSERT_EQUAL(number(handle, "PRAGMA page_size"), size);
		is_seen_by_all("pages", db);
	}
	db_close(db);
}

/* ---- bad days ---- */

/* There is no database open here then. */
static pid_t forked(int (*fn)(int), int arg)
{
	pid_t child = fork();
	if (child == 0)
		_exit(fn(arg));
	return child;
}

static void limit_file_size(rlim_t size)
{
	struct rlimit limit;
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* Whether all that is said to have failed is not there, also after a crash, and goes on later. */
static int fill_the_disk(int unused)
{
	int64_t stored = 0;
	struct db *db = make_ours("full");
	sqlite3 *handle = sqlite_db_of(db)->handle;

	(void)unused;
	signal(SIGXFSZ, SIG_IGN);
	for (rlim_t limit = 150000; limit < 160000; limit += 999) {
		limit_file_size(limit);
		while (sqlite3_exec(handle,
			   "INSERT INTO t (value, filling) VALUES (1, zeroblob(1300))", NULL, NULL,
			   NULL) == SQLITE_OK)
			stored++;
		/* a statement fails in the midst of what goes on */
		sqlite3_exec(handle, "BEGIN", NULL, NULL, NULL);
		sqlite3_exec(handle, "UPDATE t SET value = 5", NULL, NULL, NULL);
		sqlite3_exec(handle, "INSERT INTO t (value, filling) VALUES (1, zeroblob(200000))",
		    NULL, NULL, NULL);
		limit_file_size(RLIM_INFINITY);
		if (!sqlite3_get_autocommit(handle))
			sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
		sqlite3 *later = open_after_crash("full");
		if (number(later, SUM) != stored * 1000001 || !is_whole(later))
			return 1;
		sqlite3_close(later);
	}
	if (stored == 0 || number(handle, SUM) != stored * 1000001)
		return 2;
	insert(handle, 100000, 100);
	sqlite3 *later = open_after_crash("full");
	bool ok = number(later, SUM) == number(handle, SUM) && is_whole(later);
	sqlite3_close(later);
	db_close(db);
	return ok ? 0 : 3;
}

static void a_commit_without_room_fails_and_is_nowhere(void)
{
	int status = -1;
	waitpid(forked(fill_the_disk, 0), &status, 0);
	CU_ASSERT_EQUAL(status, 0);
}

/* Says what it has committed, and is killed. */
static int write_on(int out)
{
	struct db *db = open_ours("killed");
	sqlite3 *handle = sqlite_db_of(db)->handle;

	sqlite3_exec(handle, "PRAGMA cache_size = 10", NULL, NULL, NULL);
	for (;;) {
		int64_t next = number(handle, "SELECT coalesce(max(id), 0) + 1 FROM t");
		insert(handle, next, 1 + next % 90);
		next += next % 90;
		if (write(out, &next, sizeof(next)) != sizeof(next))
			return 1;
	}
}

static void who_is_killed_has_committed_what_it_said(void)
{
	db_close(make_ours("killed"));
	for (int i = 0; i < 12; i++) {
		int64_t said = 0, next;
		int ends[2], status;
		CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
		pid_t child = forked(write_on, ends[1]);
		close(ends[1]);
		for (int k = 0; k <= i * 3; k++)
			CU_ASSERT_EQUAL(read(ends[0], &said, sizeof(said)), sizeof(said));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		while (read(ends[0], &next, sizeof(next)) == sizeof(next))
			said = next;
		close(ends[0]);
		sqlite3 *other = open_own("killed");
		CU_ASSERT(number(other, "SELECT max(id) FROM t") >= said);
		CU_ASSERT_EQUAL(number(other, "SELECT max(id) - count(*) FROM t"), 0);
		CU_ASSERT_TRUE(is_whole(other));
		sqlite3_close(other);
	}
}

/* All rows have one number at any time, and it never falls. */
static int read_on(int go)
{
	int64_t before = 0, now = 0;
	char byte;
	if (read(go, &byte, 1) != 1)
		return 1;
	sqlite3 *db = open_own("read");
	while (now < 300) {
		now = number(db, "SELECT iif(max(value) = min(value), min(value), -1) FROM t");
		if (now < before)
			return 2;
		before = now;
	}
	return is_whole(db) ? 0 : 3;
}

static void another_process_reads_what_is_committed(void)
{
	int ends[2], status = -1;
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	pid_t child = forked(read_on, ends[0]);
	struct db *db = make_ours("read");
	sqlite3 *handle = sqlite_db_of(db)->handle;
	insert(handle, 1, 60);
	run(handle, "UPDATE t SET value = 1");
	CU_ASSERT_EQUAL(write(ends[1], "", 1), 1);
	for (int i = 0; i < 300; i++) {
		run(handle, "UPDATE t SET value = value + 1");
		if (i % 50 == 0)
			sqlite3_wal_checkpoint_v2(
			    handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	}
	waitpid(child, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	db_close(db);
	close(ends[0]);
	close(ends[1]);
}

/* A group has up to 64 writes, each of which changes some pages that are its own. */
static void what_a_group_changes_waits_for_its_commit(void)
{
	struct db *db = open_ours("group");
	sqlite3 *handle = sqlite_db_of(db)->handle;
	int spilled = -1, highest;

	run(handle,
	    "PRAGMA journal_mode = WAL;"
	    "CREATE TABLE t (id INTEGER PRIMARY KEY, value INTEGER NOT NULL, filling BLOB);");
	insert(handle, 1, 64 * 10 * 3);
	CU_ASSERT(number(handle, "PRAGMA page_count") > 64 * 10);
	sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_SPILL, &spilled, &highest, 1);
	run(handle, "BEGIN; UPDATE t SET value = 1; UPDATE t SET value = 2; COMMIT");
	sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_SPILL, &spilled, &highest, 0);
	CU_ASSERT_EQUAL(spilled, 0);
	db_close(db);
}

static const struct unit_test tests[] = {
    {"a commit is written in one piece", a_commit_is_written_in_one_piece},
    {"what was written before the commit is kept", what_was_written_before_the_commit_is_kept},
    {"what a savepoint takes back is not kept", what_a_savepoint_takes_back_is_not_kept},
    {"what was rolled back does not come later", what_was_rolled_back_does_not_come_later},
    {"a log begins anew", a_log_begins_anew},
    {"a database may have other pages", a_database_may_have_other_pages},
    {"a commit without room fails and is nowhere", a_commit_without_room_fails_and_is_nowhere},
    {"who is killed has committed what it said", who_is_killed_has_committed_what_it_said},
    {"another process reads what is committed", another_process_reads_what_is_committed},
    {"what a group changes waits for its commit", what_a_group_changes_waits_for_its_commit},
};

int main(void)
{
	return unit_main("wal_file", tests, UNIT_COUNT(tests));
}
