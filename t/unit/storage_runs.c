/* SPDX-License-Identifier: ISC */
/* Records of runs, on each engine. */
#include "base/os/clock.h"
#include "storage/runs.h"

#include "storage_fixture.h"

static struct storage *st;
static struct error err;

static struct run_record begun(const char *run_id, int64_t at)
{
	return (struct run_record){.run_id = run_id,
	    .status = RUN_RUNNING,
	    .created_at = at,
	    .node = "START",
	    .keep = st->runs_keep};
}

static bool write_run(struct thread *t, struct run_record *r, size_t messages)
{
	char body[4][256], id[4][32];
	struct new_message m[4];
	struct thread_write w = {.thread = t, .messages = m, .message_count = messages, .run = r};
	for (size_t i = 0; i < messages; i++) {
		snprintf(id[i], sizeof(id[i]), "%s-%s-%zu", r->run_id,
		    r->status == RUN_RUNNING ? "in" : "out", i);
		m[i] = sample_message(id[i], body[i]);
	}
	t->run_id = r->run_id;
	t->updated_at = r->finished_at ? r->finished_at : r->created_at;
	t->status = r->status;
	return write_one(st, &w, &err);
}

/* A run that began and ended, in two writes: it was given one message and made two. */
static struct run_record run_whole(struct thread *t, const char *run_id, int64_t at)
{
	struct run_record r = begun(run_id, at);
	r.brought = 1;
	CU_ASSERT_TRUE_FATAL(write_run(t, &r, 1));
	r.status = RUN_COMPLETED;
	r.finished_at = at + 5;
	r.node = "END";
	r.step = 2;
	r.usage = (struct run_usage){1, 2, 3, 6};
	CU_ASSERT_TRUE_FATAL(write_run(t, &r, 2));
	return r;
}

/* Its last chunks may be still to come. */
static void a_run_is_over_when_its_end_is_on_disk(void)
{
	struct thread t = sample_thread("ends");
	struct run_record r = begun("r1", 1000);
	struct thread_write w = {.thread = &t, .run = &r};
	struct lease *lease = hold(st, "ends");
	bool running, stop, held;
	t.run_id = "r1";
	t.status = RUN_RUNNING;
	CU_ASSERT_TRUE(st->threads->lease_run(st, NULL, lease, "r1", &err));
	CU_ASSERT_TRUE(thread_write(st, NULL, lease, &w, &err));
	CU_ASSERT_TRUE(st->threads->lease_running(st, NULL, "ends", &running, &stop, &err));
	CU_ASSERT_TRUE(running);
	t.status = r.status = RUN_COMPLETED;
	CU_ASSERT_TRUE(thread_write(st, NULL, lease, &w, &err));
	CU_ASSERT_TRUE(st->threads->lease_running(st, NULL, "ends", &running, &stop, &err));
	CU_ASSERT_FALSE(running);
	CU_ASSERT_TRUE(st->threads->lease_held(st, NULL, "ends", &held, &err));
	CU_ASSERT_TRUE(held);
	let_go(st, lease);
	CU_ASSERT_TRUE(st->threads->lease_held(st, NULL, "ends", &held, &err));
	CU_ASSERT_FALSE(held);
}

static bool read_run(
    struct arena *a, const char *thread_id, const char *run_id, struct run_record *r)
{
	bool found = st->runs->get(st, NULL, a, thread_id, run_id, r, &err);
	CU_ASSERT_FALSE(error_is_set(&err));
	return found;
}

static bool collect_run(void *arg, const struct run_record *record)
{
	return add_id(arg, record->run_id);
}

static const char *runs_of(const char *owner, const char *thread_id, unsigned statuses, int most)
{
	static struct id_list list;
	const struct record_filter filter = {owner, thread_id, statuses};
	list = (struct id_list){.left = most};
	CU_ASSERT_TRUE(st->runs->list(st, NULL, &filter, collect_run, &list, &err));
	return list.text;
}

