/* SPDX-License-Identifier: ISC */
/* Who is told how tasks go on, on each engine: what goes into the outbox, and when. */
#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/runs.h"

#include "storage_fixture.h"

#define NEVER INT64_MAX

static struct storage *st;
static struct error err;
static struct arena *texts;

/* ---- what tests do ---- */

static bool follows(const char *thread_id, const char *task, const char *run_id)
{
	(void)thread_id, (void)task;
	return run_id[0] != '-';
}

static char *body_of(const struct run_record *record, const struct push *push)
{
	char body[256];
	snprintf(body, sizeof(body), "%s %s %s %d", record->thread_id, push->task, record->run_id,
	    (int)record->status);
	return xstrdup(body);
}

static const struct push_words words = {.follows = follows, .body = body_of};

static void check_ok(bool ok)
{
	if (!ok)
		printf("# %s (%s)\n", err.detail, err.cause);
	error_release(&err);
	CU_ASSERT_TRUE_FATAL(ok);
}

static bool write_run(struct thread *t, struct run_record *r)
{
	struct thread_write w = {.thread = t, .run = r};
	t->run_id = r->run_id;
	t->updated_at++;
	t->status = r->status;
	return write_one(st, &w, &err);
}

static struct run_record begin(struct thread *t, const char *run_id, const struct push *push)
{
	struct run_record r = {.run_id = run_id,
	    .status = RUN_RUNNING,
	    .created_at = t->updated_at,
	    .node = "START",
	    .keep = st->runs_keep,
	    .push = push};
	check_ok(write_run(t, &r));
	return r;
}

static void end(struct thread *t, struct run_record *r, enum run_status status)
{
	r->status = status;
	r->finished_at = t->updated_at + 1;
	check_ok(write_run(t, r));
}

static struct run_record run(struct thread *t, const char *run_id, enum run_status status)
{
	struct run_record r = begin(t, run_id, NULL);
	end(t, &r, status);
	return r;
}

static struct push sample_push(const char *task, const char *id, int64_t number)
{
	return (struct push){task, id, "https://h/x", "{\"token\":1}", number};
}

static bool put_push(const struct thread *t, const struct push *push, enum run_status status)
{
	bool room;
	check_ok(st->runs->push_put(st, NULL, t->row, push, status, 2, &room, &err));
	return room;
}

/* The ids of those of a task. */
static const char *pushes_of(const struct thread *t, const char *task)
{
	static struct id_list ids;
	struct push items[8];
	struct push_list list = {.items = items, .limit = 8};
	ids = (struct id_list){.left = 100};
	check_ok(st->runs->pushes_read(st, NULL, texts, t->row, task, &list, &err));
	for (size_t i = 0; i < list.count; i++)
		add_id(&ids, items[i].id);
	return ids.text;
}

/* The body of what is to be told, which is delivered then; one after the other. */
static const char *told(void)
{
	struct webhook items[8];
	struct webhooks_due due = {.now = NEVER, .per_site = 8, .items = items, .limit = 8};
	check_ok(st->runs->webhooks_due(st, NULL, texts, &due, &err));
	if (!due.count)
		return "nobody";
	CU_ASSERT_STRING_EQUAL(items[0].url, "https://h/x");
	CU_ASSERT_STRING_EQUAL(items[0].how_json, "{\"token\":1}");
	items[0].delivered_at = 5;
	check_ok(st->runs->webhook_settle(st, NULL, &items[0], &err));
	return items[0].body;
}

/* ---- tests ---- */

