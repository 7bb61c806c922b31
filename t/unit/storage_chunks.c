/* SPDX-License-Identifier: ISC */
/* Chunks of runs that are kept. */
#include "base/os/clock.h"
#include "storage/queue.h"
#include "storage/runs.h"

#include "storage_fixture.h"

#include <stdlib.h>

static struct storage *st;
static struct error err;

static void check_ok(bool ok)
{
	if (!ok)
		printf("# %s (%s)\n", err.detail, err.cause);
	error_release(&err);
	CU_ASSERT_TRUE_FATAL(ok);
}

/* A run that keeps its chunks and goes on, in a thread that is made with the first of them. */
static struct run_record begin(struct thread *t, const char *run_id)
{
	struct run_record r = {.run_id = run_id,
	    .status = RUN_RUNNING,
	    .created_at = 100,
	    .node = "START",
	    .keep = st->runs_keep,
	    .keeps = true};
	struct thread_write w = {.thread = t, .run = &r};
	t->status = RUN_RUNNING;
	t->run_id = run_id;
	check_ok(write_one(st, &w, &err));
	return r;
}

static void end(struct thread *t, struct run_record *r, int64_t at)
{
	struct thread_write w = {.thread = t, .run = r};
	r->status = t->status = RUN_COMPLETED;
	r->finished_at = at;
	check_ok(write_one(st, &w, &err));
}

static bool try_append(const struct thread *t, int64_t number, int64_t seq, int64_t count)
{
	char lines[1024] = "";
	struct chunk_batch batch = {t->row, number, seq, count, lines, 0, NULL, false};
	for (int64_t i = 0; i < count; i++)
		snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%s-%lld\n",
		    t->run_id, (long long)(seq + i));
	batch.len = strlen(lines);
	return st->runs->chunks_append(st, NULL, &batch, 1, &err);
}

static void append(const struct thread *t, int64_t number, int64_t seq, int64_t count)
{
	check_ok(try_append(t, number, seq, count));
}

struct reading {
	char text[8192];
	int left;
};

static bool collect_batch(void *arg, const struct chunk_batch *b)
{
	struct reading *r = arg;
	snprintf(r->text + strlen(r->text), sizeof(r->text) - strlen(r->text), "%lld+%lld:%.*s",
	    (long long)b->seq, (long long)b->count, (int)b->len, b->lines);
	return --r->left > 0;
}

static const char *read_all(const struct thread *t, int64_t number, int64_t after, int most)
{
	static struct reading r;
	r = (struct reading){.left = most};
	check_ok(st->runs->chunks_read(
	    st, NULL, (struct run_key){t->row, number}, after, collect_batch, &r, &err));
	return r.text;
}

static int64_t last_of(const struct thread *t, int64_t number)
{
	int64_t seq = -1;
	check_ok(st->runs->chunks_last(st, NULL, (struct run_key){t->row, number}, &seq, &err));
	return seq;
}

/* Its run is not there to have them. */
static void append_in_vain(const struct thread *t, int64_t number, int64_t seq, int64_t count)
{
	CU_ASSERT_FALSE(try_append(t, number, seq, count));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	CU_ASSERT_EQUAL(last_of(t, number), 0);
}

static int64_t expire(int64_t now, int64_t most)
{
	int64_t count = -1;
	check_ok(st->runs->chunks_expire(st, NULL, now, most, &count, &err));
	return count;
}

static int64_t kept_until(const struct thread *t, const char *run_id)
{
	struct arena *a = arena_new();
	struct run_record r = {.kept_until = -7};
	int64_t until;
	CU_ASSERT_TRUE(st->runs->get(st, NULL, a, t->thread_id, run_id, &r, &err));
	until = r.kept_until;
	arena_free(a);
	return until;
}

static struct shared *shared_of(const struct storage *storage)
{
	return opened[opened_at(storage)].shared;
}

/* The sweeper is not waited for by who removes. */
static bool come_to_nothing(const struct thread *t, int64_t number)
{
	for (int i = 0; i < 5000 && last_of(t, number); i++)
		clock_sleep_ms(1);
	return last_of(t, number) == 0;
}