static void a_record_comes_back_as_it_was_written(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("whole");
	struct run_record r, back;
	t.created_at = 1000;
	r = run_whole(&t, "r1", 1000);
	CU_ASSERT(r.number > 0);
	CU_ASSERT_TRUE_FATAL(read_run(a, "whole", "r1", &back));
	CU_ASSERT_EQUAL(back.number, r.number);
	CU_ASSERT_STRING_EQUAL(back.run_id, "r1");
	CU_ASSERT_STRING_EQUAL(back.thread_id, "whole");
	CU_ASSERT_EQUAL(back.thread_row, t.row);
	CU_ASSERT_EQUAL(back.status, RUN_COMPLETED);
	CU_ASSERT_EQUAL(back.created_at, 1000);
	CU_ASSERT_EQUAL(back.finished_at, 1005);
	CU_ASSERT_STRING_EQUAL(back.node, "END");
	CU_ASSERT_EQUAL(back.step, 2);
	CU_ASSERT(back.usage.prompt == 1 && back.usage.completion == 2);
	CU_ASSERT(back.usage.reasoning == 3 && back.usage.total == 6);
	CU_ASSERT_PTR_NULL(back.error_json);
	CU_ASSERT_TRUE(back.new_thread);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_GIVEN), "r1-in-0 ");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_MADE), "r1-out-0 r1-out-1 ");
	CU_ASSERT_FALSE(read_run(a, "whole", "r2", &back));
	CU_ASSERT_FALSE(read_run(a, "other", "r1", &back));
	run_whole(&t, "r2", 2000);
	CU_ASSERT_TRUE_FATAL(read_run(a, "whole", "r2", &back));
	CU_ASSERT_FALSE(back.new_thread);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_MADE), "r2-out-0 r2-out-1 ");
	arena_free(a);
}

static void begin_and_end_go_in_one_write(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("carried"), start;
	struct run_record first = begun("r1", 1000), last = first, back;
	char body[2][256];
	struct new_message in = sample_message("in", body[0]), out = sample_message("out", body[1]);
	struct thread_write begin = {
	    .thread = &start, .messages = &in, .message_count = 1, .run = &first};
	struct thread_write end = {
	    .thread = &t, .messages = &out, .message_count = 1, .run = &last};
	struct deferred *pending = NULL;
	struct lease *lease = hold(st, "carried");
	start = t;
	first.brought = last.brought = 1;
	last.status = RUN_ERROR;
	last.error_json = "{\"code\":\"X\"}";
	thread_defer(st, lease, &begin, &pending);
	CU_ASSERT_TRUE(thread_write_after(st, NULL, lease, &pending, &end, &err));
	let_go(st, lease);
	CU_ASSERT_TRUE_FATAL(read_run(a, "carried", "r1", &back));
	CU_ASSERT_EQUAL(back.status, RUN_ERROR);
	CU_ASSERT_STRING_EQUAL(back.error_json, "{\"code\":\"X\"}");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_GIVEN), "in ");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_MADE), "out ");
	CU_ASSERT_EQUAL(last.number, back.number);
	arena_free(a);
}

static void the_end_follows_a_begin_that_is_on_disk(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("follows"), start = t;
	struct run_record first = begun("r1", 1000), last = first, back;
	struct thread_write begin = {.thread = &start, .run = &first};
	struct thread_write end = {.thread = &t, .run = &last};
	struct deferred *pending = NULL;
	struct lease *lease = hold(st, "follows");
	last.status = RUN_STOPPED;
	thread_defer(st, lease, &begin, &pending);
	for (int i = 0; i < 5000 && !thread_exists(st, "follows", NULL); i++)
		clock_sleep_ms(1);
	CU_ASSERT_TRUE_FATAL(read_run(a, "follows", "r1", &back));
	CU_ASSERT_EQUAL(back.status, RUN_RUNNING);
	CU_ASSERT_TRUE(thread_write_after(st, NULL, lease, &pending, &end, &err));
	let_go(st, lease);
	CU_ASSERT_TRUE_FATAL(read_run(a, "follows", "r1", &back));
	CU_ASSERT_EQUAL(back.status, RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "follows", ~0U, 100), "r1 ");
	arena_free(a);
}

