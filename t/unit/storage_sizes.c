/* SPDX-License-Identifier: ISC */
/* Large messages, long threads, what becomes of them, and databases of the first schema. */
#include "base/os/clock.h"
#include "storage/sqlite/sqlite_db.h"
#include "storage_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct error err;

/* Of SQLite's files; another engine has none to ask. */
static bool comes_to(const char *name, const char *sql, int64_t wanted)
{
	int64_t deadline = clock_monotonic_ms() + 60000;
	while (!chosen_engine && sqlite_ask(name, sql) != wanted) {
		if (clock_monotonic_ms() > deadline)
			return false;
		clock_sleep_ms(5);
	}
	return true;
}

static void check_sound(const char *name)
{
	if (chosen_engine)
		return;
	CU_ASSERT_EQUAL(sqlite_ask(name,
			    "SELECT count(*) FROM pragma_integrity_check() WHERE "
			    "integrity_check = 'ok'"),
	    1);
	CU_ASSERT_EQUAL(
	    sqlite_ask(
		name, "SELECT count(*) FROM messages WHERE body NOT IN (SELECT row FROM bodies)"),
	    0);
	CU_ASSERT_EQUAL(
	    sqlite_ask(
		name, "SELECT count(*) FROM bodies WHERE row NOT IN (SELECT body FROM messages)"),
	    0);
	CU_ASSERT_EQUAL(
	    sqlite_ask(name,
		"SELECT count(*) FROM threads WHERE message_bytes <> (SELECT "
		"coalesce(sum(length(CAST(b.body AS BLOB))), 0) FROM messages AS m JOIN "
		"bodies AS b ON b.row = m.body WHERE m.thread = threads.row)"),
	    0);
}

/* A new thread with count messages of a size each, in one transaction. */
static struct thread fill(struct storage *st, const char *thread_id, size_t count, size_t size)
{
	struct thread t = sample_thread(thread_id);
	struct new_message *m = calloc(count, sizeof(*m));
	char(*ids)[16] = calloc(count, sizeof(*ids));
	char *body = malloc(size + 3);
	struct thread_write w = {.thread = &t, .messages = m, .message_count = count};
	bool ok;
	snprintf(body, size + 3, "\"%0*d\"", (int)size, 0);
	for (size_t i = 0; i < count; i++) {
		snprintf(ids[i], sizeof(ids[i]), "m%zu", i);
		m[i] = (struct new_message){ids[i], body};
	}
	ok = write_one(st, &w, &err);
	CU_ASSERT_TRUE_FATAL(ok);
	free(body);
	free(ids);
	free(m);
	return t;
}

#define LARGE (9u << 20)

/* Between two messages of nine megabytes this took ten seconds of a processor. */
static void large_messages_do_not_make_their_neighbours_slow(void)
{
	struct storage *st = open_storage("neighbours");
	struct thread before = fill(st, "before", 1, LARGE);
	struct thread small = fill(st, "small", 1000, 1);
	struct thread after = fill(st, "after", 1, LARGE), other = sample_thread("other");
	clock_t start = clock();
	CU_ASSERT_TRUE(remove_one(st, &small, &err));
	must_put(st, &other, "m");
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 1);
	CU_ASSERT_FALSE(thread_exists(st, "small", NULL));
	CU_ASSERT_TRUE(comes_to("neighbours/threads.db", "SELECT count(*) FROM messages", 3));
	CU_ASSERT_TRUE(comes_to("neighbours/threads.db", "SELECT count(*) FROM removed", 0));
	CU_ASSERT((clock() - start) / CLOCKS_PER_SEC < 5);
	CU_ASSERT_STRING_EQUAL(listed(st, before.row, NULL), "m0 ");
	CU_ASSERT_STRING_EQUAL(listed(st, after.row, NULL), "m0 ");
	check_sound("neighbours/threads.db");
	close_storage(st);
}

