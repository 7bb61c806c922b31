/* SPDX-License-Identifier: ISC */
/* Trimming by chance: what it leaves is what the thread and the checkpoints that stay show,
 * whatever branches there were. */
#include "base/os/clock.h"
#include "history_fixture.h"
#include "storage/sql/engine.h"
#include "storage/sql/history/checkpoints.h"
#include "storage/sql/sweep.h"

#define ROUNDS 12
#define CHANGES 60
#define KEPT 5 /* checkpoints that stay */

static struct storage *st;
static struct arena *arena;
static uint32_t state_of_chance = 1;

/* From 0 to below. */
static size_t chance(size_t below)
{
	state_of_chance = state_of_chance * 1664525u + 1013904223u;
	return (state_of_chance >> 8) % below;
}

/* Some messages, at the end or from some earlier time on; every text is there once. */
static void change_by_chance(struct thread *t, size_t at)
{
	struct numbers n = numbers_of(st, t, NULL);
	struct thread_write w = {.thread = t, .checkpoint = CHECKPOINT_RUN};
	struct checkpoint to;
	char messages[64], again[16];
	const char *what = messages;
	snprintf(messages, sizeof(messages), "m%zu=%s.%zu n%zu=%s,%zu", at, t->thread_id, at, at,
	    t->thread_id, at);
	snprintf(again, sizeof(again), "~m%zu", at - 1);
	if (n.count && chance(3) == 0) {
		to = checkpoint_at(st, arena, t->thread_id, chance(n.count));
		*t = to.thread;
		w.rewind = &to;
		snprintf(messages, sizeof(messages), "x%zu=%s-%zu", at, t->thread_id, at);
	} else if (at > 0 && chance(4) == 0) {
		what = again;
	}
	if (chance(3) == 0)
		t->summary = arena_printf(arena, "summary %zu", at / 4);
	must_write(st, w, what);
}

/* The number that a query gives, in which ? stands for row. */
static int64_t ask(const char *sql, int64_t row)
{
	struct buf text = {0};
	int64_t value;
	for (; *sql; sql++)
		if (*sql == '?')
			buf_printf(&text, "%lld", (long long)row);
		else
			buf_putc(&text, *sql);
	value = postgresql_wanted() ? postgresql_ask(st, buf_str(&text))
				    : sqlite_ask("state/threads.db", buf_str(&text));
	buf_release(&text);
	return value;
}

/* Another writer than the engine's. */
static struct db *open_beside(struct error *err)
{
	struct db *db = db_open(&engine_of(st)->source, DB_WRITE, err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	return db;
}

static void trim_all(int64_t row)
{
	struct error err = {0};
	struct db *db = open_beside(&err);
	bool last = false;
	int pieces = 0;
	while (!last) {
		CU_ASSERT_TRUE_FATAL(db_begin(db, &err));
		CU_ASSERT_TRUE_FATAL(trim_piece(db, row, KEPT, 3, &last, &err));
		CU_ASSERT_TRUE_FATAL(db_commit(db, &err));
		pieces++;
	}
	CU_ASSERT(pieces > CHANGES / 6);
	db_close(db);
}

/* Adds the texts of a list that are not among those of *all yet. */
static void add_new_words(struct buf *all, size_t *count, const char *text)
{
	char list[8192], *rest, *word;
	snprintf(list, sizeof(list), "%.*s", (int)(strchr(text, '|') - text), text);
	for (word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char bounded[64];
		snprintf(bounded, sizeof(bounded), " %s ", word);
		if (strstr(buf_str(all), bounded))
			continue;
		buf_printf(all, "%s", bounded);
		++*count;
	}
}

static void what_is_shown_stays_and_nothing_else(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct thread t = sample_thread(arena_printf(arena, "t%d", round));
		struct buf words = {0};
		char *before[KEPT + 1];
		size_t count = 0;
		must_write(st, (struct thread_write){.thread = &t}, "first=0");
		for (size_t at = 0; at < CHANGES; at++)
			change_by_chance(&t, at);
		struct numbers n = numbers_of(st, &t, NULL);
		CU_ASSERT_FATAL(n.count >= CHANGES);
		for (size_t i = 0; i < KEPT; i++) {
			struct checkpoint c = checkpoint_at(st, arena, t.thread_id, i);
			before[i] = arena_strdup(arena, shown(st, t.row, &c.thread.view));
			add_new_words(&words, &count, before[i]);
		}
		before[KEPT] = arena_strdup(arena, shown(st, t.row, NULL));
		add_new_words(&words, &count, before[KEPT]);
		trim_all(t.row);

		struct numbers left = numbers_of(st, &t, NULL);
		CU_ASSERT_EQUAL_FATAL(left.count, KEPT);
		for (size_t i = 0; i < KEPT; i++) {
			struct checkpoint c = checkpoint_at(st, arena, t.thread_id, i);
			CU_ASSERT_EQUAL(left.at[i], n.at[i]);
			CU_ASSERT_STRING_EQUAL(shown(st, t.row, &c.thread.view), before[i]);
		}
		CU_ASSERT_STRING_EQUAL(shown(st, t.row, NULL), before[KEPT]);
		CU_ASSERT_EQUAL(
		    ask("SELECT count(*) FROM messages WHERE thread = ?", t.row), (int64_t)count);
		CU_ASSERT_EQUAL(ask("SELECT message_bytes FROM threads WHERE row = ?", t.row),
		    ask("SELECT sum(bytes) FROM messages WHERE thread = ?", t.row));
		CU_ASSERT_EQUAL(
		    ask("SELECT count(*) FROM checkpoints WHERE thread = ?", t.row), KEPT);
		buf_release(&words);
	}
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM states", 0),
	    ask("SELECT count(DISTINCT state) FROM checkpoints", 0));
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM bodies", 0), ask("SELECT count(*) FROM messages", 0));
	CU_ASSERT(ask("SELECT count(*) FROM branches", 0) > 0);
	CU_ASSERT(ask("SELECT count(*) FROM entered", 0) > 0);
}