static void the_latest_are_kept(void)
{
	struct thread t = sample_thread("keep"), other = sample_thread("kept");
	st->runs_keep = 2;
	run_whole(&other, "o1", 1);
	run_whole(&t, "r1", 10);
	run_whole(&t, "r2", 20);
	run_whole(&t, "r3", 30);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U, 100), "r3 r2 ");
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "kept", ~0U, 100), "o1 ");
	st->runs_keep = 0;
	run_whole(&t, "r4", 40);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U, 100), "r4 r3 r2 ");
}

static void a_record_takes_the_place_of_another(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("again");
	struct run_record r = run_whole(&t, "r1", 10), next = begun("r1", 30), back;
	run_whole(&t, "r2", 20);
	next.replaces = r.number;
	CU_ASSERT_TRUE(write_run(&t, &next, 0));
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "again", ~0U, 100), "r1 r2 ");
	CU_ASSERT_TRUE_FATAL(read_run(a, "again", "r1", &back));
	CU_ASSERT_EQUAL(back.created_at, 30);
	CU_ASSERT_TRUE(st->runs->remove(st, NULL, &back, &err));
	CU_ASSERT_FALSE(read_run(a, "again", "r1", &back));
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "again", ~0U, 100), "r2 ");
	arena_free(a);
}

static void the_next_run_buries_the_lost_one(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("lost");
	struct run_record lost = begun("r1", 10), next = begun("r2", 20), back;
	t.node = "agent";
	t.step = 3;
	CU_ASSERT_TRUE(write_run(&t, &lost, 0));
	t.node = "START";
	t.step = 0;
	next.buries = true;
	CU_ASSERT_TRUE(write_run(&t, &next, 0));
	CU_ASSERT_TRUE_FATAL(read_run(a, "lost", "r1", &back));
	CU_ASSERT_EQUAL(back.status, RUN_ERROR);
	CU_ASSERT_PTR_NULL(back.error_json);
	CU_ASSERT_STRING_EQUAL(back.node, "agent");
	CU_ASSERT_EQUAL(back.step, 3);
	CU_ASSERT_EQUAL(back.finished_at, 10);
	CU_ASSERT_TRUE_FATAL(read_run(a, "lost", "r2", &back));
	CU_ASSERT_EQUAL(back.status, RUN_RUNNING);
	arena_free(a);
}

static int64_t kept_until(const char *thread_id, const char *run_id)
{
	struct arena *a = arena_new();
	struct run_record r = {0};
	CU_ASSERT_TRUE_FATAL(read_run(a, thread_id, run_id, &r));
	arena_free(a);
	return r.kept_until;
}

static void chunks_are_kept_for_a_while_behind_the_end(void)
{
	struct thread t = sample_thread("kept chunks");
	struct run_record r1 = begun("r1", 10), r2 = begun("r2", 20);
	st->chunks_keep = 1000;
	r1.keeps = true;
	CU_ASSERT_TRUE(write_run(&t, &r1, 0));
	CU_ASSERT_EQUAL(kept_until("kept chunks", "r1"), RUN_KEPT);
	r1.status = RUN_COMPLETED;
	r1.finished_at = 15;
	CU_ASSERT_TRUE(write_run(&t, &r1, 0));
	CU_ASSERT_EQUAL(kept_until("kept chunks", "r1"), 1015);
	CU_ASSERT_TRUE(write_run(&t, &r2, 0));
	CU_ASSERT_EQUAL(kept_until("kept chunks", "r2"), RUN_NOT_KEPT);
	st->chunks_keep = 0;
}

