/* SPDX-License-Identifier: ISC */
/* Checkpoints: what they keep, on each engine. */
#include "base/os/clock.h"
#include "history_fixture.h"
#include "storage/runs.h"

static struct storage *st;
static struct error err;
static struct arena *arena; /* of all tests */

#define SHOWS(thread, view, text) CU_ASSERT_STRING_EQUAL(shown(st, (thread)->row, view), text)

/* Messages are added, and what is there then is kept; with the end of a run its record is made. */
static void keep_from(struct thread *t, const struct checkpoint *rewind, const char *messages,
    enum checkpoint_source source)
{
	struct run_record r = {.status = RUN_COMPLETED, .node = "END", .keep = st->runs_keep};
	if (source == CHECKPOINT_RUN && !t->run_id)
		t->run_id = "some";
	r.run_id = t->run_id;
	must_write(st,
	    (struct thread_write){.thread = t,
		.rewind = rewind,
		.run = source == CHECKPOINT_RUN ? &r : NULL,
		.checkpoint = source},
	    messages);
}

static void keep(struct thread *t, const char *messages, enum checkpoint_source source)
{
	keep_from(t, NULL, messages, source);
}

static struct checkpoint newest(const struct thread *t, size_t newer)
{
	return checkpoint_at(st, arena, t->thread_id, newer);
}

/* As a service does it: the state is that of then. */
static void rewind_to(struct thread *t, const struct checkpoint *to, const char *messages,
    enum checkpoint_source source)
{
	*t = to->thread;
	keep_from(t, to, messages, source);
}

static void rewind_alone(struct thread *t, const struct checkpoint *to)
{
	rewind_to(t, to, NULL, CHECKPOINT_REWIND);
}

/* ---- kept ---- */

static void a_checkpoint_has_the_state_of_then(void)
{
	struct thread t = sample_thread("whole"), now;
	struct checkpoint c;
	int64_t before = clock_now();
	t.run_id = "r1";
	t.status = RUN_INTERRUPTED;
	t.stop = STOP_REQUESTED;
	t.node = "ask";
	t.next = "agent";
	t.step = 7;
	t.pause_json = "{\"node\":\"ask\"}";
	t.waiting_json = "{\"calls\":[{\"id\":\"c1\"}]}";
	t.fields_json = "{\"notes\":[1]}";
	t.summary = "so far";
	keep(&t, "m1 m2", CHECKPOINT_RUN);
	now = sample_thread("whole");
	now.row = t.row;
	now.thread_name = "renamed";
	now.metadata_json = "{\"a\":1}";
	now.updated_at = 2000;
	keep(&now, "m3", CHECKPOINT_NONE);
	c = newest(&t, 0);
	CU_ASSERT(c.number >= before && c.number <= clock_now());
	CU_ASSERT_EQUAL(c.parent, 0);
	CU_ASSERT_EQUAL(c.source, CHECKPOINT_RUN);
	CU_ASSERT_EQUAL(c.message_count, 2);
	CU_ASSERT_EQUAL(c.thread.row, t.row);
	CU_ASSERT_STRING_EQUAL(c.thread.thread_id, "whole");
	CU_ASSERT_STRING_EQUAL(c.thread.user_id, "alice");
	CU_ASSERT_STRING_EQUAL(c.thread.thread_name, "renamed");
	CU_ASSERT_STRING_EQUAL(c.thread.metadata_json, "{\"a\":1}");
	CU_ASSERT_EQUAL(c.thread.created_at, 1000);
	CU_ASSERT_EQUAL(c.thread.updated_at, 2000);
	CU_ASSERT_STRING_EQUAL(c.thread.run_id, "r1");
	CU_ASSERT_EQUAL(c.thread.status, RUN_INTERRUPTED);
	CU_ASSERT_EQUAL(c.thread.stop, STOP_REQUESTED);
	CU_ASSERT_STRING_EQUAL(c.thread.node, "ask");
	CU_ASSERT_STRING_EQUAL(c.thread.next, "agent");
	CU_ASSERT_EQUAL(c.thread.step, 7);
	CU_ASSERT_STRING_EQUAL(c.thread.pause_json, "{\"node\":\"ask\"}");
	CU_ASSERT_STRING_EQUAL(c.thread.waiting_json, "{\"calls\":[{\"id\":\"c1\"}]}");
	CU_ASSERT_STRING_EQUAL(c.thread.fields_json, "{\"notes\":[1]}");
	CU_ASSERT_STRING_EQUAL(c.thread.summary, "so far");
	SHOWS(&t, &c.thread.view, "m1 m2 | m1 m2");
}

static void an_empty_state_comes_back_empty(void)
{
	struct thread t = sample_thread("empty");
	struct checkpoint c;
	keep(&t, NULL, CHECKPOINT_UPDATE);
	c = newest(&t, 0);
	CU_ASSERT_EQUAL(c.message_count, 0);
	CU_ASSERT_PTR_NULL(c.thread.run_id);
	CU_ASSERT_PTR_NULL(c.thread.next);
	CU_ASSERT_PTR_NULL(c.thread.pause_json);
	CU_ASSERT_PTR_NULL(c.thread.waiting_json);
	CU_ASSERT_PTR_NULL(c.thread.summary);
	CU_ASSERT_STRING_EQUAL(c.thread.fields_json, "{}");
	SHOWS(&t, &c.thread.view, " | ");
}

/* Neighbours that have the same state, and those that differ in a part of it. */
static void each_checkpoint_has_its_own_state(void)
{
	static const char *const summaries[] = {"a", "a", NULL, NULL, "a", "a"};
	static const char *const fields[] = {
	    "{}", "{}", "{}", "{\"n\":1}", "{\"n\":1}", "{\"n\":2}"};
	struct thread t = sample_thread("states");
	for (size_t i = 0; i < 6; i++) {
		t.summary = summaries[i];
		t.fields_json = fields[i];
		keep(&t, NULL, CHECKPOINT_UPDATE);
	}
	for (size_t i = 0; i < 6; i++) {
		struct checkpoint c = newest(&t, 5 - i);
		CU_ASSERT_STRING_EQUAL(c.thread.fields_json, fields[i]);
		CU_ASSERT((c.thread.summary == NULL) == (summaries[i] == NULL));
	}
}

static void writes_keep_nothing_unless_they_say_so(void)
{
	struct thread t = sample_thread("nothing"), now;
	keep(&t, "m1", CHECKPOINT_NONE);
	now = thread_now(st, arena, "nothing");
	CU_ASSERT_EQUAL(numbers_of(st, &now, NULL).count, 0);
}

static void numbers_ascend_from_parent_to_child(void)
{
	struct thread t = sample_thread("ascend");
	int64_t number = 0;
	for (int i = 0; i < 50; i++) {
		struct checkpoint c;
		keep(&t, NULL, CHECKPOINT_UPDATE);
		c = newest(&t, 0);
		CU_ASSERT(c.number > number);
		CU_ASSERT_EQUAL(c.parent, number);
		number = c.number;
	}
}

/* A step and the end of its run that go to disk together. */
static void two_writes_of_a_change_keep_one_each(void)
{
	struct thread step = sample_thread("two"), end = sample_thread("two");
	struct written first, second;
	struct thread_write w[2] = {{.thread = &step, .checkpoint = CHECKPOINT_STEP},
	    {.thread = &end, .checkpoint = CHECKPOINT_RUN}};
	struct lease *lease = hold(st, "two");
	struct thread_change change = {.lease = lease, .writes = {&w[0], &w[1]}, .err = &err};
	struct checkpoint at_step, at_end;
	for (int round = 0; round < 2; round++) {
		written_read(&first, round ? "m3" : "m1");
		written_read(&second, round ? "m4" : "m2 ~m1");
		w[0].messages = first.messages;
		w[0].message_count = first.count;
		w[1].messages = second.messages;
		w[1].message_count = second.count;
		step.run_id = end.run_id = "r";
		step.status = RUN_RUNNING;
		step.next = "b";
		step.fields_json = "{\"half\":1}";
		end.status = RUN_COMPLETED;
		CU_ASSERT_TRUE_FATAL(st->threads->write(st, NULL, &change, 1));
	}
	let_go(st, lease);
	at_step = newest(&step, 3);
	at_end = newest(&step, 2);
	CU_ASSERT(at_step.source == CHECKPOINT_STEP && at_end.source == CHECKPOINT_RUN);
	CU_ASSERT_EQUAL(at_step.thread.status, RUN_RUNNING);
	CU_ASSERT_STRING_EQUAL(at_step.thread.next, "b");
	CU_ASSERT_STRING_EQUAL(at_step.thread.fields_json, "{\"half\":1}");
	CU_ASSERT_EQUAL(at_step.message_count, 1);
	CU_ASSERT_EQUAL(at_end.thread.status, RUN_COMPLETED);
	CU_ASSERT_PTR_NULL(at_end.thread.next);
	CU_ASSERT_STRING_EQUAL(at_end.thread.fields_json, "{}");
	CU_ASSERT_EQUAL(at_end.message_count, 2);
	CU_ASSERT_EQUAL(at_end.parent, at_step.number);
	SHOWS(&step, &at_step.thread.view, "m1 | m1");
	SHOWS(&step, &at_end.thread.view, "m1 m2 | m2 m1");
	at_end = newest(&step, 0);
	CU_ASSERT_EQUAL(at_end.parent, newest(&step, 1).number);
	CU_ASSERT_EQUAL(at_end.message_count, 4);
	SHOWS(&step, &at_end.thread.view, "m1 m2 m3 m4 | m2 m1 m3 m4");
	SHOWS(&step, NULL, "m1 m2 m3 m4 | m2 m1 m3 m4");
}

/* What an end is told by; some are long, or have in them what others are parted by. */
static void run_end(struct thread *t, size_t at)
{
	static char ids[64][16], fields[64][256];
	snprintf(ids[at], sizeof(ids[at]), at % 7 == 5 ? "r\t%zu" : "r%zu", at / 2);
	snprintf(fields[at], sizeof(fields[at]), "{\"n\":\"%0*zu\"}", at % 11 == 9 ? 200 : 2, at);
	t->run_id = ids[at];
	t->step = (int64_t)at;
	t->next = at % 3 ? NULL : "after";
	t->node = at % 5 ? "END" : "before";
	t->fields_json = at % 4 ? fields[at] : "{}";
}

