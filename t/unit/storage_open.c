/* SPDX-License-Identifier: ISC */
/* Opening a storage: new, damaged, of another version. */
#include "storage/sqlite/sqlite_db.h"
#include "storage_fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct error err;

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	fputs(text, f);
	fclose(f);
}

static unsigned mode_of(const char *name)
{
	struct stat info;
	return stat(unit_path(name), &info) == 0 ? info.st_mode & 0777 : 0;
}

static void a_new_state_directory_is_private(void)
{
	mode_t before = umask(0);
	struct storage *st = open_storage("fresh/deep/state");
	struct thread t = sample_thread("t");
	must_put(st, &t, "m");
	CU_ASSERT_EQUAL(mode_of("fresh/deep/state"), 0700);
	CU_ASSERT_EQUAL(mode_of("fresh/deep/state/threads.db"), 0600);
	CU_ASSERT_EQUAL(mode_of("fresh/deep/state/threads.db-wal"), 0600);
	CU_ASSERT_EQUAL(mode_of("fresh/deep/state/threads.db-shm"), 0600);
	close_storage(st);
	umask(before);
}

static void what_was_written_is_there_after_a_restart(void)
{
	struct storage *st = open_storage("restart");
	struct thread t = sample_thread("kept");
	must_put(st, &t, "m1");
	close_storage(st);
	st = open_storage("restart");
	CU_ASSERT_TRUE(thread_exists(st, "kept", NULL));
	must_put(st, &t, "m2");
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "m1 m2 ");
	close_storage(st);
}

static void a_deferred_write_is_on_disk_after_closing(void)
{
	struct storage *st = open_storage("closing");
	struct thread t = sample_thread("last-moment");
	struct thread_write w = {.thread = &t};
	struct deferred *pending;
	struct lease *lease = hold(st, t.thread_id);
	thread_defer(st, lease, &w, &pending);
	CU_ASSERT_TRUE(thread_flush(st, NULL, &pending, &err));
	let_go(st, lease);
	close_storage(st);
	st = open_storage("closing");
	CU_ASSERT_TRUE(thread_exists(st, "last-moment", NULL));
	close_storage(st);
}