static void what_keeps_chunks_is_trimmed_and_replaced_like_others(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("trimmed chunks");
	struct run_record r = begun("r1", 10), next = begun("r2", 20), back;
	r.keeps = true;
	r.status = next.status = RUN_COMPLETED;
	CU_ASSERT_TRUE(write_run(&t, &r, 0));
	next.replaces = r.number;
	next.run_id = "r1";
	next.keeps = true;
	CU_ASSERT_TRUE(write_run(&t, &next, 0));
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "trimmed chunks", ~0U, 100), "r1 ");
	CU_ASSERT_TRUE_FATAL(read_run(a, "trimmed chunks", "r1", &back));
	CU_ASSERT_EQUAL(back.created_at, 20);
	st->runs_keep = 1;
	run_whole(&t, "r3", 30);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "trimmed chunks", ~0U, 100), "r3 ");
	st->runs_keep = 0;
	arena_free(a);
}

/* Of somebody else, so that other tests do not matter. */
static struct thread carols(const char *thread_id)
{
	struct thread t = sample_thread(thread_id);
	t.user_id = "carol";
	return t;
}

static void runs_of_many_threads_come_newest_first(void)
{
	struct thread a = carols("list-a"), b = carols("list-b"), c = carols("list-c");
	run_whole(&a, "a1", 100);
	run_whole(&b, "b1", 200);
	run_whole(&a, "a2", 300);
	run_whole(&c, "c1", 400);
	run_whole(&b, "b2", 500);
	a.updated_at = 9000; /* a change, but no run */
	must_put(st, &a, NULL);
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, ~0U, 100), "b2 c1 a2 b1 a1 ");
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, ~0U, 2), "b2 c1 ");
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, 1U << RUN_ERROR, 100), "");
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, 1U << RUN_COMPLETED, 1), "b2 ");
	CU_ASSERT_STRING_EQUAL(runs_of("carol", "list-a", ~0U, 100), "a2 a1 ");
	CU_ASSERT_STRING_EQUAL(runs_of("alice", "list-a", ~0U, 100), "");
	CU_ASSERT_STRING_EQUAL(runs_of("nobody", NULL, ~0U, 100), "");
	CU_ASSERT(strstr(runs_of(NULL, NULL, ~0U, 100), "b2 c1 a2 b1 ") != NULL);
}

static void records_go_with_their_thread(void)
{
	struct arena *a = arena_new();
	struct thread t = sample_thread("gone"), next;
	struct run_record back;
	run_whole(&t, "r1", 10);
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_FALSE(read_run(a, "gone", "r1", &back));
	next = sample_thread("gone");
	run_whole(&next, "r2", 20);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "gone", ~0U, 100), "r2 ");
	arena_free(a);
}

/* ---- what it costs ---- */

/* Instructions of SQLite's machine that the statements of this thread took. */
static _Thread_local int64_t steps;

static int add_steps(unsigned event, void *arg, void *statement, void *nanoseconds)
{
	(void)event, (void)arg, (void)nanoseconds;
	steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
	return 0;
}

static int count_steps(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
	(void)message, (void)api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, add_steps, NULL);
}

/* A storage with so many threads of so many runs of a status each, and one thread that has a run of
 * each status. */