/* What is left of a removed thread cannot be found, nor get a new owner. */
static void a_long_thread_goes_at_once_and_its_messages_by_and_by(void)
{
	struct storage *st = open_storage("long");
	struct thread t = fill(st, "t", 20000, 100), again = sample_thread("t");
	struct arena *a = arena_new();
	struct message_known known = {"m19999", true, true};
	const char *body = "";
	int64_t count = -1;
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_FALSE(thread_exists(st, "t", NULL));
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "");
	CU_ASSERT_STRING_EQUAL(context_of(st, t.row), "");
	CU_ASSERT_TRUE(thread_message_get(st, NULL, a, t.row, NULL, "m19999", &body, &err));
	CU_ASSERT_PTR_NULL(body);
	CU_ASSERT_TRUE(st->threads->messages_known(st, NULL, t.row, NULL, &known, 1, &err));
	CU_ASSERT_FALSE(known.known || known.in_context);
	CU_ASSERT_TRUE(st->threads->context_count(st, NULL, t.row, NULL, &count, &err));
	CU_ASSERT_EQUAL(count, 0);
	must_put(st, &again, "new");
	CU_ASSERT(again.row > t.row);
	/* the test itself must not come too late */
	CU_ASSERT(
	    chosen_engine || sqlite_ask("long/threads.db", "SELECT count(*) FROM messages") > 1);
	CU_ASSERT_TRUE(comes_to("long/threads.db", "SELECT count(*) FROM messages", 1));
	CU_ASSERT_TRUE(comes_to("long/threads.db", "SELECT count(*) FROM removed", 0));
	CU_ASSERT_STRING_EQUAL(listed(st, again.row, NULL), "new ");
	check_sound("long/threads.db");
	arena_free(a);
	close_storage(st);
}

static void what_a_killed_process_left_goes_with_the_next(void)
{
	struct storage *st = open_storage("killed");
	int status = 0;
	pid_t child;
	fill(st, "t", 20000, 100);
	close_storage(st);
	child = fork();
	if (child == 0) {
		struct thread t = sample_thread("t");
		st = try_open("killed", &err);
		if (st && thread_exists(st, "t", &t.row) && remove_one(st, &t, &err))
			raise(SIGKILL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	CU_ASSERT(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(sqlite_ask("killed/threads.db", "SELECT count(*) FROM removed"), 1);
	CU_ASSERT(sqlite_ask("killed/threads.db", "SELECT count(*) FROM messages") > 0);
	st = open_storage("killed");
	CU_ASSERT_FALSE(thread_exists(st, "t", NULL));
	CU_ASSERT_TRUE(comes_to("killed/threads.db", "SELECT count(*) FROM messages", 0));
	CU_ASSERT_TRUE(comes_to("killed/threads.db", "SELECT count(*) FROM removed", 0));
	check_sound("killed/threads.db");
	close_storage(st);
}

static void bytes_are_counted_as_messages_come_and_go(void)
{
	struct storage *st = open_storage("counted");
	struct thread t = fill(st, "t", 10, 98), back;
	const char *const ids[] = {"m3", "m4", "nobody"};
	struct thread_write w = {.thread = &t, .remove = ids, .remove_count = 3};
	struct arena *a = arena_new();
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "t", &back, &err));
	CU_ASSERT_EQUAL(back.message_bytes, 1000);
	CU_ASSERT_TRUE(write_one(st, &w, &err));
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "t", &back, &err));
	CU_ASSERT_EQUAL(back.message_bytes, 800);
	check_sound("counted/threads.db");
	arena_free(a);
	close_storage(st);
}

/* ---- databases of the first schema ---- */

#define OLD_THREADS                                                                            \
	"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"         \
	"INSERT INTO threads SELECT i, 't' || i, 'alice', 0, 0, '', '{}', 100000, NULL, 0, 0," \
	"	'START', NULL, 0, NULL, NULL, NULL, '{}' FROM n;"

/* In the second thread m1 and m2 have left the context, and m1 is in it again. */
static const char old_messages[] = OLD_THREADS
    "INSERT INTO messages VALUES (1, 1, 1, 'm1', '\"a\"'), (1, 2, 2, 'm2', '\"b\"'),"
    "	(2, 1, 6, 'm1', '\"ä\"'), (2, 2, NULL, 'm2', '\"b\"'), (2, 4, 4, 'm3', '\"c\"'),"
    "	(2, 5, 5, 'm4', '\"d\"'), (3, 1, NULL, 'm1', '\"a\"'), (3, 2, NULL, 'm2', '\"b\"');";