static void chunks_come_back_in_order(void)
{
	struct thread t = sample_thread("order");
	struct run_record r = begin(&t, "r");
	uint32_t count = chunks_count(shared_of(st), t.row, r.number);
	CU_ASSERT_EQUAL(last_of(&t, r.number), 0);
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9), "");
	append(&t, r.number, 1, 2);
	CU_ASSERT_NOT_EQUAL(chunks_count(shared_of(st), t.row, r.number), count);
	append(&t, r.number, 3, 1);
	append(&t, r.number, 4, 3);
	CU_ASSERT_EQUAL(last_of(&t, r.number), 6);
	CU_ASSERT_STRING_EQUAL(
	    read_all(&t, r.number, 0, 9), "1+2:r-1\nr-2\n3+1:r-3\n4+3:r-4\nr-5\nr-6\n");
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 1), "1+2:r-1\nr-2\n");
	CU_ASSERT_STRING_EQUAL(
	    read_all(&t, r.number, 1, 9), "1+2:r-1\nr-2\n3+1:r-3\n4+3:r-4\nr-5\nr-6\n");
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 3, 9), "4+3:r-4\nr-5\nr-6\n");
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 5, 9), "4+3:r-4\nr-5\nr-6\n");
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 6, 9), "");
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 100, 9), "");
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, INT64_MAX, 9), "");
	end(&t, &r, 200);
	append(&t, r.number, 7, 1);
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 6, 9), "7+1:r-7\n");
}

static void lines_may_have_marks(void)
{
	static const char text[] = "{\"a\":\"[\x01\x02\xc3\xa4]\"}\n";
	struct thread t = sample_thread("bytes");
	struct run_record r = begin(&t, "r");
	struct chunk_batch b = {t.row, r.number, 1, 1, text, sizeof(text) - 1, NULL, false};
	check_ok(st->runs->chunks_append(st, NULL, &b, 1, &err));
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9) + 4, text);
}

static void several_runs_are_appended_to_at_once(void)
{
	struct thread t = sample_thread("several"), u = sample_thread("others");
	struct run_record r = begin(&t, "r"), s = begin(&u, "s");
	const struct chunk_batch batches[] = {{t.row, r.number, 1, 1, "a\n", 2, NULL, false},
	    {u.row, s.number, 1, 1, "b\n", 2, NULL, false},
	    {t.row, r.number, 2, 1, "c\n", 2, NULL, false},
	    {t.row, r.number + 1, 1, 1, "x\n", 2, NULL, false}};
	CU_ASSERT_FALSE(st->runs->chunks_append(st, NULL, batches, 4, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	CU_ASSERT_EQUAL(last_of(&t, r.number), 0);
	check_ok(st->runs->chunks_append(st, NULL, batches, 3, &err));
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9), "1+1:a\n2+1:c\n");
	CU_ASSERT_STRING_EQUAL(read_all(&u, s.number, 0, 9), "1+1:b\n");
	CU_ASSERT_EQUAL(last_of(&t, r.number + 1), 0);
}

static void a_lease_goes_with_the_last_of_them(void)
{
	struct thread t = sample_thread("leased");
	struct run_record r = begin(&t, "r");
	struct chunk_batch b = {t.row, r.number, 1, 1, "a\n", 2, hold(st, "leased"), false};
	check_ok(st->runs->chunks_append(st, NULL, &b, 1, &err));
	let_go(st, hold(st, "leased"));
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9), "1+1:a\n");
}

static void an_end_that_is_missing_is_added_once(void)
{
	struct thread t = sample_thread("mended");
	struct run_record r = begin(&t, "r");
	struct chunk_batch b = {t.row, r.number, 2, 1, "end\n", 4, NULL, true};
	append(&t, r.number, 1, 1);
	check_ok(st->runs->chunks_append(st, NULL, &b, 1, &err));
	b.lines = "too late\n", b.len = 9;
	check_ok(st->runs->chunks_append(st, NULL, &b, 1, &err));
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9), "1+1:r-1\n2+1:end\n");
}

static void a_run_that_keeps_none_gets_none(void)
{
	struct thread t = sample_thread("none");
	struct run_record r = {
	    .run_id = "r", .status = RUN_COMPLETED, .created_at = 100, .node = "END"};
	struct thread_write w = {.thread = &t, .run = &r};
	t.run_id = "r";
	check_ok(write_one(st, &w, &err));
	append_in_vain(&t, r.number, 1, 2);
}