static struct storage *open_filled(const char *name, int threads, int runs, enum run_status usual)
{
	static const char *const fill =
	    "BEGIN; CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);"
	    "WITH RECURSIVE m (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM m WHERE i < %d) "
	    "INSERT INTO n SELECT i FROM m;"
	    "INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, "
	    "metadata, last_number, status, stop, node, step, fields) SELECT i, 't' || i, 'bob', i, "
	    "1000000 + i, '', '{}', 0, iif(i = 1, 1, 3), 0, 'END', 0, '{}' FROM n;"
	    "INSERT INTO runs (thread, number, run_id, status, created_at, finished_at, node, "
	    "step, prompt_tokens, completion_tokens, reasoning_tokens, total_tokens, "
	    "messages_after, messages_until, brought) SELECT n.i, m.i, 'r' || m.i, "
	    "iif(n.i = 1 AND m.i <= 6, m.i, %d), 1000 + 10 * n.i + m.i, 0, 'END', 0, 0, 0, 0, 0, 0, 0, 0 "
	    "FROM n, n AS m WHERE n.i <= %d AND m.i <= %d; COMMIT";
	char path[64], sql[2048];
	struct db *db;
	close_storage(open_storage(name));
	snprintf(path, sizeof(path), "%s/threads.db", name);
	snprintf(sql, sizeof(sql), fill, threads > runs ? threads : runs, usual, threads, runs);
	db = sqlite_open(unit_path(path), DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_TRUE(db_script(db, sql, &err));
	db_close(db);
	/* until it is closed, because connections are opened when they are needed */
	sqlite3_auto_extension((void (*)(void))count_steps);
	return open_storage(name);
}

static void close_filled(struct storage *filled)
{
	close_storage(filled);
	sqlite3_cancel_auto_extension((void (*)(void))count_steps);
}

/* Of a listing.  The least of some, as a connection that is used for the first time reads the
 * schema. */
static int64_t user_cost(const char *user, unsigned statuses, const char *expected)
{
	int64_t least = INT64_MAX;
	for (int i = 0; i < 5; i++) {
		steps = 0;
		CU_ASSERT_STRING_EQUAL(runs_of(user, NULL, statuses, 100), expected);
		if (steps < least)
			least = steps;
	}
	return least;
}

/* Of one that finds one run, for everybody, for its owner, and for somebody else. */
static int64_t list_cost(unsigned statuses, const char *expected)
{
	return user_cost(NULL, statuses, expected) + user_cost("bob", statuses, expected) +
	    user_cost("nobody", statuses, "");
}

/* What a status is found by, in a storage that is full of another one. */
static const struct {
	enum run_status usual;
	unsigned statuses;
	const char *found;
} looks[] = {
    {RUN_COMPLETED, 1U << RUN_QUEUED, "r6 "},
    {RUN_COMPLETED, 1U << RUN_RUNNING, "r1 "},
    {RUN_COMPLETED, 1U << RUN_INTERRUPTED, "r2 "},
    {RUN_COMPLETED, 1U << RUN_ERROR | 1U << RUN_RUNNING, "r4 r1 "},
    {RUN_COMPLETED, 1U << RUN_STOPPED, "r5 "},
    {RUN_COMPLETED, 1U << RUN_STOPPED | 1U << RUN_QUEUED | 1U << RUN_ERROR, "r6 r5 r4 "},
    {RUN_ERROR, 1U << RUN_COMPLETED, "r3 "},
    {RUN_QUEUED, 1U << RUN_COMPLETED, "r3 "},
    {RUN_QUEUED, 1U << RUN_COMPLETED | 1U << RUN_STOPPED, "r5 r3 "},
};

#define LOOKS (sizeof(looks) / sizeof(looks[0]))

/* Of all that are looked for where that status is the usual one. */
static void looks_cost(enum run_status usual, int threads, int64_t costs[LOOKS])
{
	struct storage *before = st;
	char name[32];
	snprintf(name, sizeof(name), "%d-threads-%d", threads, usual);
	st = open_filled(name, threads, 6, usual);
	for (size_t i = 0; i < LOOKS; i++) {
		unit_row("statuses %x among %d threads", looks[i].statuses, threads);
		if (looks[i].usual == usual)
			costs[i] = list_cost(looks[i].statuses, looks[i].found);
	}
	close_filled(st);
	st = before;
}

static void a_status_is_found_among_many_threads_at_once(void)
{
	static const enum run_status usual[] = {RUN_COMPLETED, RUN_ERROR, RUN_QUEUED};
	int64_t few[LOOKS], many[LOOKS];
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		looks_cost(usual[i], 100, few);
		looks_cost(usual[i], 10000, many);
	}
	for (size_t i = 0; i < LOOKS; i++) {
		unit_row("statuses %x", looks[i].statuses);
		CU_ASSERT(few[i] > 0 && many[i] < 2 * few[i]);
	}
}