static void a_database_that_no_engine_has_is_refused_by_key(void)
{
	struct config config = {.path = (char *)"a.json",
	    .state_dir = (char *)unit_path("chosen"),
	    .database = (char *)"mysql://u:secret@h/d"};
	CU_ASSERT_PTR_NULL(try_open_with(&config, &err));
	CU_ASSERT_STRING_EQUAL(err.detail,
	    "a.json: database: expected a URL of a database that can be had here (sqlite: or "
	    "postgresql:), found mysql:");
	error_release(&err);
	static const char *const others[] = {"secret", "secret@h:5432/d"};
	for (size_t i = 0; i < 2; i++) {
		config.env.database_url = config.database = (char *)others[i];
		CU_ASSERT_PTR_NULL(try_open_with(&config, &err));
		CU_ASSERT_STRING_EQUAL(err.detail,
		    "DATABASE_URL: expected a URL of a database that can be had here (sqlite: or "
		    "postgresql:), found no URL");
		error_release(&err);
	}
	config.database = (char *)"sqlite:/elsewhere";
	CU_ASSERT_PTR_NULL(try_open_with(&config, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "expected sqlite: alone"));
	error_release(&err);
	config.database = (char *)"sqlite:";
	struct storage *st = try_open_with(&config, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(st);
	CU_ASSERT_PTR_EQUAL(st->engine, &sqlite_engine);
	close_storage(st);
}

static void run_script(const char *name, const char *sql)
{
	struct db *db = sqlite_open(unit_path(name), DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_TRUE(db_script(db, sql, &err));
	db_close(db);
}

static void calls_that_waited_before_the_table_of_calls_are_found(void)
{
	struct arena *a = arena_new();
	const char *id = NULL;
	make_old("older",
	    "INSERT INTO threads VALUES (1, 'waits', 'alice', 0, 0, '', '{}', 0, NULL, 0, 0, "
	    "'START', NULL, 0, NULL, "
	    "'{\"message_id\":\"m\",\"calls\":[{\"id\":\"c1\"},{\"id\":\"c2\"}]}', NULL, '{}')");
	struct storage *st = open_storage("older");
	CU_ASSERT_TRUE(st->threads->waiting(st, NULL, a, "alice", "c2", &id, &err));
	CU_ASSERT_STRING_EQUAL(id ? id : "none", "waits");
	close_storage(st);
	arena_free(a);
}

static bool count_thread(void *arg, const struct thread *t)
{
	++*(int *)arg;
	return t != NULL;
}

static void what_metadata_said_before_the_table_of_labels_is_found(void)
{
	const struct label label = {"resumption_handle", "h'1"};
	const struct thread_filter filter = {.labels = &label, .count = 1};
	int count = 0;
	make_old("unlabelled",
	    "INSERT INTO threads SELECT 1, 'said', 'alice', 0, 0, '', "
	    "'{\"resumption_handle\":\"h''1\",\"other\":{\"a\":\"b\"}}', 0, NULL, 0, 0, 'START', "
	    "NULL, 0, NULL, NULL, NULL, '{}'");
	struct storage *st = open_storage("unlabelled");
	CU_ASSERT_TRUE(st->threads->list(
	    st, NULL, "alice", &(struct page){.limit = 9}, &filter, count_thread, &count, &err));
	CU_ASSERT_EQUAL(count, 1);
	close_storage(st);
}

static void a_newer_database_is_refused_by_name_and_version(void)
{
	struct storage *st = open_storage("newer");
	close_storage(st);
	run_script("newer/threads.db", "PRAGMA user_version = 99");
	CU_ASSERT_PTR_NULL(try_open("newer", &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "newer/threads.db has schema version 99"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "up to 19"));
	error_release(&err);
	run_script("newer/threads.db", "PRAGMA user_version = 19");
	st = open_storage("newer");
	close_storage(st);
}

static void a_file_that_is_no_database_is_refused_by_name(void)
{
	CU_ASSERT_EQUAL(mkdir(unit_path("nodb"), 0700), 0);
	write_file(unit_path("nodb/threads.db"),
	    "This is no database, but it is long enough to be looked at as if it were one, and so "
	    "SQLite has to say what it thinks of it.");
	CU_ASSERT_PTR_NULL(try_open("nodb", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "nodb/threads.db"));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "not a database"));
	error_release(&err);
}