static bool line_ends_with(void *arg, const char *line, size_t len)
{
	const char *end = arg;
	return len >= strlen(end) && memcmp(line + len - strlen(end), end, strlen(end)) == 0;
}

static void chosen_lines_are_forgotten(void)
{
	struct thread t = sample_thread("forget"), u = sample_thread("remembers");
	struct run_record r = begin(&t, "r"), other = begin(&u, "u"), s;
	append(&u, other.number, 1, 4);
	append(&t, r.number, 1, 4);
	append(&t, r.number, 5, 1);
	append(&t, r.number, 6, 2);
	end(&t, &r, 200);
	s = begin(&t, "s");
	append(&t, s.number, 1, 5);
	check_ok(st->runs->chunks_forget(st, NULL, t.row, line_ends_with, (void *)"-5", &err));
	check_ok(st->runs->chunks_forget(st, NULL, t.row, line_ends_with, (void *)"-2", &err));
	CU_ASSERT_STRING_EQUAL(
	    read_all(&t, r.number, 0, 9), "1+4:r-1\nr-3\nr-4\n5+1:6+2:r-6\nr-7\n");
	CU_ASSERT_STRING_EQUAL(read_all(&t, s.number, 0, 9), "1+5:s-1\ns-3\ns-4\n");
	CU_ASSERT_STRING_EQUAL(read_all(&u, other.number, 0, 9), "1+4:u-1\nu-2\nu-3\nu-4\n");
	CU_ASSERT_EQUAL(last_of(&t, s.number), 5);
}

/* Some of which have much in common. */
static void like_lines_are_whole_also_when_one_is_forgotten(void)
{
	static const char like[] =
	    "{\"text\":\"one\",\"timestamp\":1763928000.250001,\"seq\":1}\n"
	    "{\"text\":\"two\",\"timestamp\":1763928000.250002,\"seq\":2}\n"
	    "{\"text\":\"drei\",\"timestamp\":1763928000.250003,\"seq\":3}\n";
	struct thread t = sample_thread("like");
	struct run_record r = begin(&t, "r");
	struct chunk_batch b = {t.row, r.number, 1, 3, like, sizeof(like) - 1, NULL, false};
	check_ok(st->runs->chunks_append(st, NULL, &b, 1, &err));
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9) + strlen("1+3:"), like);
	check_ok(st->runs->chunks_forget(st, NULL, t.row, line_ends_with, (void *)"2}", &err));
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9),
	    "1+3:{\"text\":\"one\",\"timestamp\":1763928000.250001,\"seq\":1}\n"
	    "{\"text\":\"drei\",\"timestamp\":1763928000.250003,\"seq\":3}\n");
}