/* Looking for threads that may have failed. */
static int64_t failed_cost(const char *name, int threads)
{
	static const struct thread_filter filter = {
	    .statuses = 1U << RUN_ERROR | 1U << RUN_RUNNING};
	const struct page page = {.limit = 100};
	struct storage *before = st;
	int64_t least = INT64_MAX;
	st = open_filled(name, threads, 1, RUN_COMPLETED);
	for (int i = 0; i < 5; i++) {
		struct id_list list = {.left = 100};
		steps = 0;
		CU_ASSERT_TRUE(
		    st->threads->list(st, NULL, NULL, &page, &filter, collect_thread, &list, &err));
		CU_ASSERT_STRING_EQUAL(list.text, "t1 ");
		if (steps < least)
			least = steps;
	}
	close_filled(st);
	st = before;
	return least;
}

static void threads_that_may_have_failed_are_found_among_many_at_once(void)
{
	int64_t few = failed_cost("failed", 100), many = failed_cost("failed-of-many", 10000);
	CU_ASSERT(few > 0 && many < 2 * few);
}

/* What alice's only run of a common status, the oldest of all, is found by. */
static int64_t own_cost(const char *name, int threads)
{
	struct storage *before = st;
	struct thread t = sample_thread("own");
	struct run_record r = begun("own", 500);
	int64_t cost;
	st = open_filled(name, threads, 1, RUN_ERROR);
	r.status = RUN_ERROR;
	CU_ASSERT_TRUE(write_run(&t, &r, 0));
	cost = user_cost("alice", 1U << RUN_ERROR, "own ");
	close_filled(st);
	st = before;
	return cost;
}

/* Where others have very many, a user's own threads are looked at. */
static void a_common_status_is_looked_for_in_a_users_threads(void)
{
	int64_t few = own_cost("common", 2000), many = own_cost("very-common", 20000);
	CU_ASSERT(few > 0 && many < few + few / 10);
}

struct listed {
	int count;
	int64_t last; /* when it began */
	bool disorder;
};

static bool note_listed(void *arg, const struct run_record *record)
{
	struct listed *l = arg;
	l->disorder |= record->created_at >= l->last;
	l->last = record->created_at;
	l->count++;
	return true;
}

/* More than a page, and more than what is looked at for one user. */
static void a_long_listing_has_each_run_once(void)
{
	static const char *const users[] = {NULL, "bob"};
	struct storage *before = st;
	const struct record_filter all = {.statuses = ~0U};
	st = open_filled("long", 400, 6, RUN_STOPPED);
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		struct record_filter filter = all;
		struct listed listed = {.last = INT64_MAX};
		filter.owner = users[i];
		CU_ASSERT_TRUE(st->runs->list(st, NULL, &filter, note_listed, &listed, &err));
		unit_row("%s", users[i] ? users[i] : "everybody");
		CU_ASSERT_EQUAL(listed.count, 2400);
		CU_ASSERT_FALSE(listed.disorder);
	}
	close_filled(st);
	st = before;
}

/* The least of some, as above. */
static int64_t read_cost(struct arena *a, const char *run_id, bool expected)
{
	int64_t least = INT64_MAX;
	struct run_record r;
	for (int i = 0; i < 5; i++) {
		steps = 0;
		CU_ASSERT_EQUAL(read_run(a, "t1", run_id, &r), expected);
		if (steps < least)
			least = steps;
	}
	return least;
}