static void check_end(const struct checkpoint *c, size_t at, int64_t parent)
{
	struct thread t = {0};
	run_end(&t, at);
	CU_ASSERT_EQUAL(c->source, CHECKPOINT_RUN);
	CU_ASSERT_EQUAL(c->parent, parent);
	CU_ASSERT_EQUAL(c->message_count, (int64_t)at + 1);
	CU_ASSERT_EQUAL(c->thread.view.until, (int64_t)at + 1);
	CU_ASSERT_EQUAL(c->thread.step, t.step);
	CU_ASSERT_EQUAL(c->thread.status, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(c->thread.run_id, t.run_id);
	CU_ASSERT_STRING_EQUAL(c->thread.node, t.node);
	CU_ASSERT_STRING_EQUAL(c->thread.fields_json, t.fields_json);
	CU_ASSERT((c->thread.next != NULL) == (t.next != NULL));
}

/* The latest ones lie elsewhere than those before them. */
static void ends_of_runs_are_found_wherever_they_lie(void)
{
	struct thread t = sample_thread("ends");
	int64_t numbers[40];
	struct numbers n;
	t.status = RUN_COMPLETED;
	for (size_t at = 0; at < 40; at++) {
		char id[16];
		unit_row("run %zu", at);
		snprintf(id, sizeof(id), "m%zu", at);
		run_end(&t, at);
		keep(&t, id, CHECKPOINT_RUN);
		n = numbers_of(st, &t, NULL);
		CU_ASSERT_EQUAL_FATAL(n.count, at + 1);
		numbers[at] = n.at[0];
		for (size_t i = 0; i <= at; i++)
			CU_ASSERT_EQUAL(n.at[i], numbers[at - i]);
		CU_ASSERT_EQUAL(thread_now(st, arena, "ends").view.until, (int64_t)at + 1);
	}
	for (size_t at = 0; at < 40; at++) {
		struct checkpoint_filter before = {.before = numbers[at], .limit = 3};
		struct checkpoint c = newest(&t, 39 - at);
		unit_row("end %zu", at);
		check_end(&c, at, at ? numbers[at - 1] : 0);
		n = numbers_of(st, &t, &before);
		CU_ASSERT_EQUAL(n.count, at < 3 ? at : 3);
		CU_ASSERT(!n.count || n.at[0] == numbers[at - 1]);
		n = numbers_of(
		    st, &t, &(struct checkpoint_filter){.run_id = c.thread.run_id, .limit = 9});
		CU_ASSERT(n.count >= 1 && n.count <= 2);
		CU_ASSERT(n.at[0] == numbers[at] || n.at[n.count - 1] == numbers[at]);
	}
	unit_row("%s", "");
}

/* Of each run two steps and the end; every second message enters the context again. */
static void run_keeps(struct thread *t, size_t at)
{
	static char ids[16][16], nodes[64][16];
	snprintf(ids[at / 3], sizeof(ids[0]), "run-%zu", at / 3);
	snprintf(nodes[at], sizeof(nodes[0]), "node-%zu", at);
	t->run_id = ids[at / 3];
	t->node = nodes[at];
	t->step = (int64_t)at;
	t->status = at % 3 == 2 ? RUN_COMPLETED : RUN_RUNNING;
	t->next = at % 3 == 2 ? NULL : "next";
	t->fields_json = at / 3 % 2 ? "{\"n\":1}" : "{}";
}

static void check_kept(const struct checkpoint *c, size_t at, int64_t parent)
{
	struct thread t = {0};
	run_keeps(&t, at);
	CU_ASSERT_EQUAL(c->source, at % 3 == 2 ? CHECKPOINT_RUN : CHECKPOINT_STEP);
	CU_ASSERT_EQUAL(c->parent, parent);
	CU_ASSERT_EQUAL(c->message_count, (int64_t)at + 1);
	CU_ASSERT_EQUAL(c->thread.view.until, (int64_t)(at + 1 + (at + 1) / 2));
	CU_ASSERT_EQUAL(c->thread.step, t.step);
	CU_ASSERT_EQUAL(c->thread.status, t.status);
	CU_ASSERT_STRING_EQUAL(c->thread.run_id, t.run_id);
	CU_ASSERT_STRING_EQUAL(c->thread.node, t.node);
	CU_ASSERT_STRING_EQUAL(c->thread.fields_json, t.fields_json);
	CU_ASSERT((c->thread.next != NULL) == (t.next != NULL));
}

static void steps_are_found_among_ends(void)
{
	struct thread t = sample_thread("steps and ends");
	int64_t numbers[48];
	for (size_t at = 0; at < 48; at++) {
		char messages[32];
		unit_row("kept %zu", at);
		snprintf(messages, sizeof(messages), at % 2 ? "m%zu ~m0" : "m%zu", at);
		run_keeps(&t, at);
		keep(&t, messages, at % 3 == 2 ? CHECKPOINT_RUN : CHECKPOINT_STEP);
		numbers[at] = newest(&t, 0).number;
		for (size_t i = 0; i <= at; i++) {
			struct checkpoint c = newest(&t, at - i);
			CU_ASSERT_EQUAL(c.number, numbers[i]);
			check_kept(&c, i, i ? numbers[i - 1] : 0);
		}
	}
	for (size_t run = 0; run < 16; run++) {
		struct checkpoint_filter of = {.limit = 9};
		run_keeps(&t, 3 * run);
		of.run_id = t.run_id;
		CU_ASSERT_EQUAL(numbers_of(st, &t, &of).count, 3);
	}
	unit_row("%s", "");
}

static void as_many_are_shown_as_are_kept_wherever_they_lie(void)
{
	struct thread t = sample_thread("shown ends");
	struct checkpoint c;
	struct numbers all, n;
	t.status = RUN_COMPLETED;
	for (size_t at = 0; at < 27; at++) {
		run_end(&t, at);
		keep(&t, NULL, CHECKPOINT_RUN);
	}
	t.status = RUN_RUNNING;
	for (size_t at = 27; at < 29; at++) {
		run_end(&t, at + 1);
		keep(&t, NULL, CHECKPOINT_STEP);
	}
	all = numbers_of(st, &t, NULL);
	CU_ASSERT_EQUAL_FATAL(all.count, 29);
	for (int64_t most = 1; most <= 29; most++) {
		unit_row("%lld", (long long)most);
		st->history_keep = most;
		n = numbers_of(st, &t, NULL);
		CU_ASSERT_EQUAL(n.count, (size_t)most);
		CU_ASSERT_EQUAL(n.at[most - 1], all.at[most - 1]);
		CU_ASSERT_TRUE(st->history->get(st, NULL, arena, &t, all.at[most - 1], &c, &err));
		CU_ASSERT(
		    most == 29 || !st->history->get(st, NULL, arena, &t, all.at[most], &c, &err));
	}
	unit_row("%s", "");
	st->history_keep = 0;
}

static void run_ends(struct thread *t, size_t at)
{
	run_end(t, 2);
	t->step = (int64_t)at;
	keep(t, NULL, CHECKPOINT_RUN);
}

static bool oldest_record(void *arg, const struct run_record *record)
{
	*(struct run_record *)arg = *record;
	return true;
}

/* Records are trimmed, and one is removed. */
static void what_records_have_outlives_them(void)
{
	struct thread t = sample_thread("outlives");
	const struct record_filter of = {.thread_id = "outlives", .statuses = ~0U};
	struct run_record oldest;
	struct numbers n;
	t.status = RUN_COMPLETED;
	st->runs_keep = 3;
	for (size_t at = 0; at < 12; at++) {
		unit_row("run %zu", at);
		run_ends(&t, at);
		n = numbers_of(st, &t, NULL);
		CU_ASSERT_EQUAL_FATAL(n.count, at + 1);
		for (size_t i = 0; i <= at; i++)
			CU_ASSERT_EQUAL(newest(&t, at - i).thread.step, (int64_t)i);
	}
	CU_ASSERT_TRUE_FATAL(st->runs->list(st, NULL, &of, oldest_record, &oldest, &err));
	CU_ASSERT_TRUE_FATAL(st->runs->remove(st, NULL, &oldest, &err));
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 12);
	run_ends(&t, 12);
	for (size_t i = 0; i <= 12; i++)
		CU_ASSERT_EQUAL(newest(&t, 12 - i).thread.step, (int64_t)i);
	unit_row("%s", "");
	st->runs_keep = 0;
}

/* With and without records that are trimmed before. */
static void the_latest_of_records_are_shown(void)
{
	struct numbers n;
	st->history_keep = 4;
	for (int64_t keep = 0; keep <= 6; keep++) {
		char id[32];
		struct thread t;
		snprintf(id, sizeof(id), "with %lld records", (long long)keep);
		t = sample_thread(id);
		t.status = RUN_COMPLETED;
		st->runs_keep = keep;
		for (size_t at = 0; at < 33; at++) {
			unit_row("%s, run %zu", id, at);
			run_ends(&t, at);
			n = numbers_of(st, &t, NULL);
			CU_ASSERT_EQUAL_FATAL(n.count, at < 4 ? at + 1 : 4);
			for (size_t i = 0; i < n.count; i++)
				CU_ASSERT_EQUAL(newest(&t, i).thread.step, (int64_t)(at - i));
		}
	}
	unit_row("%s", "");
	st->history_keep = st->runs_keep = 0;
}