#define ALL_BUT_MESSAGES                                             \
	"SELECT (SELECT count(*) FROM checkpoints WHERE thread = ?)" \
	" + (SELECT count(*) FROM branches WHERE thread = ?)"        \
	" + (SELECT count(*) FROM entered WHERE thread = ?)"

/* A piece is a transaction, for which others wait. */
static void what_was_removed_goes_in_pieces(void)
{
	struct thread t = sample_thread("removed");
	struct error err = {0};
	struct db *db;
	bool last = false;
	must_write(st, (struct thread_write){.thread = &t}, "first=0");
	for (size_t at = 0; at < CHANGES; at++)
		change_by_chance(&t, at);
	db = open_beside(&err);
	while (!last) {
		int64_t before = ask(ALL_BUT_MESSAGES, t.row), after;
		CU_ASSERT_TRUE_FATAL(db_begin(db, &err));
		CU_ASSERT_TRUE_FATAL(trim_removed(db, t.row, 7, &last, &err));
		CU_ASSERT_TRUE_FATAL(db_commit(db, &err));
		after = ask(ALL_BUT_MESSAGES, t.row);
		CU_ASSERT(last ? after == 0 : after < before && after >= before - 7);
	}
	db_close(db);
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM states", 0),
	    ask("SELECT count(DISTINCT state) FROM checkpoints", 0));
}

static void say_of_row(struct db *db, enum sql_id id, const char *name, int64_t row)
{
	struct error err = {0};
	struct query q;
	query_start(&q, db, id, &err);
	query_int(&q, name, row);
	CU_ASSERT_TRUE_FATAL(query_run(&q));
}

/* The sweeper has found a removed thread, and waits for another one that ends it: a new thread may
 * have its row by then.  PostgreSQL gives no row twice. */
static void what_another_has_swept_is_left(void)
{
	struct thread t = sample_thread("new");
	struct error err = {0};
	struct db *db;
	if (postgresql_wanted())
		return;
	must_write(st, (struct thread_write){.thread = &t}, "one two three");
	db = open_beside(&err);
	say_of_row(db, SQL_THREAD_REMOVE, ":row", t.row);
	CU_ASSERT_TRUE_FATAL(db_begin(db, &err));
	sweeper_wake(engine_of(st)->sweeper);
	clock_sleep_ms(100); /* it may look */
	say_of_row(db, SQL_REMOVED_DELETE, ":thread", t.row);
	CU_ASSERT_TRUE_FATAL(db_commit(db, &err));
	db_close(db);
	clock_sleep_ms(200); /* it may act */
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM messages WHERE thread = ?", t.row), 3);
}

/* The number of checkpoints only grows, so a thread that has had many must not be trimmed at each
 * run. */
static void long_threads_are_trimmed_as_seldom(void)
{
	struct storage limits = {.history_keep = 100};
	struct standing now = {0};
	int early = 0, late = 0;
	for (now.checkpoints = 1; now.checkpoints <= 20000; now.checkpoints++) {
		bool many = checkpoints_are_many(&limits, now.checkpoints - 1, &now);
		early += many && now.checkpoints <= 1000;
		late += many && now.checkpoints > 19000;
	}
	CU_ASSERT(early >= 10 && early <= 20);
	CU_ASSERT(late >= 10 && late <= 20);
}

static const struct unit_test tests[] = {
    {"what is shown stays, and nothing else", what_is_shown_stays_and_nothing_else},
    {"what was removed goes in pieces", what_was_removed_goes_in_pieces},
    {"what another has swept is left", what_another_has_swept_is_left},
    {"long threads are trimmed as seldom as others", long_threads_are_trimmed_as_seldom},
};

int main(void)
{
	struct error err = {0};
	int rc;
	arena = arena_new();
	st = try_open("state", &err);
	if (!st) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	rc = unit_main("storage_trim", tests, UNIT_COUNT(tests));
	close_storage(st);
	arena_free(arena);
	return rc;
}