/* Reading and submitting a run whose id its client chose. */
static int64_t chosen_cost(const char *name, int runs)
{
	struct storage *before = st;
	struct arena *a = arena_new();
	struct run_job job = {.run_id = "chosen",
	    .body_json = "{}",
	    .caller_json = "{}",
	    .metadata_json = "{}",
	    .created_at = 2000000,
	    .due_at = 2000000};
	enum submit_result result;
	struct thread t;
	int64_t reads, submits;
	st = open_filled(name, 1, runs, RUN_COMPLETED);
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, a, "t1", &t, &err));
	reads = read_cost(a, "chosen", false);
	steps = 0;
	CU_ASSERT_TRUE(st->runs->submit(st, NULL, NULL, &t, &job, &result, &err));
	CU_ASSERT_EQUAL(result, SUBMIT_DONE);
	job.run_id = "r7";
	CU_ASSERT_TRUE(st->runs->submit(st, NULL, NULL, &t, &job, &result, &err));
	CU_ASSERT_EQUAL(result, SUBMIT_KNOWN);
	submits = steps;
	reads += read_cost(a, "chosen", true) + read_cost(a, "r7", true);
	close_filled(st);
	st = before;
	arena_free(a);
	return reads + submits;
}

static void a_chosen_id_costs_no_look_at_all_of_a_thread(void)
{
	int64_t few = chosen_cost("few-runs", 100), many = chosen_cost("many-runs", 10000);
	CU_ASSERT(few > 0 && many < 2 * few);
}

/* Ids like those that the server makes. */
static void a_made_id_is_found_as_well(void)
{
	static const char *const ids[] = {"0198f5b2-7c11-7aa0-8000-6d2a5b3c9e01", "17231", "r1"};
	struct thread t = sample_thread("made");
	struct arena *a = arena_new();
	struct run_record r;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		unit_row("%s", ids[i]);
		CU_ASSERT_FALSE(read_run(a, "made", ids[i], &r));
		r = begun(ids[i], 100 * (int64_t)(i + 1));
		r.status = RUN_COMPLETED;
		CU_ASSERT_TRUE(write_run(&t, &r, 0));
		CU_ASSERT_TRUE(read_run(a, "made", ids[i], &r));
	}
	arena_free(a);
}

static void every_statement_was_used(void)
{
	check_statements("runs");
}

static const struct unit_test of_any_engine[] = {
    {"a record comes back as it was written", a_record_comes_back_as_it_was_written},
    {"begin and end go in one write", begin_and_end_go_in_one_write},
    {"the end follows a begin that is on disk", the_end_follows_a_begin_that_is_on_disk},
    {"a run is over when its end is on disk", a_run_is_over_when_its_end_is_on_disk},
    {"the latest are kept", the_latest_are_kept},
    {"a record takes the place of another", a_record_takes_the_place_of_another},
    {"the next run buries the lost one", the_next_run_buries_the_lost_one},
    {"chunks are kept for a while behind the end", chunks_are_kept_for_a_while_behind_the_end},
    {"what keeps chunks is trimmed and replaced like others",
	what_keeps_chunks_is_trimmed_and_replaced_like_others},
    {"runs of many threads come newest first", runs_of_many_threads_come_newest_first},
    {"records go with their thread", records_go_with_their_thread},
    {"a made id is found as well", a_made_id_is_found_as_well},
};

static const struct unit_test of_sqlite[] = {
    {"a status is found among many threads at once", a_status_is_found_among_many_threads_at_once},
    {"threads that may have failed are found among many at once",
	threads_that_may_have_failed_are_found_among_many_at_once},
    {"a common status is looked for in a user's threads",
	a_common_status_is_looked_for_in_a_users_threads},
    {"a long listing has each run once", a_long_listing_has_each_run_once},
    {"a chosen id costs no look at all of a thread", a_chosen_id_costs_no_look_at_all_of_a_thread},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	return storage_main_on(&st, "storage_runs", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
}