/* Changes, rewinds and steps come between ends of runs, which stay where they are. */
static void all_kinds_of_checkpoints_stay_in_their_order(void)
{
	static const enum checkpoint_source sources[] = {CHECKPOINT_RUN, CHECKPOINT_RUN,
	    CHECKPOINT_UPDATE, CHECKPOINT_RUN, CHECKPOINT_RUN, CHECKPOINT_RUN, CHECKPOINT_STEP,
	    CHECKPOINT_RUN, CHECKPOINT_REWIND, CHECKPOINT_RUN};
	struct thread t = sample_thread("kinds");
	struct numbers n;
	size_t count = 0;
	for (size_t i = 0; i < 60; i++) {
		enum checkpoint_source source = sources[i % 10];
		char id[16];
		unit_row("%zu", i);
		snprintf(id, sizeof(id), "m%zu", i);
		if (source == CHECKPOINT_REWIND) {
			struct checkpoint to = newest(&t, i % 4);
			rewind_alone(&t, &to);
			CU_ASSERT_EQUAL(newest(&t, 0).parent, to.number);
		} else {
			keep(&t, id, source);
		}
		n = numbers_of(st, &t, NULL);
		CU_ASSERT_EQUAL_FATAL(n.count, ++count);
		CU_ASSERT(count == 1 || n.at[0] > n.at[1]);
		CU_ASSERT_EQUAL(newest(&t, 0).source, source);
		CU_ASSERT(
		    source == CHECKPOINT_REWIND || count == 1 || newest(&t, 0).parent == n.at[1]);
	}
	unit_row("%s", "");
}

/* As those of a short run come to disk. */
static void a_start_that_comes_with_its_end_is_no_checkpoint(void)
{
	struct thread start = sample_thread("short"), end = start;
	struct written first, second;
	struct thread_write w[2] = {
	    {.thread = &start}, {.thread = &end, .checkpoint = CHECKPOINT_RUN}};
	struct lease *lease = hold(st, "short");
	struct thread_change change = {.lease = lease, .writes = {&w[0], &w[1]}, .err = &err};
	start.run_id = end.run_id = "r";
	start.status = RUN_RUNNING;
	end.status = RUN_COMPLETED;
	for (int64_t round = 1; round <= 20; round++) {
		char texts[2][16];
		struct checkpoint c;
		unit_row("%lld", (long long)round);
		snprintf(texts[0], sizeof(texts[0]), "a%lld", (long long)round);
		snprintf(texts[1], sizeof(texts[1]), "b%lld ~a1", (long long)round);
		written_read(&first, texts[0]);
		written_read(&second, texts[1]);
		w[0].messages = first.messages;
		w[0].message_count = first.count;
		w[1].messages = second.messages;
		w[1].message_count = second.count;
		CU_ASSERT_TRUE_FATAL(st->threads->write(st, NULL, &change, 1));
		c = newest(&start, 0);
		CU_ASSERT_EQUAL(numbers_of(st, &start, NULL).count, (size_t)round);
		CU_ASSERT_EQUAL(c.message_count, 2 * round);
		CU_ASSERT_EQUAL(c.thread.status, RUN_COMPLETED);
		CU_ASSERT_EQUAL(c.thread.view.until, thread_now(st, arena, "short").view.until);
	}
	unit_row("%s", "");
	let_go(st, lease);
}

static void what_fails_keeps_nothing(void)
{
	struct thread t = sample_thread("failed"), now;
	keep(&t, "m1", CHECKPOINT_RUN);
	CU_ASSERT_FALSE(write_messages(
	    st, (struct thread_write){.thread = &t, .checkpoint = CHECKPOINT_RUN}, "m2 m1", &err));
	error_release(&err);
	now = thread_now(st, arena, "failed");
	CU_ASSERT_EQUAL(numbers_of(st, &now, NULL).count, 1);
	SHOWS(&t, NULL, "m1 | m1");
}

/* ---- rewound ---- */

static void a_thread_goes_back_and_forth(void)
{
	struct thread t = sample_thread("forth");
	struct checkpoint two, four, other;
	keep(&t, "m1 m2", CHECKPOINT_RUN);
	keep(&t, "m3 m4", CHECKPOINT_RUN);
	two = newest(&t, 1);
	four = newest(&t, 0);
	rewind_alone(&t, &two);
	SHOWS(&t, NULL, "m1 m2 | m1 m2");
	SHOWS(&t, &four.thread.view, "m1 m2 m3 m4 | m1 m2 m3 m4");
	keep(&t, "n3", CHECKPOINT_RUN);
	other = newest(&t, 0);
	CU_ASSERT_EQUAL(other.message_count, 3);
	SHOWS(&t, NULL, "m1 m2 n3 | m1 m2 n3");
	rewind_alone(&t, &four);
	SHOWS(&t, NULL, "m1 m2 m3 m4 | m1 m2 m3 m4");
	keep(&t, "m5", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 m4 m5 | m1 m2 m3 m4 m5");
	SHOWS(&t, &four.thread.view, "m1 m2 m3 m4 | m1 m2 m3 m4");
	rewind_alone(&t, &other);
	SHOWS(&t, NULL, "m1 m2 n3 | m1 m2 n3");
	CU_ASSERT_EQUAL(newest(&t, 0).parent, other.number);
	CU_ASSERT_EQUAL(newest(&t, 0).message_count, 3);
	CU_ASSERT_EQUAL(newest(&t, 0).source, CHECKPOINT_REWIND);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 7);
}