/* Overwrites the first page of every table and index. */
static void damage(const char *path)
{
	struct db *db = sqlite_open(path, DB_READ, &err);
	off_t pages[64], count = 0;
	sqlite3_stmt *roots;
	char junk[4096];
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_EQUAL_FATAL(
	    sqlite3_prepare_v2(sqlite_db_of(db)->handle,
		"SELECT rootpage FROM sqlite_schema WHERE rootpage > 0", -1, &roots, NULL),
	    SQLITE_OK);
	while (count < 64 && sqlite3_step(roots) == SQLITE_ROW)
		pages[count++] = sqlite3_column_int64(roots, 0);
	sqlite3_finalize(roots);
	db_close(db);
	CU_ASSERT_FATAL(count > 0);
	memset(junk, 0xa5, sizeof(junk));
	fd = open(path, O_WRONLY);
	for (off_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL(pwrite(fd, junk, sizeof(junk), (pages[i] - 1) * 4096), 4096);
	close(fd);
}

static void damaged_pages_are_an_error_and_no_crash(void)
{
	struct storage *st = open_storage("damaged");
	struct thread t = sample_thread("t"), other = sample_thread("u");
	struct arena *a = arena_new();
	must_put(st, &t, "m1");
	close_storage(st);
	damage(unit_path("damaged/threads.db"));
	st = open_storage("damaged");
	CU_ASSERT_FALSE(st->threads->get(st, NULL, a, "t", &t, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	CU_ASSERT_STRING_EQUAL(err.detail, "An error occurred accessing storage.");
	CU_ASSERT_PTR_NOT_NULL(strstr(err.cause, "malformed"));
	error_release(&err);
	CU_ASSERT_FALSE(put(st, &other, "m1", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
	close_storage(st);
	arena_free(a);
}

/* Runs fn in a child that is not root, where it would be: permissions do not bind root.  Its result
 * is what exit gets. */
static int as_somebody(int (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(100);
		_exit(fn());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static int try_read_only(void)
{
	struct storage *st = try_open("readonly", &err);
	if (st)
		return 1;
	if (!strstr(err.detail, "readonly/threads.db cannot be written"))
		printf("# %s\n", err.detail);
	return strstr(err.detail, "readonly/threads.db cannot be written") ? 0 : 2;
}

static void a_database_that_was_moved_is_not_written(void)
{
	struct storage *st = open_storage("moved");
	struct thread t = sample_thread("t");
	must_put(st, &t, "m");
	CU_ASSERT_EQUAL_FATAL(rename(unit_path("moved"), unit_path("moved.gone")), 0);
	CU_ASSERT_FALSE(put(st, &t, "m1", &err));
	CU_ASSERT_EQUAL(error_status(err.kind), 500);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.cause, "moved/threads.db was removed or moved"));
	error_release(&err);
	CU_ASSERT_EQUAL_FATAL(rename(unit_path("moved.gone"), unit_path("moved")), 0);
	must_put(st, &t, "m2");
	close_storage(st);
}

static void a_database_that_cannot_be_written_is_refused_by_name(void)
{
	struct storage *st = open_storage("readonly");
	close_storage(st);
	chmod(unit_dir(), 0755);
	chmod(unit_path("readonly"), 0777);
	chmod(unit_path("readonly/shared"), 0666);
	chmod(unit_path("readonly/shared.lock"), 0666);
	chmod(unit_path("readonly/processes"), 0666);
	chmod(unit_path("readonly/threads.db"), 0444);
	CU_ASSERT_EQUAL(as_somebody(try_read_only), 0);
}

static void a_state_directory_that_cannot_be_made_is_named(void)
{
	write_file(unit_path("file"), "");
	CU_ASSERT_PTR_NULL(try_open("file/state", &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "file/state"));
	error_release(&err);
}

static int open_and_put(const char *id)
{
	struct storage *st = try_open("race", &err);
	struct thread t = sample_thread(id);
	if (!st || !put(st, &t, "m", &err)) {
		printf("# %s (%s)\n", err.detail, err.cause);
		return 1;
	}
	close_storage(st);
	return 0;
}

static void many_processes_may_start_at_once(void)
{
	pid_t children[8];
	char id[16];
	int status;
	struct storage *st;
	for (int i = 0; i < 8; i++) {
		snprintf(id, sizeof(id), "p%d", i);
		children[i] = fork();
		if (children[i] == 0)
			_exit(open_and_put(id));
	}
	for (int i = 0; i < 8; i++) {
		waitpid(children[i], &status, 0);
		CU_ASSERT_EQUAL(status, 0);
	}
	st = open_storage("race");
	for (int i = 0; i < 8; i++) {
		snprintf(id, sizeof(id), "p%d", i);
		CU_ASSERT_TRUE(thread_exists(st, id, NULL));
	}
	close_storage(st);
}

static const struct unit_test tests[] = {
    {"a database that no engine has is refused by key",
	a_database_that_no_engine_has_is_refused_by_key},
    {"a new state directory is private", a_new_state_directory_is_private},
    {"what was written is there after a restart", what_was_written_is_there_after_a_restart},
    {"a deferred write is on disk after closing", a_deferred_write_is_on_disk_after_closing},
    {"calls that waited before the table of calls are found",
	calls_that_waited_before_the_table_of_calls_are_found},
    {"what metadata said before the table of labels is found",
	what_metadata_said_before_the_table_of_labels_is_found},
    {"a newer database is refused by name and version",
	a_newer_database_is_refused_by_name_and_version},
    {"a file that is no database is refused by name",
	a_file_that_is_no_database_is_refused_by_name},
    {"damaged pages are an error and no crash", damaged_pages_are_an_error_and_no_crash},
    {"a database that was moved is not written", a_database_that_was_moved_is_not_written},
    {"a database that cannot be written is refused by name",
	a_database_that_cannot_be_written_is_refused_by_name},
    {"a state directory that cannot be made is named",
	a_state_directory_that_cannot_be_made_is_named},
    {"many processes may start at once", many_processes_may_start_at_once},
};

int main(void)
{
	postgresql_skip();
	return unit_main("storage_open", tests, UNIT_COUNT(tests));
}