static const char many_messages[] =
    OLD_THREADS "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
		"INSERT INTO messages SELECT 1 + i % 3, i, i, 'm' || i, '\"' || i || '\"' FROM n;";

static void a_database_of_the_first_schema_is_taken_over(void)
{
	struct storage *st;
	int64_t count = -1;
	make_old("old", old_messages);
	st = open_storage("old");
	CU_ASSERT_EQUAL(sqlite_ask("old/threads.db", "PRAGMA user_version"), 19);
	CU_ASSERT_EQUAL(sqlite_ask("old/threads.db",
			    "SELECT count(*) FROM sqlite_schema WHERE name = 'messages_1'"),
	    0);
	CU_ASSERT_STRING_EQUAL(listed(st, 1, NULL), "m1 m2 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, 1), "m1 m2 ");
	CU_ASSERT_STRING_EQUAL(listed(st, 2, NULL), "m1 m2 m3 m4 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, 2), "m3 m4 m1 ");
	CU_ASSERT_STRING_EQUAL(listed(st, 3, NULL), "m1 m2 ");
	CU_ASSERT_STRING_EQUAL(context_of(st, 3), "");
	CU_ASSERT_TRUE(st->threads->context_count(st, NULL, 2, NULL, &count, &err));
	CU_ASSERT_EQUAL(count, 3);
	check_sound("old/threads.db");
	close_storage(st);
}

static void a_move_that_is_killed_goes_on_where_it_was(void)
{
	struct storage *st;
	int status = 1, kills = 0;
	make_old("moving", many_messages);
	for (int ms = 10; !WIFEXITED(status) || WEXITSTATUS(status) != 0; ms += 10) {
		pid_t child = fork();
		if (child == 0)
			_exit(try_open("moving", &err) ? 0 : 1);
		for (int i = 0; i < ms && waitpid(child, &status, WNOHANG) == 0; i++)
			clock_sleep_ms(1);
		if (kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child)
			kills++;
		CU_ASSERT_FATAL(ms < 20000);
	}
	CU_ASSERT(kills > 1);
	st = open_storage("moving");
	CU_ASSERT_EQUAL(sqlite_ask("moving/threads.db", "SELECT count(*) FROM messages"), 60000);
	CU_ASSERT_EQUAL(sqlite_ask("moving/threads.db",
			    "SELECT count(*) FROM messages AS m JOIN bodies AS b ON b.row = m.body "
			    "WHERE b.body = '\"' || m.seq || '\"' AND m.message_id = 'm' || m.seq"),
	    60000);
	check_sound("moving/threads.db");
	close_storage(st);
}

/* What was moved makes room for what comes. */
static void a_move_needs_little_room(void)
{
	static const char long_messages[] = OLD_THREADS
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
	    "INSERT INTO messages SELECT 1, i, i, 'm' || i, '\"' || hex(zeroblob(440)) || '\"' FROM n;";
	struct storage *st;
	int64_t before;
	make_old("room", long_messages);
	before = sqlite_ask("room/threads.db", "PRAGMA page_count");
	st = open_storage("room");
	CU_ASSERT_EQUAL(sqlite_ask("room/threads.db", "SELECT count(*) FROM messages"), 30000);
	CU_ASSERT(sqlite_ask("room/threads.db", "PRAGMA page_count") < before * 3 / 2);
	close_storage(st);
}

/* Before there were branches: in the second thread every tenth message is in the context again, of
 * which 1,000 places are left. */
static const char before_branches[] =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
    "INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, metadata,"
    "	last_number, status, stop, node, step, fields, context_after)"
    "	SELECT i, 't' || i, 'alice', 0, 0, '', '{}', 22000, 3, 0, 'END', 0, '{}',"
    "		CASE i WHEN 2 THEN 21000 ELSE 0 END FROM n;"
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
    "INSERT INTO bodies SELECT i, '\"' || i || '\"' FROM n;"
    "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59999)"
    "INSERT INTO messages (thread, seq, position, message_id, bytes, body)"
    "	SELECT 1 + i / 20000, 1 + i % 20000,"
    "		CASE WHEN i / 20000 = 1 AND i % 10 = 0 THEN 20001 + i % 20000 / 10"
    "			ELSE 1 + i % 20000 END,"
    "		'm' || (1 + i % 20000), length('\"' || (i + 1) || '\"'), i + 1 FROM n;"
    "UPDATE threads SET message_bytes ="
    "	(SELECT sum(bytes) FROM messages WHERE messages.thread = threads.row);";

static bool count_message(void *arg, const char *message_id, const char *body_json)
{
	int64_t *count = arg;
	/* the second half of those that entered again */
	if (*count >= 0 && atoll(message_id + 1) == 10001 + *count * 10 &&
	    atoll(body_json + 1) == 30001 + *count * 10)
		++*count;
	else
		*count = -1;
	return true;
}

static void a_database_without_branches_is_taken_over(void)
{
	struct arena *a = arena_new();
	struct storage *st;
	struct thread t = {0};
	int status = 1, kills = 0;
	int64_t count = 0;
	make_version("before", 9, before_branches);
	for (int ms = 5; !WIFEXITED(status) || WEXITSTATUS(status) != 0; ms += 5 + ms / 4) {
		pid_t child = fork();
		if (child == 0)
			_exit(try_open("before", &err) ? 0 : 1);
		for (int i = 0; i < ms && waitpid(child, &status, WNOHANG) == 0; i++)
			clock_sleep_ms(1);
		if (kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child)
			kills++;
		CU_ASSERT_FATAL(ms < 100000);
	}
	CU_ASSERT(kills > 0);
	st = open_storage("before");
	for (int i = 1; i <= 3; i++) {
		char id[] = {'t', (char)('0' + i), 0};
		CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, id, &t, &err));
		CU_ASSERT_EQUAL(t.view.plain, i != 2);
		CU_ASSERT_EQUAL(t.view.until, 22000);
		CU_ASSERT_TRUE(st->threads->context_count(st, NULL, i, NULL, &count, &err));
		CU_ASSERT_EQUAL(count, i == 2 ? 1000 : 20000);
	}
	count = 0;
	CU_ASSERT_TRUE(st->threads->context(st, NULL, 2, NULL, count_message, &count, &err));
	CU_ASSERT_EQUAL(count, 1000);
	CU_ASSERT_EQUAL(sqlite_ask("before/threads.db",
			    "SELECT count(*) FROM threads WHERE message_count = 20000"),
	    3);
	must_put(st, &t, "new");
	CU_ASSERT_EQUAL(
	    sqlite_ask("before/threads.db", "SELECT message_count FROM threads WHERE row = 3"),
	    20001);
	check_sound("before/threads.db");
	close_storage(st);
	arena_free(a);
}