static void going_back_to_where_it_is_changes_nothing(void)
{
	struct thread t = sample_thread("still");
	struct checkpoint c;
	keep(&t, "m1", CHECKPOINT_RUN);
	c = newest(&t, 0);
	rewind_alone(&t, &c);
	keep(&t, "m2", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 | m1 m2");
	SHOWS(&t, &c.thread.view, "m1 | m1");
}

static void a_thread_goes_back_to_its_empty_beginning(void)
{
	struct thread t = sample_thread("beginning");
	struct checkpoint c;
	keep(&t, NULL, CHECKPOINT_UPDATE);
	keep(&t, "m1 m2", CHECKPOINT_RUN);
	c = newest(&t, 1);
	rewind_alone(&t, &c);
	SHOWS(&t, NULL, " | ");
	keep(&t, "m1=again", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "again | again");
	c = newest(&t, 2);
	rewind_alone(&t, &c);
	SHOWS(&t, NULL, "m1 m2 | m1 m2");
}

/* Each branch leaves the one before it in its middle. */
static void branches_may_be_of_any_depth(void)
{
	enum { DEPTH = 60 };
	static struct checkpoint ends[DEPTH], middle;
	static char common[8 * DEPTH], list[8 * DEPTH], both[16 * DEPTH];
	struct thread t = sample_thread("deep");
	*common = 0;
	for (int i = 0; i < DEPTH; i++) {
		char a[16], b[16];
		snprintf(a, sizeof(a), "a%d", i);
		snprintf(b, sizeof(b), "b%d", i);
		if (i)
			rewind_to(&t, &middle, a, CHECKPOINT_RUN);
		else
			keep(&t, a, CHECKPOINT_RUN);
		middle = newest(&t, 0);
		keep(&t, b, CHECKPOINT_RUN);
		ends[i] = newest(&t, 0);
	}
	for (int i = 0; i < DEPTH; i++) {
		snprintf(common + strlen(common), 8, i ? " a%d" : "a%d", i);
		snprintf(list, sizeof(list), "%s b%d", common, i);
		snprintf(both, sizeof(both), "%s | %s", list, list);
		SHOWS(&t, &ends[i].thread.view, both);
		CU_ASSERT_EQUAL(ends[i].message_count, i + 2);
	}
	for (int i = 0; i < DEPTH; i += 7) {
		snprintf(both, sizeof(both), "%s", shown(st, t.row, &ends[i].thread.view));
		rewind_alone(&t, &ends[i]);
		SHOWS(&t, NULL, both);
		CU_ASSERT_EQUAL(newest(&t, 0).message_count, i + 2);
	}
}

static void a_deleted_message_stays_deleted(void)
{
	const char *const shared[] = {"m2"}, *const other[] = {"n3"};
	struct thread t = sample_thread("deleted");
	struct checkpoint first, second;
	keep(&t, "m1 m2 m3", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m4", CHECKPOINT_RUN);
	second = newest(&t, 0);
	rewind_to(&t, &first, "n3", CHECKPOINT_RUN);
	must_write(st,
	    (struct thread_write){
		.thread = &t, .remove = shared, .remove_count = 1, .checkpoint = CHECKPOINT_UPDATE},
	    NULL);
	CU_ASSERT_EQUAL(newest(&t, 0).message_count, 3);
	CU_ASSERT_EQUAL(newest(&t, 1).message_count, 4);
	SHOWS(&t, NULL, "m1 m3 n3 | m1 m3 n3");
	SHOWS(&t, &first.thread.view, "m1 m3 | m1 m3");
	SHOWS(&t, &second.thread.view, "m1 m3 m4 | m1 m3 m4");
	rewind_alone(&t, &second);
	CU_ASSERT_EQUAL(newest(&t, 0).message_count, 3);
	/* what another branch shows is not there */
	must_write(
	    st, (struct thread_write){.thread = &t, .remove = other, .remove_count = 1}, NULL);
	SHOWS(&t, NULL, "m1 m3 m4 | m1 m3 m4");
	CU_ASSERT_EQUAL(newest(&t, 0).message_count, 3);
	first = newest(&t, 2);
	SHOWS(&t, &first.thread.view, "m1 m3 n3 | m1 m3 n3");
}

static const char *body_in(int64_t row, const struct thread_view *view, const char *message_id)
{
	const char *body = NULL;
	CU_ASSERT_TRUE(thread_message_get(st, NULL, arena, row, view, message_id, &body, &err));
	return body ? body : "none";
}

static const char *known_in(int64_t row, const struct thread_view *view, const char *message_id)
{
	struct message_known m = {.message_id = message_id};
	CU_ASSERT_TRUE(st->threads->messages_known(st, NULL, row, view, &m, 1, &err));
	return m.in_context ? "in context" : m.known ? "known" : "unknown";
}

static void an_edited_message_keeps_its_id_in_its_branch(void)
{
	const char *const ids[] = {"m2"};
	struct thread t = sample_thread("edited");
	struct checkpoint start, first, second;
	keep(&t, "m1", CHECKPOINT_RUN);
	start = newest(&t, 0);
	CU_ASSERT_STRING_EQUAL(known_in(t.row, NULL, "m2"), "unknown");
	keep(&t, "m2=once m3", CHECKPOINT_RUN);
	first = newest(&t, 0);
	rewind_to(&t, &start, "m2=twice", CHECKPOINT_RUN);
	second = newest(&t, 0);
	rewind_to(&t, &start, "m2=thrice m3=three", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 thrice three | m1 thrice three");
	SHOWS(&t, &first.thread.view, "m1 once m3 | m1 once m3");
	SHOWS(&t, &second.thread.view, "m1 twice | m1 twice");
	CU_ASSERT_PTR_NOT_NULL(strstr(body_in(t.row, NULL, "m2"), "\"thrice\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(body_in(t.row, &first.thread.view, "m2"), "\"once\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(body_in(t.row, &second.thread.view, "m2"), "\"twice\""));
	CU_ASSERT_STRING_EQUAL(body_in(t.row, &second.thread.view, "m3"), "none");
	CU_ASSERT_STRING_EQUAL(body_in(t.row, &start.thread.view, "m2"), "none");
	CU_ASSERT_STRING_EQUAL(known_in(t.row, &second.thread.view, "m2"), "in context");
	CU_ASSERT_STRING_EQUAL(known_in(t.row, &second.thread.view, "m3"), "unknown");
	/* within a view it is the only one */
	CU_ASSERT_FALSE(write_messages(st, (struct thread_write){.thread = &t}, "m2=four", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
	rewind_alone(&t, &second);
	must_write(st, (struct thread_write){.thread = &t, .remove = ids, .remove_count = 1}, NULL);
	SHOWS(&t, NULL, "m1 | m1");
	SHOWS(&t, &first.thread.view, "m1 once m3 | m1 once m3");
}

/* ---- the context ---- */

static void a_context_is_what_it_was(void)
{
	struct thread t = sample_thread("contexts");
	struct checkpoint all, trimmed, cleared, again;
	keep(&t, "m1 m2 m3", CHECKPOINT_RUN);
	all = newest(&t, 0);
	must_write(st,
	    (struct thread_write){.thread = &t, .leave = "m2", .checkpoint = CHECKPOINT_RUN}, "m4");
	trimmed = newest(&t, 0);
	must_write(st,
	    (struct thread_write){
		.thread = &t, .clear_context = true, .checkpoint = CHECKPOINT_UPDATE},
	    NULL);
	cleared = newest(&t, 0);
	keep(&t, "m5 ~m1 ~m4", CHECKPOINT_RUN);
	again = newest(&t, 0);
	SHOWS(&t, &all.thread.view, "m1 m2 m3 | m1 m2 m3");
	SHOWS(&t, &trimmed.thread.view, "m1 m2 m3 m4 | m3 m4");
	SHOWS(&t, &cleared.thread.view, "m1 m2 m3 m4 | ");
	SHOWS(&t, &again.thread.view, "m1 m2 m3 m4 m5 | m5 m1 m4");
	CU_ASSERT_STRING_EQUAL(known_in(t.row, &trimmed.thread.view, "m2"), "known");
	CU_ASSERT_STRING_EQUAL(known_in(t.row, &again.thread.view, "m1"), "in context");
	rewind_alone(&t, &trimmed);
	SHOWS(&t, NULL, "m1 m2 m3 m4 | m3 m4");
	keep(&t, "n5", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 m4 n5 | m3 m4 n5");
	rewind_alone(&t, &cleared);
	keep(&t, "o5", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 m4 o5 | o5");
	rewind_alone(&t, &again);
	keep(&t, "p6", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 m4 m5 p6 | m5 m1 m4 p6");
	rewind_alone(&t, &all);
	SHOWS(&t, NULL, "m1 m2 m3 | m1 m2 m3");
}

static void second_places_are_those_of_their_branch(void)
{
	struct thread t = sample_thread("second");
	struct checkpoint start, once, twice, other;
	keep(&t, "m1 m2 m3", CHECKPOINT_RUN);
	start = newest(&t, 0);
	keep(&t, "~m1 m4", CHECKPOINT_RUN);
	once = newest(&t, 0);
	keep(&t, "~m2 ~m1", CHECKPOINT_RUN);
	twice = newest(&t, 0);
	rewind_to(&t, &start, "n4 ~m2 n5", CHECKPOINT_RUN);
	other = newest(&t, 0);
	SHOWS(&t, &start.thread.view, "m1 m2 m3 | m1 m2 m3");
	SHOWS(&t, &once.thread.view, "m1 m2 m3 m4 | m2 m3 m1 m4");
	SHOWS(&t, &twice.thread.view, "m1 m2 m3 m4 | m3 m4 m2 m1");
	SHOWS(&t, &other.thread.view, "m1 m2 m3 n4 n5 | m1 m3 n4 m2 n5");
	must_write(st,
	    (struct thread_write){.thread = &t, .leave = "m2", .checkpoint = CHECKPOINT_RUN},
	    "~m3");
	SHOWS(&t, NULL, "m1 m2 m3 n4 n5 | n5 m3");
	rewind_to(&t, &once, "~m4 ~m3", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 m4 | m2 m1 m4 m3");
	must_write(st, (struct thread_write){.thread = &t, .leave = "m1"}, NULL);
	SHOWS(&t, NULL, "m1 m2 m3 m4 | m4 m3");
	SHOWS(&t, &other.thread.view, "m1 m2 m3 n4 n5 | m1 m3 n4 m2 n5");
}

static void a_new_thread_may_have_second_places(void)
{
	struct thread t = sample_thread("at-once");
	keep(&t, "m1 m2 ~m1 m3", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 | m2 m1 m3");
	keep(&t, "m4", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 m2 m3 m4 | m2 m1 m3 m4");
}

/* ---- a rewind keeps what has changed ---- */

static void what_changed_is_kept_before_a_rewind(void)
{
	const char *const ids[] = {"m1"};
	struct thread t = sample_thread("changed"), was;
	struct checkpoint first, c;
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	rewind_alone(&t, &first);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 2); /* nothing had changed */

	keep(&t, "m2", CHECKPOINT_NONE);
	t.fields_json = "{\"n\":1}";
	t.pause_json = "{}";
	t.status = RUN_INTERRUPTED;
	keep(&t, NULL, CHECKPOINT_NONE);
	was = thread_now(st, arena, "changed");
	rewind_alone(&t, &first);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 4);
	c = newest(&t, 1);
	CU_ASSERT_EQUAL(c.source, CHECKPOINT_UPDATE);
	CU_ASSERT_EQUAL(c.parent, newest(&t, 2).number);
	CU_ASSERT_EQUAL(c.message_count, 2);
	CU_ASSERT_EQUAL(c.thread.status, RUN_INTERRUPTED);
	CU_ASSERT_STRING_EQUAL(c.thread.fields_json, "{\"n\":1}");
	CU_ASSERT_STRING_EQUAL(c.thread.pause_json, "{}");
	SHOWS(&t, &c.thread.view, "m1 m2 | m1 m2");
	SHOWS(&t, &was.view, "m1 m2 | m1 m2");
	CU_ASSERT_EQUAL(newest(&t, 0).parent, first.number);
	SHOWS(&t, NULL, "m1 | m1");

	must_write(st, (struct thread_write){.thread = &t, .remove = ids, .remove_count = 1}, NULL);
	rewind_alone(&t, &c);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 6);
	CU_ASSERT_EQUAL(newest(&t, 1).message_count, 0);
	SHOWS(&t, NULL, "m2 | m2");
}

/* As a run from a checkpoint does: its first write goes back, its last one keeps. */
static void a_run_from_a_checkpoint_has_it_as_parent(void)
{
	struct thread t = sample_thread("from");
	struct checkpoint first, last;
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m2", CHECKPOINT_RUN);
	last = newest(&t, 0);
	rewind_to(&t, &first, "n2", CHECKPOINT_NONE);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 2);
	SHOWS(&t, NULL, "m1 n2 | m1 n2");
	keep(&t, "n3", CHECKPOINT_RUN);
	CU_ASSERT_EQUAL(newest(&t, 0).parent, first.number);
	SHOWS(&t, &last.thread.view, "m1 m2 | m1 m2");
	SHOWS(&t, NULL, "m1 n2 n3 | m1 n2 n3");
}

static enum run_status status_of(const char *thread_id, const char *run_id)
{
	struct run_record r;
	CU_ASSERT_TRUE_FATAL(st->runs->get(st, NULL, arena, thread_id, run_id, &r, &err));
	return r.status;
}

/* The process of the latest run died; the thread goes back, and so does one in which a run begins
 * there. */
static void a_rewind_buries_the_lost_run(void)
{
	struct thread t = sample_thread("buried"), lost;
	struct run_record record = {.run_id = "r1", .status = RUN_RUNNING, .node = "START"};
	struct checkpoint to;
	keep(&t, "m1", CHECKPOINT_UPDATE);
	for (int i = 0; i < 2; i++) {
		struct run_record next = {.run_id = "r3", .status = RUN_RUNNING, .node = "START"};
		to = newest(&t, 0);
		lost = t;
		lost.status = RUN_RUNNING;
		record.run_id = lost.run_id = i ? "r2" : "r1";
		record.number = 0;
		must_write(st, (struct thread_write){.thread = &lost, .run = &record}, NULL);
		CU_ASSERT_EQUAL(status_of("buried", record.run_id), RUN_RUNNING);
		t = to.thread;
		must_write(st,
		    (struct thread_write){.thread = &t,
			.rewind = &to,
			.run = i ? &next : NULL,
			.checkpoint = i ? CHECKPOINT_NONE : CHECKPOINT_REWIND},
		    NULL);
		CU_ASSERT_EQUAL(status_of("buried", record.run_id), RUN_ERROR);
	}
	CU_ASSERT_EQUAL(status_of("buried", "r3"), RUN_RUNNING);
}

static void an_unknown_checkpoint_is_not_gone_back_to(void)
{
	struct thread t = sample_thread("unknown"), other = sample_thread("other"), now;
	struct checkpoint c;
	keep(&t, "m1", CHECKPOINT_RUN);
	clock_sleep_ms(1); /* numbers are times, and those of two threads may be the same */
	keep(&other, "o1", CHECKPOINT_RUN);
	c = newest(&other, 0);
	now = thread_now(st, arena, "unknown");
	CU_ASSERT_FALSE(st->history->get(st, NULL, arena, &now, c.number, &c, &err));
	CU_ASSERT_FALSE(st->history->get(st, NULL, arena, &now, 0, &c, &err));
	CU_ASSERT_FALSE(error_is_set(&err));
	CU_ASSERT_FALSE(
	    write_messages(st, (struct thread_write){.thread = &now, .rewind = &c}, "m2", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_RESOURCE_NOT_FOUND);
	error_release(&err);
	SHOWS(&t, NULL, "m1 | m1");
}

/* ---- rolled back ---- */

static void roll_back(const struct thread *was, const char *run_id)
{
	struct run_record record = {.run_id = run_id, .status = RUN_STOPPED, .node = "START"};
	struct thread t = *was;
	struct run_record *run = run_id ? &record : NULL;
	must_write(
	    st, (struct thread_write){.thread = &t, .back_to = &was->view, .run = run}, NULL);
}

static void a_run_is_rolled_back_over_its_rewind(void)
{
	struct thread t = sample_thread("over"), was;
	struct checkpoint first, last;
	keep(&t, "m1 m2", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m3 ~m1", CHECKPOINT_RUN);
	last = newest(&t, 0);
	was = thread_now(st, arena, "over");
	t.run_id = "r";
	rewind_to(&t, &first, "n3", CHECKPOINT_STEP);
	keep(&t, "n4 ~m2", CHECKPOINT_STEP);
	SHOWS(&t, NULL, "m1 m2 n3 n4 | m1 n3 n4 m2");
	roll_back(&was, NULL);
	SHOWS(&t, NULL, "m1 m2 m3 | m2 m3 m1");
	CU_ASSERT_EQUAL(newest(&t, 0).number, last.number);
	CU_ASSERT_EQUAL(thread_now(st, arena, "over").message_bytes, was.message_bytes);
	keep(&t, "m4", CHECKPOINT_RUN);
	CU_ASSERT_EQUAL(newest(&t, 0).parent, last.number);
	SHOWS(&t, NULL, "m1 m2 m3 m4 | m2 m3 m1 m4");
	SHOWS(&t, &first.thread.view, "m1 m2 | m1 m2");
	SHOWS(&t, &last.thread.view, "m1 m2 m3 | m2 m3 m1");
}

/* The thread stood in an earlier branch when the run began; and nothing is lost by it. */
static void a_rewound_thread_is_rolled_back(void)
{
	struct thread t = sample_thread("stood"), was;
	struct checkpoint first, last;
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m2", CHECKPOINT_RUN);
	last = newest(&t, 0);
	rewind_alone(&t, &first);
	was = thread_now(st, arena, "stood");
	keep(&t, "n2 n3", CHECKPOINT_RUN);
	roll_back(&was, NULL);
	SHOWS(&t, NULL, "m1 | m1");
	SHOWS(&t, &last.thread.view, "m1 m2 | m1 m2");
	CU_ASSERT_EQUAL(newest(&t, 0).source, CHECKPOINT_REWIND);
	keep(&t, "o2", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 o2 | m1 o2");
	CU_ASSERT_EQUAL(newest(&t, 0).message_count, 2);
	rewind_alone(&t, &last);
	SHOWS(&t, NULL, "m1 m2 | m1 m2");
}

static void what_was_kept_for_a_rewind_stays(void)
{
	struct thread t = sample_thread("stays"), was;
	struct checkpoint first, c;
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m2", CHECKPOINT_NONE);
	was = thread_now(st, arena, "stays");
	rewind_to(&t, &first, "n2", CHECKPOINT_STEP);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 3);
	roll_back(&was, NULL);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 2);
	c = newest(&t, 0);
	CU_ASSERT_EQUAL(c.source, CHECKPOINT_UPDATE);
	SHOWS(&t, &c.thread.view, "m1 m2 | m1 m2");
	SHOWS(&t, NULL, "m1 m2 | m1 m2");
}

static void steps_without_messages_go_with_their_run(void)
{
	struct thread t = sample_thread("steps"), was;
	struct checkpoint c;
	t.run_id = "r0";
	t.fields_json = "{\"n\":0}";
	t.summary = "so far";
	keep(&t, "m1", CHECKPOINT_STEP);
	was = thread_now(st, arena, "steps");
	t.run_id = "r1";
	keep(&t, NULL, CHECKPOINT_STEP); /* which has the state of the one before it */
	t.fields_json = "{\"n\":1}";
	keep(&t, NULL, CHECKPOINT_STEP);
	t.fields_json = "{\"n\":2}";
	keep(&t, NULL, CHECKPOINT_STEP);
	roll_back(&was, "r1");
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 1);
	c = newest(&t, 0);
	CU_ASSERT_STRING_EQUAL(c.thread.run_id, "r0");
	CU_ASSERT_STRING_EQUAL(c.thread.fields_json, "{\"n\":0}");
	CU_ASSERT_PTR_NOT_NULL_FATAL(c.thread.summary);
	CU_ASSERT_STRING_EQUAL(c.thread.summary, "so far");
}

/* ---- read ---- */

static void checkpoints_are_listed_newest_first(void)
{
	static const enum checkpoint_source sources[] = {CHECKPOINT_STEP, CHECKPOINT_RUN,
	    CHECKPOINT_UPDATE, CHECKPOINT_STEP, CHECKPOINT_STEP, CHECKPOINT_RUN, CHECKPOINT_REWIND};
	static const char *const runs[] = {"r1", "r1", "r1", "r2", "r2", "r2", "r2"};
	struct thread t = sample_thread("listed"), now;
	struct checkpoint_filter filter = {.limit = 3};
	struct numbers all, some;
	for (size_t i = 0; i < 7; i++) {
		t.run_id = runs[i];
		keep(&t, NULL, sources[i]);
	}
	now = thread_now(st, arena, "listed");
	all = numbers_of(st, &now, NULL);
	CU_ASSERT_EQUAL_FATAL(all.count, 7);
	for (size_t i = 1; i < 7; i++)
		CU_ASSERT(all.at[i] < all.at[i - 1]);
	some = numbers_of(st, &now, &filter);
	CU_ASSERT_EQUAL_FATAL(some.count, 3);
	CU_ASSERT_EQUAL(some.at[0], all.at[0]);
	filter.before = all.at[2];
	some = numbers_of(st, &now, &filter);
	CU_ASSERT_EQUAL_FATAL(some.count, 3);
	CU_ASSERT(some.at[0] == all.at[3] && some.at[2] == all.at[5]);
	filter = (struct checkpoint_filter){.limit = 10, .run_id = "r1"};
	some = numbers_of(st, &now, &filter); /* not what was changed after it */
	CU_ASSERT_EQUAL_FATAL(some.count, 2);
	CU_ASSERT(some.at[0] == all.at[5] && some.at[1] == all.at[6]);
	filter = (struct checkpoint_filter){.limit = 2, .run_id = "r2", .before = all.at[1]};
	some = numbers_of(st, &now, &filter);
	CU_ASSERT_EQUAL_FATAL(some.count, 2);
	CU_ASSERT(some.at[0] == all.at[2] && some.at[1] == all.at[3]);
	filter.run_id = "r3";
	CU_ASSERT_EQUAL(numbers_of(st, &now, &filter).count, 0);
}

static bool note_small(void *arg, const struct checkpoint *c)
{
	const struct thread *t = &c->thread;
	int *small = arg;
	CU_ASSERT_STRING_EQUAL(t->next, "agent");
	*small +=
	    !t->pause_json && !t->waiting_json && !t->summary && strcmp(t->fields_json, "{}") == 0;
	return *small < 2;
}

static void a_listing_leaves_out_what_can_be_large(void)
{
	static const struct checkpoint_filter filter = {.limit = 10};
	struct thread t = sample_thread("small"), now;
	int small = 0;
	t.next = "agent";
	t.pause_json = t.waiting_json = t.fields_json = "{\"calls\":[]}";
	t.summary = "words";
	for (int i = 0; i < 3; i++)
		keep(&t, NULL, CHECKPOINT_STEP);
	now = thread_now(st, arena, "small");
	CU_ASSERT_TRUE(st->history->list(st, NULL, &now, &filter, note_small, &small, &err));
	CU_ASSERT_EQUAL(small, 2); /* and it ended when it was told to */
}

/* A thread whose list and context come from three branches, with second places in two of them. */
static struct thread branched(const char *thread_id)
{
	struct thread t = sample_thread(thread_id);
	struct checkpoint c;
	keep(&t, "m1 m2 m3 m4", CHECKPOINT_RUN);
	c = newest(&t, 0);
	keep(&t, "x5", CHECKPOINT_RUN);
	rewind_to(&t, &c, "m5 ~m2", CHECKPOINT_RUN);
	c = newest(&t, 0);
	keep(&t, "x6 ~m1", CHECKPOINT_RUN);
	rewind_to(&t, &c, "m6 ~m4 m7", CHECKPOINT_RUN);
	must_write(st,
	    (struct thread_write){.thread = &t, .leave = "m1", .checkpoint = CHECKPOINT_RUN}, NULL);
	return t;
}
#define BRANCHED "m1 m2 m3 m4 m5 m6 m7 | m3 m5 m2 m6 m4 m7"

static bool take_one(void *arg, const char *message_id, const char *body_json)
{
	add_text(arg, message_id, body_json);
	return false;
}

static void a_view_is_read_in_parts(void)
{
	struct thread t = branched("parts");
	struct page page = {.limit = INT64_MAX}, middle = {.offset = 3, .limit = 3};
	struct page searched = {.search = "M5", .limit = 9}, one = {.offset = 1, .limit = 1};
	struct buf list = {0}, context = {0};
	struct thread_view view;
	struct checkpoint c;
	SHOWS(&t, NULL, BRANCHED);
	CU_ASSERT_TRUE_FATAL(st->threads->view(st, NULL, t.row, &view, &err));
	c = newest(&t, 4);
	rewind_alone(&t, &c);
	for (int i = 0; i < 9; i++)
		CU_ASSERT_TRUE(st->threads->message_part(
		    st, NULL, t.row, &view, &page, take_one, &list, &err));
	CU_ASSERT_STRING_EQUAL(buf_str(&list), "m1 m2 m3 m4 m5 m6 m7");
	for (struct thread_view left = view; left.after < left.until;) {
		int64_t after = left.after;
		CU_ASSERT_TRUE(
		    st->threads->context_part(st, NULL, t.row, &left, take_one, &context, &err));
		if (left.after == after)
			break;
	}
	CU_ASSERT_STRING_EQUAL(buf_str(&context), "m3 m5 m2 m6 m4 m7");
	buf_reset(&list);
	CU_ASSERT_TRUE(
	    st->threads->message_list(st, NULL, t.row, &view, &middle, add_text, &list, &err));
	CU_ASSERT_STRING_EQUAL(buf_str(&list), "m4 m5 m6");
	buf_reset(&list);
	CU_ASSERT_TRUE(
	    st->threads->message_list(st, NULL, t.row, &view, &searched, add_text, &list, &err));
	CU_ASSERT_STRING_EQUAL(buf_str(&list), "m5");
	/* an offset and a part behind it */
	buf_reset(&list);
	for (int i = 0; i < 2; i++, one.limit = 2)
		CU_ASSERT_TRUE(
		    st->threads->message_part(st, NULL, t.row, &view, &one, add_text, &list, &err));
	CU_ASSERT_STRING_EQUAL(buf_str(&list), "m2 m3 m4");
	buf_release(&list);
	buf_release(&context);
}

static void a_view_stays_while_the_thread_goes_on(void)
{
	struct thread t = sample_thread("goes-on"), was;
	struct checkpoint first;
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m2", CHECKPOINT_RUN);
	was = thread_now(st, arena, "goes-on"); /* without branches so far */
	keep(&t, "m3 ~m1", CHECKPOINT_RUN);
	rewind_to(&t, &first, "n2 ~m1", CHECKPOINT_RUN);
	SHOWS(&t, &was.view, "m1 m2 | m1 m2");
	SHOWS(&t, &first.thread.view, "m1 | m1");
	SHOWS(&t, NULL, "m1 n2 | n2 m1");
}

static void the_view_of_a_thread_that_is_gone_is_empty(void)
{
	struct thread t = branched("gone");
	struct thread_view view = {1, 2, 3, true};
	const struct checkpoint_filter all = {.limit = 10};
	struct thread now = thread_now(st, arena, "gone");
	struct checkpoint c = newest(&t, 0);
	struct numbers n = {.count = 0};
	CU_ASSERT_TRUE_FATAL(remove_one(st, &t, &err));
	CU_ASSERT_TRUE(st->threads->view(st, NULL, t.row, &view, &err));
	CU_ASSERT(view.after == 0 && view.until == 0 && view.last == 0);
	SHOWS(&t, NULL, " | ");
	CU_ASSERT_FALSE(st->history->get(st, NULL, arena, &now, c.number, &c, &err));
	CU_ASSERT_FALSE(error_is_set(&err));
	CU_ASSERT_TRUE(st->history->list(st, NULL, &now, &all, add_number, &n, &err));
	CU_ASSERT_EQUAL(n.count, 0);
	t = sample_thread("gone");
	keep(&t, "m1", CHECKPOINT_NONE);
	now = thread_now(st, arena, "gone");
	CU_ASSERT_EQUAL(numbers_of(st, &now, NULL).count, 0);
	SHOWS(&t, NULL, "m1 | m1");
}

static const char *made_by(const char *thread_id, const char *run_id)
{
	static struct id_list list;
	struct run_record r;
	list = (struct id_list){.left = 100};
	CU_ASSERT_TRUE_FATAL(st->runs->get(st, NULL, arena, thread_id, run_id, &r, &err));
	CU_ASSERT_TRUE(st->runs->messages(st, NULL, &r, RUN_MADE, collect_message, &list, &err));
	return list.text;
}

static void runs_have_their_messages_in_any_branch(void)
{
	static const char *const runs[] = {"r1", "r2", "r3"};
	struct thread t = sample_thread("runs");
	struct checkpoint first;
	keep(&t, "m0", CHECKPOINT_RUN);
	first = newest(&t, 0);
	for (int i = 0; i < 3; i++) {
		struct run_record r = {.run_id = runs[i],
		    .status = RUN_COMPLETED,
		    .created_at = i + 1,
		    .finished_at = i + 2,
		    .brought = 1,
		    .node = "END"};
		char messages[64];
		snprintf(messages, sizeof(messages), "in out-%s ~m0", runs[i]);
		t.run_id = runs[i];
		must_write(st,
		    (struct thread_write){.thread = &t,
			.rewind = i ? &first : NULL,
			.run = &r,
			.checkpoint = CHECKPOINT_RUN},
		    messages);
	}
	CU_ASSERT_STRING_EQUAL(made_by("runs", "r1"), "out-r1 ");
	CU_ASSERT_STRING_EQUAL(made_by("runs", "r2"), "out-r2 ");
	CU_ASSERT_STRING_EQUAL(made_by("runs", "r3"), "out-r3 ");
}

/* ---- kept up to a number ---- */

static bool bytes_come_to(const char *thread_id, int64_t bytes)
{
	int64_t deadline = clock_monotonic_ms() + 60000;
	while (thread_now(st, arena, thread_id).message_bytes != bytes) {
		if (clock_monotonic_ms() > deadline)
			return false;
		clock_sleep_ms(5);
	}
	return true;
}

static void the_latest_are_shown(void)
{
	struct thread t = sample_thread("latest"), now;
	struct numbers all, some;
	struct checkpoint c;
	for (int i = 0; i < 9; i++)
		keep(&t, NULL, CHECKPOINT_UPDATE);
	now = thread_now(st, arena, "latest");
	all = numbers_of(st, &now, NULL);
	st->history_keep = 4;
	some = numbers_of(st, &now, NULL);
	CU_ASSERT_EQUAL_FATAL(some.count, 4);
	CU_ASSERT(some.at[0] == all.at[0] && some.at[3] == all.at[3]);
	CU_ASSERT_TRUE(st->history->get(st, NULL, arena, &now, all.at[3], &c, &err));
	CU_ASSERT_FALSE(st->history->get(st, NULL, arena, &now, all.at[4], &c, &err));
	CU_ASSERT_FALSE(error_is_set(&err));
	keep(&t, NULL, CHECKPOINT_UPDATE);
	some = numbers_of(st, &now, NULL);
	CU_ASSERT_EQUAL_FATAL(some.count, 4);
	CU_ASSERT_EQUAL(some.at[1], all.at[0]);
	CU_ASSERT_FALSE(st->history->get(st, NULL, arena, &now, all.at[3], &c, &err));
	st->history_keep = 0;
}

/* What only a trimmed branch showed goes; all else stays as it is. */
static void messages_that_nothing_shows_go(void)
{
	struct thread t = sample_thread("trimmed"), same = sample_thread("same");
	struct checkpoint start, side;
	keep(&same, "m1 m2 m3", CHECKPOINT_RUN);
	keep(&t, "m1 m2", CHECKPOINT_RUN);
	start = newest(&t, 0);
	keep(&t, "x3 x4 ~x3", CHECKPOINT_RUN);
	rewind_to(&t, &start, "s3 ~m1", CHECKPOINT_RUN);
	side = newest(&t, 0);
	rewind_to(&t, &start, "m3 ~m2", CHECKPOINT_RUN);
	st->history_keep = 40;
	t.summary = "with a state of their own";
	for (int i = 0; i < 38; i++)
		keep(&t, NULL, CHECKPOINT_UPDATE);
	t.summary = NULL;
	SHOWS(&t, &side.thread.view, "m1 m2 s3 | m2 s3 m1");
	st->history_keep = 10;
	for (int i = 0; i < 10; i++)
		keep(&t, NULL, CHECKPOINT_UPDATE);
	SHOWS(&t, NULL, "m1 m2 m3 | m1 m3 m2");
	CU_ASSERT_TRUE(bytes_come_to("trimmed", thread_now(st, arena, "same").message_bytes));
	SHOWS(&t, NULL, "m1 m2 m3 | m1 m3 m2");
	CU_ASSERT_EQUAL(newest(&t, 0).message_count, 3);
	st->history_keep = 0;
}

static void all_branches_count_for_the_size(void)
{
	struct thread t = sample_thread("size");
	struct checkpoint first;
	struct written w;
	written_read(&w, "m1 m2 m3");
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m2", CHECKPOINT_RUN);
	st->thread_max_bytes = 2 * (int64_t)strlen(w.bodies[0]) + 10;
	t = first.thread;
	CU_ASSERT_FALSE(
	    write_messages(st, (struct thread_write){.thread = &t, .rewind = &first}, "m3", &err));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_TOO_LARGE);
	error_release(&err);
	SHOWS(&t, NULL, "m1 m2 | m1 m2");
	rewind_alone(&t, &first); /* which needs no room */
	st->thread_max_bytes = 0;
}

/* ---- copied ---- */

static void a_copy_has_messages_and_context(void)
{
	struct thread t = branched("original"), from, to = sample_thread("copy");
	struct checkpoint c = newest(&t, 1), first;
	struct arena *a = arena;
	from = thread_now(st, a, "original");
	to.user_id = "bob";
	to.fields_json = "{\"n\":1}";
	to.pause_json = "{}";
	to.status = RUN_INTERRUPTED;
	CU_ASSERT_TRUE_FATAL(copy_one(st, &from, &to, &err));
	CU_ASSERT(to.row > t.row);
	SHOWS(&to, NULL, BRANCHED);
	first = newest(&to, 0);
	CU_ASSERT_EQUAL(first.source, CHECKPOINT_COPY);
	CU_ASSERT_EQUAL(first.parent, 0);
	CU_ASSERT_EQUAL(first.message_count, 7);
	CU_ASSERT_EQUAL(first.thread.status, RUN_INTERRUPTED);
	CU_ASSERT_STRING_EQUAL(first.thread.fields_json, "{\"n\":1}");
	CU_ASSERT_STRING_EQUAL(thread_now(st, a, "copy").user_id, "bob");
	SHOWS(&to, &first.thread.view, BRANCHED);
	CU_ASSERT_PTR_NOT_NULL(strstr(body_in(to.row, NULL, "m5"), "\"m5\""));
	CU_ASSERT_STRING_EQUAL(body_in(to.row, NULL, "x5"), "none");

	/* each goes its own way */
	keep(&to, "m8 ~m3", CHECKPOINT_RUN);
	SHOWS(&to, NULL, "m1 m2 m3 m4 m5 m6 m7 m8 | m5 m2 m6 m4 m7 m8 m3");
	SHOWS(&t, NULL, BRANCHED);
	rewind_to(&to, &first, "n8", CHECKPOINT_RUN);
	SHOWS(&to, NULL, "m1 m2 m3 m4 m5 m6 m7 n8 | m3 m5 m2 m6 m4 m7 n8");
	from.view = c.thread.view;
	to = sample_thread("copy-2");
	CU_ASSERT_TRUE_FATAL(copy_one(st, &from, &to, &err));
	SHOWS(&to, NULL, "m1 m2 m3 m4 m5 m6 m7 | m1 m3 m5 m2 m6 m4 m7");
	CU_ASSERT_TRUE_FATAL(remove_one(st, &t, &err));
	SHOWS(&to, NULL, "m1 m2 m3 m4 m5 m6 m7 | m1 m3 m5 m2 m6 m4 m7");
}

static void a_copy_of_a_plain_thread_is_plain(void)
{
	struct thread t = sample_thread("plain"), from, to = sample_thread("plain-copy");
	keep(&t, "m1 m2 m3", CHECKPOINT_RUN);
	must_write(st, (struct thread_write){.thread = &t, .leave = "m1"}, NULL);
	from = thread_now(st, arena, "plain");
	CU_ASSERT_TRUE_FATAL(copy_one(st, &from, &to, &err));
	SHOWS(&to, NULL, "m1 m2 m3 | m2 m3");
	CU_ASSERT_EQUAL(thread_now(st, arena, "plain-copy").message_bytes, from.message_bytes);
	CU_ASSERT_EQUAL(thread_now(st, arena, "plain-copy").view.plain, from.view.plain);
	keep(&to, "m4", CHECKPOINT_RUN);
	SHOWS(&to, NULL, "m1 m2 m3 m4 | m2 m3 m4");
}

/* The context began behind all places that there were, in other branches too. */
static void a_copy_of_a_cleared_branch_goes_on(void)
{
	struct thread t = sample_thread("behind"), from, to = sample_thread("behind-copy");
	struct checkpoint first;
	keep(&t, "m1", CHECKPOINT_RUN);
	first = newest(&t, 0);
	keep(&t, "m2 m3 m4 m5", CHECKPOINT_RUN);
	rewind_alone(&t, &first);
	must_write(st, (struct thread_write){.thread = &t, .clear_context = true}, NULL);
	from = thread_now(st, arena, "behind");
	CU_ASSERT_TRUE_FATAL(copy_one(st, &from, &to, &err));
	SHOWS(&to, NULL, "m1 | ");
	keep(&to, "n2", CHECKPOINT_RUN);
	SHOWS(&to, NULL, "m1 n2 | n2");
	keep(&t, "o2", CHECKPOINT_RUN);
	SHOWS(&t, NULL, "m1 o2 | o2");
}

static void a_copy_may_be_refused(void)
{
	struct thread t = branched("refused"), from = thread_now(st, arena, "refused");
	struct thread to = sample_thread("refused-copy"), there = sample_thread("there");
	struct thread gone = sample_thread("gone-original");
	keep(&there, "m1", CHECKPOINT_NONE);
	there.row = 0;
	CU_ASSERT_FALSE(copy_one(st, &from, &there, &err));
	CU_ASSERT_EQUAL(err.kind, st->engine->can.instances ? ERR_THREAD_BUSY : ERR_STORAGE);
	error_release(&err);
	st->thread_max_bytes = 6 * 60;
	CU_ASSERT_FALSE(copy_one(st, &from, &to, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_TOO_LARGE);
	error_release(&err);
	st->thread_max_bytes = 0;
	CU_ASSERT_FALSE(thread_exists(st, "refused-copy", NULL));
	keep(&gone, NULL, CHECKPOINT_NONE);
	gone = thread_now(st, arena, "gone-original");
	CU_ASSERT_TRUE_FATAL(remove_one(st, &t, &err));
	CU_ASSERT_TRUE_FATAL(remove_one(st, &gone, &err));
	CU_ASSERT_FALSE(copy_one(st, &from, &to, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
	CU_ASSERT_FALSE(copy_one(st, &gone, &to, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
	CU_ASSERT_FALSE(thread_exists(st, "refused-copy", NULL));
}

static void a_copy_waits_for_the_calls_of_its_state(void)
{
	struct thread t = sample_thread("waits"), from, to = sample_thread("waits-copy");
	struct checkpoint c;
	const char *thread_id = NULL;
	keep(&t, "m1", CHECKPOINT_RUN);
	from = thread_now(st, arena, "waits");
	to.waiting_json = "{\"calls\":[{\"id\":\"copied-call\"}]}";
	CU_ASSERT_TRUE_FATAL(copy_one(st, &from, &to, &err));
	CU_ASSERT_TRUE(
	    st->threads->waiting(st, NULL, arena, "alice", "copied-call", &thread_id, &err));
	CU_ASSERT_STRING_EQUAL(thread_id, "waits-copy");
	/* and a thread that goes back does again */
	t = from;
	t.waiting_json = "{\"calls\":[{\"id\":\"rewound-call\"}]}";
	keep(&t, NULL, CHECKPOINT_RUN);
	t.waiting_json = NULL;
	keep(&t, NULL, CHECKPOINT_RUN);
	CU_ASSERT_TRUE(
	    st->threads->waiting(st, NULL, arena, "alice", "rewound-call", &thread_id, &err));
	CU_ASSERT_PTR_NULL(thread_id);
	c = newest(&t, 1);
	rewind_alone(&t, &c);
	CU_ASSERT_TRUE(
	    st->threads->waiting(st, NULL, arena, "alice", "rewound-call", &thread_id, &err));
	CU_ASSERT_STRING_EQUAL(thread_id, "waits");
}

/* ---- of SQLite ---- */

static int64_t ask(const char *sql)
{
	return sqlite_ask("state/threads.db", sql);
}

static bool comes_to(const char *sql, int64_t wanted)
{
	int64_t deadline = clock_monotonic_ms() + 60000;
	while (ask(sql) != wanted) {
		if (clock_monotonic_ms() > deadline)
			return false;
		clock_sleep_ms(5);
	}
	return true;
}

static int64_t ends_left(void)
{
	return ask(
	    "SELECT (SELECT count(*) FROM checkpoints WHERE thread = threads.row)"
	    " + (SELECT count(*) FROM runs WHERE thread = threads.row AND checkpoints IS NOT NULL)"
	    " FROM threads WHERE thread_id = 'trimmed ends'");
}

/* Behind each, so many more than are kept are there for a moment. */
static void ends_of_runs_are_trimmed(void)
{
	struct thread t = sample_thread("trimmed ends");
	st->history_keep = 4;
	for (size_t at = 0; at < 60; at++) {
		run_end(&t, at % 40);
		keep(&t, NULL, CHECKPOINT_RUN);
		for (int i = 0; i < 5000 && ends_left() > 14; i++)
			clock_sleep_ms(1);
		CU_ASSERT(ends_left() <= 14);
		CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, at < 4 ? at + 1 : 4);
	}
	st->history_keep = 0;
	bool all = false; /* between the two looks another one may go */
	for (int i = 0; i < 1000 && !all; i++)
		all = (int64_t)numbers_of(st, &t, NULL).count == ends_left();
	CU_ASSERT(all);
}

/* Behind all others: what their threads have is whole, and nothing else is there. */
static void nothing_is_left_of_what_went(void)
{
	CU_ASSERT_TRUE(comes_to("SELECT count(*) FROM removed", 0));
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM checkpoints WHERE thread NOT IN (SELECT row FROM "
			    "threads)"),
	    0);
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM branches WHERE thread NOT IN (SELECT row FROM threads)"), 0);
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM entered WHERE thread NOT IN (SELECT row FROM threads)"), 0);
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM states WHERE row NOT IN (SELECT state FROM "
			    "checkpoints WHERE state IS NOT NULL)"),
	    0);
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM checkpoints WHERE state NOT IN (SELECT row FROM "
			    "states)"),
	    0);
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM bodies WHERE row NOT IN (SELECT body FROM messages)"), 0);
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM threads WHERE checkpoints < (SELECT count(*) FROM "
		"checkpoints WHERE thread = threads.row) + length(coalesce(recent, '')) "
		"- length(replace(coalesce(recent, ''), char(10), ''))"),
	    0);
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM runs JOIN threads ON threads.row = runs.thread "
		"WHERE runs.checkpoints IS NOT NULL AND number < coalesce(kept_from, number + 1)"),
	    0);
	CU_ASSERT_EQUAL(
	    ask("SELECT count(*) FROM threads WHERE message_bytes <> (SELECT "
		"coalesce(sum(length(CAST(b.body AS BLOB))), 0) FROM messages AS m JOIN bodies AS "
		"b ON b.row = m.body WHERE m.thread = threads.row)"),
	    0);
}

/* Neighbours share it; an empty or short one takes no row. */
static void states_are_kept_once(void)
{
	struct thread t = sample_thread("shared");
	int64_t before = ask("SELECT count(*) FROM states");
	for (int i = 0; i < 10; i++)
		keep(&t, NULL, CHECKPOINT_STEP);
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM states"), before);
	t.fields_json = "{\"n\":1}"; /* short: beside the checkpoint */
	for (int i = 0; i < 10; i++)
		keep(&t, NULL, CHECKPOINT_STEP);
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM states"), before);
	CU_ASSERT_STRING_EQUAL(newest(&t, 3).thread.fields_json, "{\"n\":1}");
	t.summary = "so far";
	for (int i = 0; i < 10; i++)
		keep(&t, NULL, CHECKPOINT_STEP);
	CU_ASSERT_EQUAL(ask("SELECT count(*) FROM states"), before + 1);
}

static int64_t of_thread(const char *thread_id, const char *what)
{
	char sql[256];
	snprintf(
	    sql, sizeof(sql), "SELECT %s FROM threads WHERE thread_id = '%s'", what, thread_id);
	return ask(sql);
}

#define IN_TABLE "(SELECT count(*) FROM checkpoints WHERE thread = row)"
#define IN_RECORDS "(SELECT count(checkpoints) FROM runs WHERE thread = row)"

/* Also of a thread that is new, and without saying twice what they have in common. */
static void what_a_run_keeps_lies_in_rows_that_it_writes(void)
{
	struct thread t = sample_thread("in rows");
	char id[64];
	t.run_id = "01a215fa-c980-7a22-a49a-105c1e5c88e1";
	for (int i = 1; i <= 11; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		t.status = i == 11 ? RUN_COMPLETED : RUN_RUNNING;
		keep(&t, id, i == 11 ? CHECKPOINT_RUN : CHECKPOINT_STEP);
		CU_ASSERT_EQUAL(of_thread("in rows", IN_TABLE), 0);
		CU_ASSERT_EQUAL(of_thread("in rows", "checkpoints"), i);
		CU_ASSERT_EQUAL(of_thread("in rows", "recent IS NULL"), i == 11);
		CU_ASSERT_EQUAL(of_thread("in rows", IN_RECORDS), i == 11);
	}
	CU_ASSERT(of_thread("in rows",
		      "(SELECT length(checkpoints) FROM runs WHERE thread = row)") < 100 + 10 * 40);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 11);
	for (int i = 0; i < 20; i++)
		keep(&t, NULL, CHECKPOINT_RUN);
	CU_ASSERT_EQUAL(of_thread("in rows", IN_RECORDS), 21);
	CU_ASSERT(
	    of_thread("in rows",
		"(SELECT max(length(checkpoints)) FROM runs WHERE thread = row AND number > 1)") <
	    64);
	CU_ASSERT_EQUAL(of_thread("in rows", IN_TABLE), 0);
}

/* What is not kept any more costs nothing but its record. */
static void what_records_have_goes_with_them(void)
{
	struct thread t = sample_thread("go along");
	t.status = RUN_COMPLETED;
	st->history_keep = st->runs_keep = 5;
	for (size_t at = 0; at < 40; at++)
		run_ends(&t, at);
	CU_ASSERT_EQUAL(of_thread("go along", IN_RECORDS), 5);
	CU_ASSERT_EQUAL(of_thread("go along", IN_TABLE), 0);
	st->history_keep = st->runs_keep = 0;
}

/* Not all of them at once, when the first one of many goes. */
static void what_is_kept_leaves_its_record_alone(void)
{
	struct thread t = sample_thread("leave");
	t.status = RUN_COMPLETED;
	st->runs_keep = 5;
	for (size_t at = 0; at < 12; at++)
		run_ends(&t, at);
	CU_ASSERT_EQUAL(of_thread("leave", IN_RECORDS), 5);
	CU_ASSERT_EQUAL(of_thread("leave", IN_TABLE), 7);
	st->runs_keep = 0;
}

/* Or to find one of them would take long. */
static void very_many_records_have_none(void)
{
	struct thread t = sample_thread("many records");
	t.status = RUN_COMPLETED;
	for (size_t at = 0; at < 300; at++)
		run_ends(&t, at);
	CU_ASSERT_EQUAL(numbers_of(st, &t, NULL).count, 300);
	CU_ASSERT_EQUAL(of_thread("many records", IN_TABLE), 257);
	CU_ASSERT_EQUAL(of_thread("many records", IN_RECORDS), 43);
}

/* Each said all that there is to say of it. */
static void lines_as_they_were_once_are_read(void)
{
	struct thread t = sample_thread("once");
	struct db *db = sqlite_open(unit_path("state/threads.db"), DB_WRITE, &err);
	struct checkpoint c;
	keep(&t, "m1 m2 m3", CHECKPOINT_NONE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	CU_ASSERT_TRUE(db_script(db,
	    "UPDATE threads SET checkpoint = 20, checkpoints = 2, recent ="
	    "'10\t5\t2\t3\t0\t1\t1\t2\tr1\tEND\t\t{}\n20\t5\t3\t5\t2\t4\t0\t3\tr2\ta\tb\t{\"n\":1}\n' "
	    "WHERE thread_id = 'once'",
	    &err));
	db_close(db);
	t.run_id = "r2";
	t.status = RUN_COMPLETED;
	keep(&t, "m4", CHECKPOINT_RUN);
	for (size_t later = 0; later < 2; later++) {
		c = newest(&t, 2 + later);
		CU_ASSERT_EQUAL(c.number, 10);
		CU_ASSERT_EQUAL(c.thread.view.after, 1);
		CU_ASSERT_EQUAL(c.thread.view.until, 2);
		c = newest(&t, 1 + later);
		CU_ASSERT_EQUAL(c.number, 20);
		CU_ASSERT_EQUAL(c.parent, 5);
		CU_ASSERT_EQUAL(c.message_count, 3);
		CU_ASSERT_EQUAL(c.thread.status, RUN_STOPPED);
		CU_ASSERT_EQUAL(c.thread.stop, STOP_DONE);
		CU_ASSERT_EQUAL(c.thread.step, 4);
		CU_ASSERT_STRING_EQUAL(c.thread.run_id, "r2");
		CU_ASSERT_STRING_EQUAL(c.thread.node, "a");
		CU_ASSERT_STRING_EQUAL(c.thread.next, "b");
		CU_ASSERT_STRING_EQUAL(c.thread.fields_json, "{\"n\":1}");
		c = newest(&t, later);
		CU_ASSERT_EQUAL(c.parent, 20);
		CU_ASSERT_STRING_EQUAL(c.thread.run_id, "r2");
		CU_ASSERT_STRING_EQUAL(c.thread.fields_json, "{}");
		keep(&t, NULL, CHECKPOINT_UPDATE); /* which sends them into the table */
	}
}

static void every_statement_was_used(void)
{
	check_statements("history");
}

static const struct unit_test of_any_engine[] = {
    {"a checkpoint has the state of then", a_checkpoint_has_the_state_of_then},
    {"an empty state comes back empty", an_empty_state_comes_back_empty},
    {"each checkpoint has its own state", each_checkpoint_has_its_own_state},
    {"writes keep nothing unless they say so", writes_keep_nothing_unless_they_say_so},
    {"numbers ascend from parent to child", numbers_ascend_from_parent_to_child},
    {"two writes of a change keep one each", two_writes_of_a_change_keep_one_each},
    {"ends of runs are found wherever they lie", ends_of_runs_are_found_wherever_they_lie},
    {"steps are found among ends", steps_are_found_among_ends},
    {"as many are shown as are kept, wherever they lie",
	as_many_are_shown_as_are_kept_wherever_they_lie},
    {"what records have outlives them", what_records_have_outlives_them},
    {"the latest of records are shown", the_latest_of_records_are_shown},
    {"all kinds of checkpoints stay in their order", all_kinds_of_checkpoints_stay_in_their_order},
    {"a start that comes with its end is no checkpoint",
	a_start_that_comes_with_its_end_is_no_checkpoint},
    {"what fails keeps nothing", what_fails_keeps_nothing},
    {"a thread goes back and forth", a_thread_goes_back_and_forth},
    {"going back to where it is changes nothing", going_back_to_where_it_is_changes_nothing},
    {"a thread goes back to its empty beginning", a_thread_goes_back_to_its_empty_beginning},
    {"branches may be of any depth", branches_may_be_of_any_depth},
    {"a deleted message stays deleted", a_deleted_message_stays_deleted},
    {"an edited message keeps its id in its branch", an_edited_message_keeps_its_id_in_its_branch},
    {"a context is what it was", a_context_is_what_it_was},
    {"second places are those of their branch", second_places_are_those_of_their_branch},
    {"a new thread may have second places", a_new_thread_may_have_second_places},
    {"what changed is kept before a rewind", what_changed_is_kept_before_a_rewind},
    {"a run from a checkpoint has it as parent", a_run_from_a_checkpoint_has_it_as_parent},
    {"a rewind buries the lost run", a_rewind_buries_the_lost_run},
    {"an unknown checkpoint is not gone back to", an_unknown_checkpoint_is_not_gone_back_to},
    {"a run is rolled back over its rewind", a_run_is_rolled_back_over_its_rewind},
    {"a rewound thread is rolled back", a_rewound_thread_is_rolled_back},
    {"what was kept for a rewind stays", what_was_kept_for_a_rewind_stays},
    {"steps without messages go with their run", steps_without_messages_go_with_their_run},
    {"checkpoints are listed newest first", checkpoints_are_listed_newest_first},
    {"a listing leaves out what can be large", a_listing_leaves_out_what_can_be_large},
    {"a view is read in parts", a_view_is_read_in_parts},
    {"a view stays while the thread goes on", a_view_stays_while_the_thread_goes_on},
    {"the view of a thread that is gone is empty", the_view_of_a_thread_that_is_gone_is_empty},
    {"runs have their messages in any branch", runs_have_their_messages_in_any_branch},
    {"the latest are shown", the_latest_are_shown},
    {"messages that nothing shows go", messages_that_nothing_shows_go},
    {"all branches count for the size", all_branches_count_for_the_size},
    {"a copy has messages and context", a_copy_has_messages_and_context},
    {"a copy of a plain thread is plain", a_copy_of_a_plain_thread_is_plain},
    {"a copy of a cleared branch goes on", a_copy_of_a_cleared_branch_goes_on},
    {"a copy may be refused", a_copy_may_be_refused},
    {"a copy waits for the calls of its state", a_copy_waits_for_the_calls_of_its_state},
};

static const struct unit_test of_sqlite[] = {
    {"ends of runs are trimmed", ends_of_runs_are_trimmed},
    {"what a run keeps lies in rows that it writes", what_a_run_keeps_lies_in_rows_that_it_writes},
    {"what records have goes with them", what_records_have_goes_with_them},
    {"what is kept leaves its record alone", what_is_kept_leaves_its_record_alone},
    {"very many records have none", very_many_records_have_none},
    {"lines as they were once are read", lines_as_they_were_once_are_read},
    {"states are kept once", states_are_kept_once},
    {"nothing is left of what went", nothing_is_left_of_what_went},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	int rc;
	arena = arena_new();
	rc = storage_main_on(&st, "storage_history", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
	arena_free(arena);
	return rc;
}