static void the_end_of_a_run_is_told_once(void)
{
	struct thread t = sample_thread("once"), u = sample_thread("other");
	const struct push push = sample_push("r1", "a", 0);
	st->pushes = &words;
	struct run_record r = begin(&t, "r1", &push);
	CU_ASSERT_STRING_EQUAL(pushes_of(&t, "r1"), "a ");
	run(&u, "r1", RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
	end(&t, &r, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "once r1 r1 3");
	check_ok(
	    st->runs->pushes_tell(st, NULL, (struct run_key){t.row, r.number}, RUN_IDLE, &err));
	run(&t, "r2", RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
	CU_ASSERT_STRING_EQUAL(pushes_of(&t, "r1"), "a ");
}

static void a_pause_and_what_answers_it_are_told(void)
{
	struct thread t = sample_thread("pause");
	const struct push push = sample_push("r1", "a", 0);
	struct run_record r = begin(&t, "r1", &push);
	end(&t, &r, RUN_INTERRUPTED);
	CU_ASSERT_STRING_EQUAL(told(), "pause r1 r1 2");
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
	run(&t, "r2", RUN_INTERRUPTED);
	CU_ASSERT_STRING_EQUAL(told(), "pause r1 r2 2");
	run(&t, "r3", RUN_ERROR);
	CU_ASSERT_STRING_EQUAL(told(), "pause r1 r3 4");
	run(&t, "r4", RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
}

static void a_pause_that_was_taken_away_is_told_as_stopped(void)
{
	struct thread t = sample_thread("away");
	const struct push push = sample_push("r1", "a", 0), other = sample_push("r2", "b", 0);
	struct run_record r = begin(&t, "r1", &push);
	end(&t, &r, RUN_INTERRUPTED);
	told();
	run(&t, "-r2", RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "away r1 r1 5");
	r = begin(&t, "r2", &other);
	end(&t, &r, RUN_INTERRUPTED);
	told();
	check_ok(
	    st->runs->pushes_tell(st, NULL, (struct run_key){t.row, r.number}, RUN_STOPPED, &err));
	CU_ASSERT_STRING_EQUAL(told(), "away r2 r2 5");
	run(&t, "r3", RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
}

static void one_whose_process_died_is_told_with_the_next_end(void)
{
	struct thread t = sample_thread("died");
	const struct push push = sample_push("r1", "a", 0);
	struct run_record r = begin(&t, "r1", &push), next;
	next = (struct run_record){.run_id = "r2",
	    .status = RUN_RUNNING,
	    .created_at = t.updated_at,
	    .node = "START",
	    .buries = true};
	check_ok(write_run(&t, &next));
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
	end(&t, &next, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "died r1 r1 4");
	CU_ASSERT(r.number < next.number);
}

static void it_comes_with_a_job_or_later(void)
{
	struct thread t = sample_thread("later");
	const struct push push = sample_push("r1", "a", 0);
	struct run_job job = {.run_id = "r1",
	    .body_json = "{}",
	    .caller_json = "{}",
	    .metadata_json = "{}",
	    .created_at = 1000,
	    .due_at = 1000,
	    .push = &push};
	struct lease *lease = hold(st, t.thread_id);
	enum submit_result result;
	check_ok(st->runs->submit(st, NULL, lease, &t, &job, &result, &err));
	let_go(st, lease);
	const struct push second = sample_push("r1", "b", job.number);
	const struct push third = sample_push("r1", "c", job.number);
	CU_ASSERT_TRUE(put_push(&t, &second, RUN_QUEUED));
	CU_ASSERT_TRUE(put_push(&t, &second, RUN_QUEUED));
	CU_ASSERT_FALSE(put_push(&t, &third, RUN_QUEUED));
	CU_ASSERT_STRING_EQUAL(pushes_of(&t, "r1"), "a b ");
	check_ok(st->runs->push_remove(st, NULL, t.row, "r1", "a", &err));
	CU_ASSERT_TRUE(put_push(&t, &third, RUN_QUEUED));
	CU_ASSERT_STRING_EQUAL(pushes_of(&t, "r1"), "b c ");
	check_ok(st->runs->finish(st, NULL, job.row, RUN_STOPPED, NULL, &err));
	CU_ASSERT_STRING_EQUAL(told(), "later r1 r1 5");
	CU_ASSERT_STRING_EQUAL(told(), "later r1 r1 5");
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
	/* of what is over already nothing follows */
	CU_ASSERT_TRUE(put_push(&t, &second, RUN_STOPPED));
	run(&t, "r2", RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
}

static void they_go_with_the_record_and_with_the_thread(void)
{
	struct thread t = sample_thread("gone");
	const struct push first = sample_push("r1", "a", 0), second = sample_push("r2", "a", 0);
	struct run_record r = begin(&t, "r1", &first), read;
	end(&t, &r, RUN_COMPLETED);
	told();
	check_ok(st->runs->get(st, NULL, texts, "gone", "r1", &read, &err));
	check_ok(st->runs->remove(st, NULL, &read, &err));
	CU_ASSERT_STRING_EQUAL(pushes_of(&t, "r1"), "");
	r = begin(&t, "r2", &second);
	end(&t, &r, RUN_COMPLETED);
	told();
	st->runs_keep = 1;
	run(&t, "r3", RUN_COMPLETED);
	st->runs_keep = 0;
	CU_ASSERT_STRING_EQUAL(pushes_of(&t, "r2"), "");

	struct thread u = sample_thread("gone too");
	r = begin(&u, "r1", &first);
	end(&u, &r, RUN_INTERRUPTED);
	CU_ASSERT_TRUE(remove_one(st, &u, &err));
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
	for (int i = 0; i < 5000 && *pushes_of(&u, "r1"); i++)
		clock_sleep_ms(1);
	CU_ASSERT_STRING_EQUAL(pushes_of(&u, "r1"), "");
	CU_ASSERT_FALSE(put_push(&u, &first, RUN_COMPLETED));
}

static void without_words_nobody_is_told(void)
{
	struct thread t = sample_thread("silent");
	const struct push push = sample_push("r1", "a", 0);
	st->pushes = NULL;
	struct run_record r = begin(&t, "r1", &push);
	end(&t, &r, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(told(), "nobody");
}

static void every_statement_was_used(void)
{
	check_statements("pushes");
}

static const struct unit_test of_any_engine[] = {
    {"the end of a run is told once", the_end_of_a_run_is_told_once},
    {"a pause and what answers it are told", a_pause_and_what_answers_it_are_told},
    {"a pause that was taken away is told as stopped",
	a_pause_that_was_taken_away_is_told_as_stopped},
    {"one whose process died is told with the next end",
	one_whose_process_died_is_told_with_the_next_end},
    {"it comes with a job or later", it_comes_with_a_job_or_later},
    {"they go with the record and with the thread", they_go_with_the_record_and_with_the_thread},
    {"without words nobody is told", without_words_nobody_is_told},
};

static const struct unit_test of_sqlite[] = {
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	texts = arena_new();
	int rc = storage_main_on(&st, "storage_pushes", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
	arena_free(texts);
	return rc;
}