static void very_many_are_forgotten(void)
{
	struct thread t = sample_thread("forgets many");
	struct run_record r = begin(&t, "r");
	struct reading all = {.left = 1000};
	for (int i = 0; i < 100; i++)
		append(&t, r.number, 1 + 10 * i, 10);
	check_ok(st->runs->chunks_forget(st, NULL, t.row, line_ends_with, (void *)"7", &err));
	check_ok(st->runs->chunks_read(
	    st, NULL, (struct run_key){t.row, r.number}, 0, collect_batch, &all, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(all.text, "r-16\nr-18\n"));
	CU_ASSERT_PTR_NULL(strstr(all.text, "7\n"));
	CU_ASSERT_EQUAL(last_of(&t, r.number), 1000);
}

static void chunks_go_when_their_time_is_over(void)
{
	struct thread t = sample_thread("expires"), u = sample_thread("goes on");
	struct run_record r, s, on;
	while (expire(INT64_MAX, 1000) > 0)
		;
	r = begin(&t, "r");
	st->chunks_keep = 1000;
	for (int i = 1; i <= 150; i++)
		append(&t, r.number, i, 1);
	end(&t, &r, 200);
	s = begin(&t, "s");
	append(&t, s.number, 1, 1);
	end(&t, &s, 300);
	on = begin(&u, "on");
	append(&u, on.number, 1, 1);
	CU_ASSERT_EQUAL(kept_until(&t, "r"), 1200);
	CU_ASSERT_EQUAL(expire(1199, 1000), 0);
	CU_ASSERT_EQUAL(last_of(&t, r.number), 150);
	CU_ASSERT(expire(1200, 1) > 0);
	CU_ASSERT_EQUAL(kept_until(&t, "r"), 1200);
	while (expire(1200, 1) > 0)
		;
	CU_ASSERT_EQUAL(last_of(&t, r.number), 0);
	CU_ASSERT_EQUAL(kept_until(&t, "r"), RUN_NOT_KEPT);
	append_in_vain(&t, r.number, 151, 1);
	CU_ASSERT_EQUAL(kept_until(&t, "s"), 1300);
	CU_ASSERT_EQUAL(last_of(&t, s.number), 1);
	CU_ASSERT_EQUAL(last_of(&u, on.number), 1);
	st->chunks_keep = 0;
}

/* Of which the lease tells, as nothing else does. */
static void a_run_that_was_lost_ends_when_somebody_looks(void)
{
	struct thread t = sample_thread("is lost"), u = sample_thread("lives"), now;
	struct run_record lost, lives;
	struct lease *lease;
	struct arena *a = arena_new();
	st->chunks_keep = 1000;
	lost = begin(&t, "lost");
	lives = begin(&u, "lives");
	lease = hold(st, "lives");
	check_ok(st->threads->lease_run(st, NULL, lease, "lives", &err));
	append(&t, lost.number, 1, 1);
	append(&u, lives.number, 1, 1);
	expire(5000, 1000);
	CU_ASSERT_EQUAL(kept_until(&t, "lost"), 6000);
	CU_ASSERT_EQUAL(kept_until(&u, "lives"), RUN_KEPT);
	CU_ASSERT_TRUE(st->threads->get(st, NULL, a, "is lost", &now, &err));
	CU_ASSERT_EQUAL(now.status, RUN_RUNNING); /* it says so itself whoever asks */
	CU_ASSERT_EQUAL(last_of(&t, lost.number), 1);
	expire(6000, 1000);
	CU_ASSERT_EQUAL(last_of(&t, lost.number), 0);
	CU_ASSERT_EQUAL(last_of(&u, lives.number), 1);
	let_go(st, lease);
	st->chunks_keep = 0;
	arena_free(a);
}

static bool count_message(void *arg, const char *id, const char *body_json)
{
	(void)id, (void)body_json;
	++*(int *)arg;
	return true;
}

static void the_next_run_ends_what_a_lost_one_kept(void)
{
	struct thread t = sample_thread("is buried");
	struct arena *a = arena_new();
	struct run_record lost;
	int made = 0;
	struct run_record next = {.run_id = "next",
	    .status = RUN_COMPLETED,
	    .created_at = 400,
	    .node = "END",
	    .buries = true};
	struct thread_write w = {.thread = &t, .run = &next};
	st->chunks_keep = 1000;
	begin(&t, "lost");
	t.updated_at = 300;
	must_put(st, &t, "said");
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_EQUAL(kept_until(&t, "lost"), 1300);
	check_ok(st->runs->get(st, NULL, a, t.thread_id, "lost", &lost, &err));
	check_ok(st->runs->messages(st, NULL, &lost, RUN_MADE, count_message, &made, &err));
	CU_ASSERT_EQUAL(made, 1); /* they are there, and told of it */
	arena_free(a);
	CU_ASSERT_EQUAL(kept_until(&t, "next"), RUN_NOT_KEPT);
	st->chunks_keep = 0;
}

static void chunks_go_with_their_record(void)
{
	struct thread t = sample_thread("dropped");
	struct run_record r = begin(&t, "r"), again, next;
	for (int i = 1; i <= 150; i++)
		append(&t, r.number, i, 1);
	end(&t, &r, 200);
	r.thread_row = t.row;
	check_ok(st->runs->remove(st, NULL, &r, &err));
	again = begin(&t, "r");
	append(&t, again.number, 1, 1);
	CU_ASSERT_STRING_EQUAL(read_all(&t, again.number, 0, 9), "1+1:r-1\n");
	if (again.number != r.number)
		CU_ASSERT_TRUE(come_to_nothing(&t, r.number));
	CU_ASSERT_EQUAL(last_of(&t, again.number), 1);
	end(&t, &again, 300);
	st->runs_keep = 1;
	next = begin(&t, "next");
	st->runs_keep = 0;
	append(&t, next.number, 1, 2);
	CU_ASSERT_TRUE(come_to_nothing(&t, again.number));
	CU_ASSERT_EQUAL(last_of(&t, next.number), 2);
}

static void chunks_go_with_their_thread(void)
{
	struct thread t = sample_thread("gone"), u = sample_thread("stays");
	struct run_record r = begin(&t, "r"), s = begin(&u, "s");
	uint32_t count = chunks_count(shared_of(st), t.row, r.number);
	for (int i = 1; i <= 150; i++)
		append(&t, r.number, i, 1);
	append(&u, s.number, 1, 1);
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_NOT_EQUAL(chunks_count(shared_of(st), t.row, r.number), count);
	CU_ASSERT_TRUE(come_to_nothing(&t, r.number));
	append_in_vain(&t, r.number, 151, 1);
	CU_ASSERT_EQUAL(last_of(&u, s.number), 1);
}

/* What its process has still to write must not become a chunk of the next run. */
static void a_number_is_not_given_again(void)
{
	struct thread t = sample_thread("once");
	struct run_record r = begin(&t, "r"), again;
	append(&t, r.number, 1, 1);
	end(&t, &r, 200);
	r.thread_row = t.row;
	check_ok(st->runs->remove(st, NULL, &r, &err));
	CU_ASSERT_TRUE(come_to_nothing(&t, r.number));
	again = begin(&t, "r");
	CU_ASSERT_NOT_EQUAL(again.number, r.number);
	append_in_vain(&t, r.number, 2, 1);
	append(&t, again.number, 1, 1);
	end(&t, &again, 300);
	again.thread_row = t.row;
	check_ok(st->runs->remove(st, NULL, &again, &err));
	CU_ASSERT_TRUE(come_to_nothing(&t, again.number));
	CU_ASSERT_EQUAL(begin(&t, "r").number, again.number + 1);
}

static void an_end_that_was_added_stays(void)
{
	struct thread t = sample_thread("ended");
	struct run_record r = begin(&t, "r");
	struct chunk_batch b = {t.row, r.number, 1, 1, "end\n", 4, NULL, true};
	check_ok(st->runs->chunks_append(st, NULL, &b, 1, &err));
	CU_ASSERT_FALSE(try_append(&t, r.number, 1, 1));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	CU_ASSERT_STRING_EQUAL(read_all(&t, r.number, 0, 9), "1+1:end\n");
}

static void every_statement_was_used(void)
{
	check_statements("chunks");
}

static const struct unit_test of_any_engine[] = {
    {"chunks come back in order", chunks_come_back_in_order},
    {"lines may have marks", lines_may_have_marks},
    {"several runs are appended to at once", several_runs_are_appended_to_at_once},
    {"a lease goes with the last of them", a_lease_goes_with_the_last_of_them},
    {"an end that is missing is added once", an_end_that_is_missing_is_added_once},
    {"a run that keeps none gets none", a_run_that_keeps_none_gets_none},
    {"chosen lines are forgotten", chosen_lines_are_forgotten},
    {"like lines are whole, also when one is forgotten",
	like_lines_are_whole_also_when_one_is_forgotten},
    {"very many are forgotten", very_many_are_forgotten},
    {"chunks go when their time is over", chunks_go_when_their_time_is_over},
    {"a run that was lost ends when somebody looks", a_run_that_was_lost_ends_when_somebody_looks},
    {"the next run ends what a lost one kept", the_next_run_ends_what_a_lost_one_kept},
    {"chunks go with their record", chunks_go_with_their_record},
    {"chunks go with their thread", chunks_go_with_their_thread},
};

static const struct unit_test of_sqlite[] = {
    {"a number is not given again", a_number_is_not_given_again},
    {"an end that was added stays", an_end_that_was_added_stays},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	return storage_main_on(&st, "storage_chunks", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
}