static void every_statement_of_the_move_was_used(void)
{
	for (size_t i = 0; i < SQL_COUNT; i++) {
		if (strcmp(sql_statements[i].file, "threads-move") != 0)
			continue;
		if (!db_was_used((enum sql_id)i))
			printf("# no test uses %s\n", sql_statements[i].name);
		CU_ASSERT_TRUE(db_was_used((enum sql_id)i));
	}
}

static const struct unit_test of_any_engine[] = {
    {"large messages do not make their neighbours slow",
	large_messages_do_not_make_their_neighbours_slow},
    {"a long thread goes at once and its messages by and by",
	a_long_thread_goes_at_once_and_its_messages_by_and_by},
    {"bytes are counted as messages come and go", bytes_are_counted_as_messages_come_and_go},
};

static const struct unit_test of_sqlite[] = {
    {"what a killed process left goes with the next",
	what_a_killed_process_left_goes_with_the_next},
    {"a database of the first schema is taken over", a_database_of_the_first_schema_is_taken_over},
    {"a move that is killed goes on where it was", a_move_that_is_killed_goes_on_where_it_was},
    {"a move needs little room", a_move_needs_little_room},
    {"a database without branches is taken over", a_database_without_branches_is_taken_over},
    {"every statement of the move was used", every_statement_of_the_move_was_used},
};

int main(void)
{
	return storage_main("storage_sizes", of_any_engine, UNIT_COUNT(of_any_engine), of_sqlite,
	    UNIT_COUNT(of_sqlite), choose_memory);
}
