/* SPDX-License-Identifier: ISC */
/* Runs in the background as the storage keeps them: the queue, its claims, and the outbox. */
#include "base/buf.h"
#include "base/os/clock.h"
#include "storage/queue.h"
#include "storage/runs.h"

#include "storage_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct storage *st;
static struct error err;
static struct arena *texts; /* for what is claimed and read */

#define NOW 1000000 /* of most tests: what they submit is due before that */
#define NEVER INT64_MAX

/* ---- what tests do ---- */

static struct run_job sample_job(const char *run_id, int64_t at)
{
	return (struct run_job){.run_id = run_id,
	    .body_json = "{\"messages\":[]}",
	    .caller_json = "{\"user\":\"alice\"}",
	    .metadata_json = "{}",
	    .created_at = at,
	    .due_at = at};
}

static void check_ok(bool ok)
{
	if (!ok)
		printf("# %s (%s)\n", err.detail, err.cause);
	error_release(&err);
	CU_ASSERT_TRUE_FATAL(ok);
}

/* The thread is made with it when it is new. */
static enum submit_result submit(struct thread *t, struct run_job *job)
{
	struct lease *lease = t->row ? NULL : hold(st, t->thread_id);
	enum submit_result result;
	if (lease)
		t->created_at = t->updated_at = job->created_at;
	check_ok(st->runs->submit(st, NULL, lease, t, job, &result, &err));
	if (lease)
		let_go(st, lease);
	return result;
}

static struct run_job must_submit(struct thread *t, const char *run_id, int64_t at, int64_t delay)
{
	struct run_job job = sample_job(run_id, at);
	job.due_at += delay;
	CU_ASSERT_EQUAL_FATAL(submit(t, &job), SUBMIT_DONE);
	return job;
}

static bool claim_row(int64_t row, int64_t now, struct run_job *job, int64_t *next_due)
{
	bool got = st->runs->claim(st, NULL, texts, row, now, job, next_due, &err);
	check_ok(!error_is_set(&err));
	return got;
}

/* The run that is claimed then; job may be NULL. */
static const char *claimed(int64_t now, struct run_job *job)
{
	static struct run_job own;
	int64_t next;
	job = job ? job : &own;
	return claim_row(0, now, job, &next) ? job->run_id : "none";
}

static void finish(const struct run_job *job, enum run_status status)
{
	check_ok(st->runs->finish(st, NULL, job->row, status, NULL, &err));
}

static bool read_record(const char *thread_id, const char *run_id, struct run_record *r)
{
	bool found = st->runs->get(st, NULL, texts, thread_id, run_id, r, &err);
	check_ok(!error_is_set(&err));
	return found;
}

/* -1 when it is gone. */
static int status_of(const char *thread_id, const char *run_id)
{
	struct run_record r;
	return read_record(thread_id, run_id, &r) ? (int)r.status : -1;
}

static bool collect_run(void *arg, const struct run_record *record)
{
	return add_id(arg, record->run_id);
}

static const char *runs_of(const char *owner, const char *thread_id, unsigned statuses)
{
	static struct id_list list;
	const struct record_filter filter = {owner, thread_id, statuses};
	list = (struct id_list){.left = 100};
	CU_ASSERT_TRUE(st->runs->list(st, NULL, &filter, collect_run, &list, &err));
	return list.text;
}

static bool count_run(void *arg, const struct run_record *record)
{
	(void)record;
	++*(int64_t *)arg;
	return true;
}

static int64_t stopped_of(const char *thread_id)
{
	const struct record_filter filter = {NULL, thread_id, 1 << RUN_STOPPED};
	int64_t count = 0;
	CU_ASSERT_TRUE(st->runs->list(st, NULL, &filter, count_run, &count, &err));
	return count;
}

/* How many jobs were stopped. */
static int64_t stop_all(const char *thread_id, const char *run_id)
{
	int64_t before = stopped_of(thread_id);
	check_ok(st->runs->stop_queued(st, NULL, thread_id, run_id, ORDER_STOP, &err));
	return stopped_of(thread_id) - before;
}

static enum lease_order ordered(const struct run_job *job)
{
	enum lease_order order;
	check_ok(st->runs->ordered(st, NULL, job->row, &order, &err));
	return order;
}

static bool due(const char *thread_id, int64_t now, int64_t at_least)
{
	bool reached;
	check_ok(st->runs->queued_due(st, NULL, thread_id, now, at_least, &reached, &err));
	return reached;
}

static struct shared *shared_of(const struct storage *storage)
{
	return opened[opened_at(storage)].shared;
}

/* How many jobs wait.  Where there may be other instances they are counted now and then, and what
 * is done meanwhile is in it twice until the next count: there it may come later that they are as
 * many as expected. */
static int64_t waiting(int64_t expected)
{
	int64_t jobs = queue_waiting(shared_of(st));
	for (int i = 0; st->engine->can.instances && jobs != expected && i < 10000; i++) {
		clock_sleep_ms(1);
		jobs = queue_waiting(shared_of(st));
	}
	return jobs;
}

/* Ends what earlier tests have left, so that each begins with an empty queue. */
static void empty_the_queue(void)
{
	struct run_job job;
	while (strcmp(claimed(NEVER, &job), "none") != 0)
		finish(&job, RUN_STOPPED);
	CU_ASSERT_FALSE(due(NULL, NEVER, 1));
	CU_ASSERT_EQUAL(waiting(0), 0);
}

static struct run_record begun(const struct run_job *job)
{
	return (struct run_record){.run_id = job->run_id,
	    .number = job->number,
	    .job = job->row,
	    .status = RUN_RUNNING,
	    .created_at = job->created_at,
	    .started_at = job->created_at + 5,
	    .node = "START"};
}

/* What a run of a job writes, with so many messages; the thread is read before. */
static bool write_run(const char *thread_id, struct run_record *r, size_t messages)
{
	char body[4][256], id[4][32];
	struct new_message m[4];
	struct thread t;
	struct thread_write w = {.thread = &t, .messages = m, .message_count = messages, .run = r};
	for (size_t i = 0; i < messages; i++) {
		snprintf(id[i], sizeof(id[i]), "%s-%s-%zu", r->run_id,
		    r->status == RUN_RUNNING ? "in" : "out", i);
		m[i] = sample_message(id[i], body[i]);
	}
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, texts, thread_id, &t, &err));
	t.run_id = r->run_id;
	t.updated_at++;
	t.status = r->status;
	return write_one(st, &w, &err);
}

static void must_begin(const struct run_job *job)
{
	struct run_record r = begun(job);
	st->runs->begins(st, job);
	r.brought = 1;
	check_ok(write_run(job->thread_id, &r, 1));
}

static void must_end(const struct run_job *job, enum run_status status)
{
	struct run_record r = begun(job);
	r.status = status;
	r.finished_at = job->created_at + 10;
	r.node = "END";
	r.step = 2;
	r.usage = (struct run_usage){1, 2, 3, 6};
	check_ok(write_run(job->thread_id, &r, 2));
}

static void must_run(const struct run_job *job)
{
	must_begin(job);
	must_end(job, RUN_COMPLETED);
}

/* ---- one job ---- */

static void a_job_comes_back_as_it_was_submitted(void)
{
	struct thread t = sample_thread("back");
	struct run_job job = sample_job("r1", 100), got;
	struct run_record r;
	uint32_t word = bell_word(shared_of(st), BELL_QUEUE);
	int64_t next;
	empty_the_queue();
	job.metadata_json = "{\"a\":1}";
	job.webhook_url = "https://h/x";
	job.due_at = 200;
	CU_ASSERT_EQUAL_FATAL(submit(&t, &job), SUBMIT_DONE);
	CU_ASSERT(t.row > 0 && job.row > 0 && job.number == 1);
	CU_ASSERT_EQUAL(job.thread_row, t.row);
	CU_ASSERT_NOT_EQUAL(bell_word(shared_of(st), BELL_QUEUE), word);
	CU_ASSERT_EQUAL(waiting(1), 1);

	CU_ASSERT_TRUE_FATAL(read_record("back", "r1", &r));
	CU_ASSERT_EQUAL(r.status, RUN_QUEUED);
	CU_ASSERT_EQUAL(r.job, job.row);
	CU_ASSERT_EQUAL(r.number, 1);
	CU_ASSERT_EQUAL(r.created_at, 100);
	CU_ASSERT(r.started_at == 0 && r.finished_at == 0);
	CU_ASSERT_EQUAL(r.attempt, 1);
	CU_ASSERT_STRING_EQUAL(r.node, "START");
	CU_ASSERT_STRING_EQUAL(r.metadata_json, "{\"a\":1}");
	CU_ASSERT_STRING_EQUAL(r.webhook.url, "https://h/x");
	CU_ASSERT_EQUAL(r.kept_until, RUN_KEPT);
	CU_ASSERT_TRUE(r.new_thread);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_MADE), "");

	CU_ASSERT_FALSE(claim_row(0, 199, &got, &next));
	CU_ASSERT_EQUAL(next, 200);
	CU_ASSERT_TRUE_FATAL(claim_row(0, 200, &got, &next));
	CU_ASSERT_EQUAL(got.row, job.row);
	CU_ASSERT_EQUAL(got.thread_row, t.row);
	CU_ASSERT_EQUAL(got.number, 1);
	CU_ASSERT_STRING_EQUAL(got.thread_id, "back");
	CU_ASSERT_STRING_EQUAL(got.run_id, "r1");
	CU_ASSERT_STRING_EQUAL(got.body_json, job.body_json);
	CU_ASSERT_STRING_EQUAL(got.caller_json, job.caller_json);
	CU_ASSERT_STRING_EQUAL(got.metadata_json, "{\"a\":1}");
	CU_ASSERT_STRING_EQUAL(got.webhook_url, "https://h/x");
	CU_ASSERT_PTR_NULL(got.answers_json);
	CU_ASSERT(got.created_at == 100 && got.due_at == 200);
	CU_ASSERT(got.attempt == 1 && !got.given_back);
	CU_ASSERT_EQUAL(waiting(0), 0);
	CU_ASSERT_FALSE(claim_row(0, NEVER - 1, &got, &next));
	CU_ASSERT_EQUAL(next, NEVER);
	CU_ASSERT_EQUAL(status_of("back", "r1"), RUN_QUEUED);
	finish(&job, RUN_ERROR);
}

static void a_long_request_comes_back(void)
{
	struct thread t = sample_thread("long");
	struct run_job job = sample_job("r1", 100), got;
	char body[5000];
	empty_the_queue();
	snprintf(body, sizeof(body), "{\"messages\":\"%04900d\"}", 7);
	job.body_json = body;
	CU_ASSERT_EQUAL_FATAL(submit(&t, &job), SUBMIT_DONE);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &got), "r1");
	CU_ASSERT_STRING_EQUAL(got.body_json, body);
	finish(&job, RUN_ERROR);
}

/* Before the clock was set back it was later. */
static void a_run_without_delay_is_due_by_any_clock(void)
{
	struct thread t = sample_thread("ahead");
	struct run_job job = sample_job("r1", 300), got;
	int64_t next;
	empty_the_queue();
	CU_ASSERT_EQUAL_FATAL(submit(&t, &job), SUBMIT_DONE);
	CU_ASSERT_TRUE_FATAL(claim_row(0, 200, &got, &next));
	CU_ASSERT_STRING_EQUAL(got.run_id, "r1");
	finish(&got, RUN_ERROR);
}

/* The clock was set back while it ran. */
static void one_that_is_due_earlier_waits_for_one_that_has_begun(void)
{
	struct thread t = sample_thread("set back");
	struct run_job job;
	empty_the_queue();
	must_submit(&t, "r1", 300, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_submit(&t, "r2", 100, 0);
	must_submit(&t, "r3", 200, 0);
	CU_ASSERT_EQUAL(stop_all("set back", "r2"), 1);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "none");
	finish(&job, RUN_ERROR);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r3");
	finish(&job, RUN_ERROR);
}

static void a_run_begins_and_ends_with_its_job(void)
{
	struct thread t = sample_thread("whole");
	struct run_job job;
	struct run_record r;
	uint32_t chunks;
	st->chunks_keep = 1000;
	must_put(st, &t, "before");
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	CU_ASSERT_TRUE_FATAL(read_record("whole", "r1", &r));
	CU_ASSERT_EQUAL(r.status, RUN_RUNNING);
	CU_ASSERT_EQUAL(r.started_at, 105);
	CU_ASSERT_EQUAL(r.kept_until, RUN_KEPT);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_GIVEN), "r1-in-0 ");
	chunks = chunks_count(shared_of(st), t.row, job.number);
	must_end(&job, RUN_INTERRUPTED);
	CU_ASSERT_NOT_EQUAL(chunks_count(shared_of(st), t.row, job.number), chunks);
	CU_ASSERT_TRUE_FATAL(read_record("whole", "r1", &r));
	CU_ASSERT_EQUAL(r.status, RUN_INTERRUPTED);
	CU_ASSERT(r.created_at == 100 && r.started_at == 105 && r.finished_at == 110);
	CU_ASSERT_EQUAL(r.kept_until, 1110);
	CU_ASSERT(r.step == 2 && r.usage.total == 6 && r.attempt == 1);
	CU_ASSERT_FALSE(r.new_thread);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_GIVEN), "r1-in-0 ");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_MADE), "r1-out-0 r1-out-1 ");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "none");
	st->chunks_keep = 0;
}

/* The thread's name, as who has claimed a job of it finds it with the lease. */
static const char *name_for(const struct run_job *job)
{
	struct lease *lease = hold(st, job->thread_id);
	struct thread t = {0};
	check_ok(st->threads->lease_thread(st, NULL, texts, lease, job, &t, &err));
	let_go(st, lease);
	CU_ASSERT_EQUAL(t.row, job->thread_row);
	return t.thread_name;
}

static void a_claim_has_the_thread_until_somebody_changes_it(void)
{
	struct thread t = sample_thread("looked at");
	struct run_job job;
	int64_t next;
	t.thread_name = "first";
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_TRUE_FATAL(claim_row(0, NOW, &job, &next));
	CU_ASSERT_STRING_EQUAL(name_for(&job), "first");
	t.thread_name = "second";
	must_put(st, &t, "m1");
	CU_ASSERT_STRING_EQUAL(name_for(&job), "second");
	finish(&job, RUN_ERROR);
}

static void begin_and_end_go_in_one_write(void)
{
	struct thread t = sample_thread("carried"), start;
	struct run_job job;
	struct run_record first, last, back;
	char body[2][256];
	struct new_message in = sample_message("in", body[0]), out = sample_message("out", body[1]);
	struct thread_write begin = {
	    .thread = &start, .messages = &in, .message_count = 1, .run = &first};
	struct thread_write end = {
	    .thread = &t, .messages = &out, .message_count = 1, .run = &last};
	struct deferred *pending = NULL;
	struct lease *lease;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	first = last = begun(&job);
	first.brought = last.brought = 1;
	last.status = RUN_ERROR;
	last.finished_at = 120;
	last.error_json = "{\"code\":\"X\"}";
	start = t;
	lease = hold(st, "carried");
	thread_defer(st, lease, &begin, &pending);
	check_ok(thread_write_after(st, NULL, lease, &pending, &end, &err));
	let_go(st, lease);
	CU_ASSERT_TRUE_FATAL(read_record("carried", "r1", &back));
	CU_ASSERT_EQUAL(back.status, RUN_ERROR);
	CU_ASSERT_EQUAL(back.started_at, 105);
	CU_ASSERT_STRING_EQUAL(back.error_json, "{\"code\":\"X\"}");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_GIVEN), "in ");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_MADE), "out ");
	CU_ASSERT_EQUAL(last.number, back.number);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "none");
}

/* Who ends a run has the next one with it, of whichever thread, unless nobody is to have one. */
static void the_end_of_a_run_claims_the_next_one(void)
{
	struct thread t = sample_thread("ends"), other = sample_thread("follows");
	atomic_bool enough = false;
	struct run_claim claim = {.arena = texts, .unless = &enough};
	struct run_job job;
	struct run_record r;

	must_submit(&t, "r1", 100, 0);
	must_submit(&other, "r2", 101, 0);
	must_submit(&t, "r3", 102, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	r = begun(&job);
	r.claims = &claim;
	r.step = 1;
	check_ok(write_run("ends", &r, 0));
	CU_ASSERT_EQUAL(claim.job.row, 0);
	r.status = RUN_COMPLETED;
	r.finished_at = 110;
	check_ok(write_run("ends", &r, 0));
	CU_ASSERT_EQUAL(waiting(1), 1);
	CU_ASSERT_STRING_EQUAL_FATAL(claim.job.run_id, "r2");
	CU_ASSERT_STRING_EQUAL(claim.job.thread_id, "follows");
	CU_ASSERT_EQUAL(claim.job.attempt, 1);
	CU_ASSERT_EQUAL(status_of("ends", "r1"), RUN_COMPLETED);

	/* what was claimed so is run and ended as any other */
	job = claim.job;
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "r3");
	must_begin(&job);
	r = begun(&job);
	r.status = RUN_COMPLETED;
	r.finished_at = 110;
	claim.job = (struct run_job){0};
	r.claims = &claim;
	check_ok(write_run("follows", &r, 0));
	CU_ASSERT_EQUAL(claim.job.row, 0);
	CU_ASSERT_EQUAL(waiting(0), 0);
}

static void the_end_of_a_run_claims_none_when_that_is_enough(void)
{
	struct thread t = sample_thread("enough"), other = sample_thread("waits on");
	atomic_bool enough = true;
	struct run_claim claim = {.arena = texts, .unless = &enough};
	struct run_job job, first;
	struct run_record r;

	empty_the_queue();
	must_submit(&t, "r1", 100, 0);
	must_submit(&other, "r2", 101, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &first), "r1");
	must_begin(&first);
	r = begun(&first);
	r.claims = &claim;
	r.status = RUN_COMPLETED;
	r.finished_at = 110;
	check_ok(write_run("enough", &r, 0));
	CU_ASSERT_EQUAL(claim.job.row, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");

	/* nor does an end that fails, as the run was over */
	must_submit(&other, "r3", 102, 0);
	enough = false;
	CU_ASSERT_FALSE(write_run("enough", &r, 0));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	CU_ASSERT_EQUAL(claim.job.row, 0);
	finish(&job, RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "r3");
}

/* What a run says between its begin and its end leaves its messages where they are. */
static void a_run_may_say_how_far_it_is(void)
{
	struct thread t = sample_thread("between");
	struct run_job job;
	struct run_record r, back;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	r = begun(&job);
	r.started_at = 999;
	r.node = "agent";
	r.step = 1;
	r.usage.total = 4;
	check_ok(write_run("between", &r, 0));
	CU_ASSERT_TRUE_FATAL(read_record("between", "r1", &back));
	CU_ASSERT(back.status == RUN_RUNNING && back.step == 1 && back.usage.total == 4);
	CU_ASSERT_EQUAL(back.started_at, 105);
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_TRUE_FATAL(read_record("between", "r1", &back));
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_GIVEN), "r1-in-0 ");
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &back, RUN_MADE), "r1-out-0 r1-out-1 ");
}

static void answers_are_kept_from_the_begin_on(void)
{
	struct thread t = sample_thread("answers");
	struct run_job job, again;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	r = begun(&job);
	r.answers_json = "[1]";
	check_ok(write_run("answers", &r, 0));
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &again), "r1");
	CU_ASSERT_STRING_EQUAL(again.answers_json ? again.answers_json : "none", "[1]");
	must_end(&again, RUN_COMPLETED);
}

static void an_attempt_that_is_given_back_was_none(void)
{
	struct thread t = sample_thread("given");
	struct run_job job;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_EQUAL(waiting(2), 2);
	CU_ASSERT_EQUAL(status_of("given", "r1"), RUN_RUNNING);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	CU_ASSERT(job.attempt == 1 && job.given_back);
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_TRUE_FATAL(read_record("given", "r1", &r));
	CU_ASSERT_EQUAL(r.attempt, 1);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_GIVEN), "r1-in-0 ");
	check_ok(st->runs->give_back(st, NULL, &job, &err)); /* it is over */
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	finish(&job, RUN_STOPPED);
}

static void a_job_that_is_refused_ends_without_a_run(void)
{
	struct thread t = sample_thread("refused");
	struct run_job first, next;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &first), "r1");
	check_ok(st->runs->finish(st, NULL, first.row, RUN_ERROR, "{\"code\":\"Y\"}", &err));
	CU_ASSERT_TRUE_FATAL(read_record("refused", "r1", &r));
	CU_ASSERT_EQUAL(r.status, RUN_ERROR);
	CU_ASSERT_STRING_EQUAL(r.error_json, "{\"code\":\"Y\"}");
	CU_ASSERT(r.finished_at > 100 && r.started_at == 0);
	CU_ASSERT(r.kept_until == r.finished_at);
	finish(&first, RUN_STOPPED); /* it is over */
	CU_ASSERT_EQUAL(status_of("refused", "r1"), RUN_ERROR);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &next), "r2");
	finish(&next, RUN_STOPPED);
}

/* ---- many ---- */

static void those_of_a_thread_come_one_after_the_other(void)
{
	struct thread t = sample_thread("line"), other = sample_thread("beside");
	struct run_job job, beside;
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 100, 0);
	must_submit(&t, "r3", 101, 0);
	must_submit(&other, "b1", 102, 0);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "line", ~0U), "r3 r2 r1 ");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &beside), "b1");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "none");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r3");
	must_run(&job);
	must_run(&beside);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "none");
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "line", 1U << RUN_COMPLETED), "r3 r2 r1 ");
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "line", 1U << RUN_QUEUED), "");
}

static void a_delayed_one_takes_its_place_when_its_delay_ends(void)
{
	struct thread t = sample_thread("delayed");
	struct run_job job, next;
	int64_t due_at;
	must_submit(&t, "late", 100, 400);
	must_submit(&t, "r1", 101, 0);
	must_submit(&t, "r2", 102, 0);
	must_submit(&t, "middle", 103, 100);
	CU_ASSERT_STRING_EQUAL(claimed(150, &job), "r1");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(150, &job), "r2");
	must_submit(&t, "r3", 250, 0);
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(300, &job), "middle");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(300, &job), "r3");
	must_run(&job);
	CU_ASSERT_FALSE(claim_row(0, 300, &job, &due_at));
	CU_ASSERT_EQUAL(due_at, 500);
	must_submit(&t, "r4", 310, 0);
	CU_ASSERT_STRING_EQUAL(claimed(320, &next), "r4");
	CU_ASSERT_STRING_EQUAL(claimed(500, &job), "none");
	must_run(&next);
	CU_ASSERT_STRING_EQUAL(claimed(500, &job), "late");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(
	    runs_of(NULL, "delayed", 1U << RUN_COMPLETED), "r4 r3 middle r2 r1 late ");
}

static void a_run_that_a_request_waits_for_takes_the_next_number(void)
{
	struct thread t = sample_thread("mixed");
	struct run_record r = {.run_id = "asked",
	    .status = RUN_COMPLETED,
	    .created_at = 102,
	    .finished_at = 103,
	    .node = "END"};
	struct thread_write w = {.thread = &t, .run = &r};
	struct run_job job;
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_EQUAL(r.number, 3);
	must_submit(&t, "r3", 104, 0);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "mixed", ~0U), "r3 asked r2 r1 ");
	CU_ASSERT_EQUAL(stop_all("mixed", NULL), 3);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none");
	CU_ASSERT_EQUAL(status_of("mixed", "asked"), RUN_COMPLETED);
}

static void queued_runs_of_many_threads_are_listed_newest_first(void)
{
	struct thread a = sample_thread("list-a"), b = sample_thread("list-b");
	struct run_job job;
	a.user_id = b.user_id = "carol";
	must_submit(&a, "a1", 100, 0);
	must_submit(&b, "b1", 200, 0);
	must_submit(&a, "a2", 300, 0);
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, ~0U), "a2 b1 a1 ");
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, 1U << RUN_QUEUED), "a2 b1 a1 ");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "a1");
	must_begin(&job);
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, 1U << RUN_QUEUED), "a2 b1 ");
	CU_ASSERT_STRING_EQUAL(runs_of("carol", NULL, 1U << RUN_RUNNING), "a1 ");
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_EQUAL(stop_all("list-a", NULL) + stop_all("list-b", NULL), 2);
}

static void a_submission_that_is_repeated_queues_nothing(void)
{
	struct thread t = sample_thread("repeated");
	struct run_record asked = {.run_id = "asked",
	    .status = RUN_COMPLETED,
	    .created_at = 90,
	    .finished_at = 91,
	    .node = "END"};
	struct thread_write w = {.thread = &t, .run = &asked};
	struct run_job first = sample_job("r1", 100), again = first, job;
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_EQUAL(submit(&t, &first), SUBMIT_DONE);
	CU_ASSERT_EQUAL(submit(&t, &again), SUBMIT_KNOWN);
	CU_ASSERT_EQUAL(again.row, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_run(&job);
	CU_ASSERT_EQUAL(submit(&t, &again), SUBMIT_KNOWN);
	again.orders = ORDER_STOP;
	CU_ASSERT_EQUAL(submit(&t, &again), SUBMIT_KNOWN);
	again.run_id = "asked";
	CU_ASSERT_EQUAL(submit(&t, &again), SUBMIT_KNOWN);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none");
	again.run_id = "r2";
	again.fresh_id = true;
	CU_ASSERT_EQUAL(submit(&t, &again), SUBMIT_DONE);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	finish(&job, RUN_STOPPED);
}

static void what_is_due_is_counted(void)
{
	struct thread t = sample_thread("due"), other = sample_thread("due too");
	struct run_job job;
	empty_the_queue();
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 100, 50);
	must_submit(&other, "r3", 100, 80);
	CU_ASSERT_TRUE(due(NULL, 100, 0));
	CU_ASSERT_FALSE(due(NULL, 99, 1));
	CU_ASSERT_TRUE(due(NULL, 100, 1) && !due(NULL, 100, 2));
	CU_ASSERT_TRUE(due(NULL, 180, 3) && !due(NULL, 180, 4));
	CU_ASSERT_TRUE(due("due", 150, 2) && !due("due", 180, 3));
	CU_ASSERT_FALSE(due("nobody", NEVER, 1));
	CU_ASSERT_STRING_EQUAL(claimed(100, &job), "r1");
	CU_ASSERT_FALSE(due(NULL, 100, 1));
	CU_ASSERT_TRUE(due("due", 100, 1)); /* which has the thread, or will in a moment */
	must_run(&job);
	CU_ASSERT_FALSE(due("due", 100, 1));
	CU_ASSERT_EQUAL(stop_all("due", NULL) + stop_all("due too", NULL), 2);
}

/* ---- stopped ---- */

static void a_stop_ends_what_waits(void)
{
	struct thread t = sample_thread("stopped");
	struct run_job runs, job;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	must_submit(&t, "r3", 102, 0);
	must_submit(&t, "r4", 103, 999);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &runs), "r1");
	must_begin(&runs);
	CU_ASSERT_EQUAL(stop_all("stopped", "r3"), 1);
	CU_ASSERT_EQUAL(stop_all("stopped", "r3"), 0);
	CU_ASSERT_EQUAL(stop_all("stopped", "r1"), 0);
	CU_ASSERT_EQUAL(stop_all("stopped", "r9"), 0);
	CU_ASSERT_EQUAL(stop_all("nobody", NULL), 0);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "stopped", 1U << RUN_STOPPED), "r3 ");
	CU_ASSERT_EQUAL(stop_all("stopped", NULL), 2);
	CU_ASSERT_EQUAL(status_of("stopped", "r1"), RUN_RUNNING);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none");
	must_end(&runs, RUN_COMPLETED);
	CU_ASSERT_TRUE_FATAL(read_record("stopped", "r4", &r));
	CU_ASSERT_EQUAL(r.status, RUN_STOPPED);
	CU_ASSERT(r.finished_at > 100 && r.started_at == 0 && r.step == 0);
	CU_ASSERT_STRING_EQUAL(r.node, "START");
	CU_ASSERT_STRING_EQUAL(claimed(NEVER, &job), "none");
	CU_ASSERT_EQUAL(waiting(0), 0);
}

/* Its process waits for the thread, say, and finds out when it writes. */
static void one_that_was_claimed_and_has_not_begun_is_stopped(void)
{
	struct thread t = sample_thread("unbegun");
	struct run_job job;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	CU_ASSERT_EQUAL(stop_all("unbegun", NULL), 1);
	CU_ASSERT_EQUAL(status_of("unbegun", "r1"), RUN_STOPPED);
	r = begun(&job);
	CU_ASSERT_FALSE(write_run("unbegun", &r, 1));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	CU_ASSERT_EQUAL(status_of("unbegun", "r1"), RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(listed(st, t.row, NULL), "");
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none");
}

static void one_that_was_given_back_is_stopped_with_its_thread(void)
{
	struct thread t = sample_thread("parked"), now;
	struct run_job job;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_EQUAL(stop_all("parked", NULL), 1);
	CU_ASSERT_TRUE(st->threads->get(st, NULL, texts, "parked", &now, &err));
	CU_ASSERT_EQUAL(now.status, RUN_STOPPED);
	CU_ASSERT_EQUAL(now.stop, STOP_DONE);
	CU_ASSERT_TRUE_FATAL(read_record("parked", "r1", &r));
	CU_ASSERT_EQUAL(r.status, RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_GIVEN), "r1-in-0 ");
}

static void an_order_is_kept_with_what_has_begun(void)
{
	struct thread t = sample_thread("ordered");
	struct run_job job, other, last = sample_job("r3", 103);
	must_submit(&t, "r1", 100, 0);
	other = must_submit(&t, "r2", 101, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	check_ok(st->runs->stop_queued(st, NULL, "ordered", NULL, ORDER_NONE, &err));
	CU_ASSERT(status_of("ordered", "r2") == RUN_QUEUED && ordered(&job) == ORDER_NONE);
	CU_ASSERT_EQUAL(stop_all("ordered", "r2"), 1);
	CU_ASSERT(ordered(&job) == ORDER_NONE && ordered(&other) == ORDER_NONE);
	CU_ASSERT_EQUAL(stop_all("ordered", NULL), 0);
	CU_ASSERT_EQUAL(ordered(&job), ORDER_STOP);
	last.orders = ORDER_ROLLBACK;
	CU_ASSERT_EQUAL(submit(&t, &last), SUBMIT_DONE);
	CU_ASSERT(ordered(&job) == ORDER_ROLLBACK && ordered(&last) == ORDER_NONE);
	CU_ASSERT_EQUAL(stop_all("ordered", "r1"), 0);
	CU_ASSERT_EQUAL(ordered(&job), ORDER_ROLLBACK);
	must_end(&job, RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r3");
	must_run(&job);
}

static bool arrival_read(void *arg, const struct arrival *arrival)
{
	struct buf *out = arg;
	buf_printf(out, "%lld:%s ", (long long)arrival->step, arrival->branch_json);
	return true;
}

static const char *arrived(const struct run_job *job, int64_t region)
{
	struct buf out = {0};
	check_ok(st->runs->arrived(st, NULL, job->row, region, arrival_read, &out, &err));
	const char *text = arena_strdup(texts, buf_str(&out));
	buf_release(&out);
	return text;
}

static void arrive(const struct run_job *job, int64_t region, bool first, int64_t step)
{
	const struct arrival a = {
	    job->row, region, first, step, arena_printf(texts, "{%lld}", (long long)step)};
	struct lease *lease = hold(st, job->thread_id);
	check_ok(st->runs->arrive(st, NULL, lease, &a, &err));
	let_go(st, lease);
}

static void branches_arrive_as_long_as_the_job_goes_on(void)
{
	struct thread t = sample_thread("regions");
	struct run_job job;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	CU_ASSERT_STRING_EQUAL(arrived(&job, 7), "");
	arrive(&job, 7, true, 2);
	arrive(&job, 7, false, 1);
	CU_ASSERT_STRING_EQUAL(arrived(&job, 7), "2:{2} 1:{1} ");
	CU_ASSERT_STRING_EQUAL(arrived(&job, 8), "");
	arrive(&job, 8, true, 3);
	CU_ASSERT_STRING_EQUAL(arrived(&job, 7), "");
	CU_ASSERT_STRING_EQUAL(arrived(&job, 8), "3:{3} ");
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(arrived(&job, 8), "");
	arrive(&job, 8, false, 4);
	CU_ASSERT_STRING_EQUAL(arrived(&job, 8), "");
}

static void one_that_is_to_be_rolled_back_is_not_ended_before(void)
{
	struct thread t = sample_thread("goes back");
	struct run_job job;
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	check_ok(st->runs->stop_queued(st, NULL, "goes back", NULL, ORDER_ROLLBACK, &err));
	CU_ASSERT(status_of("goes back", "r1") == RUN_RUNNING &&
	    status_of("goes back", "r2") == RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	CU_ASSERT_EQUAL(ordered(&job), ORDER_ROLLBACK);
	must_end(&job, RUN_STOPPED);
}

static void a_submission_may_stop_the_others(void)
{
	struct thread t = sample_thread("overtakes");
	struct run_job job, last = sample_job("r4", 104);
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	must_submit(&t, "r3", 102, 99);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	last.orders = ORDER_STOP;
	CU_ASSERT_EQUAL(submit(&t, &last), SUBMIT_DONE);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "overtakes", 1U << RUN_STOPPED), "r3 r2 ");
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "overtakes", 1U << RUN_QUEUED), "r4 ");
	must_end(&job, RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r4");
	must_run(&job);
}

static void very_many_are_stopped(void)
{
	struct thread t = sample_thread("very many");
	struct run_job job, last = sample_job("last", 5000);
	char id[16];
	for (int i = 0; i < 1203; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		must_submit(&t, id, 100 + i, 0);
	}
	CU_ASSERT_EQUAL(stop_all("very many", NULL), 1203);
	for (int i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "s%d", i);
		must_submit(&t, id, 2000 + i, 0);
	}
	last.orders = ORDER_STOP;
	CU_ASSERT_EQUAL(submit(&t, &last), SUBMIT_DONE);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "very many", 1U << RUN_QUEUED), "last ");
	CU_ASSERT_EQUAL(waiting(1), 1);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "last");
	finish(&job, RUN_STOPPED);
}

/* ---- gone ---- */

static void the_latest_that_are_over_are_kept(void)
{
	struct thread t = sample_thread("keep");
	struct run_record asked = {
	    .run_id = "asked", .status = RUN_COMPLETED, .created_at = 200, .node = "END"};
	struct thread_write w = {.thread = &t, .run = &asked};
	struct run_job job;
	char id[16];
	st->runs_keep = asked.keep = 2;
	for (int i = 1; i <= 6; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		must_submit(&t, id, 100 + i, 0);
	}
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U), "r6 r5 r4 r3 r2 r1 ");
	for (int i = 1; i <= 3; i++) {
		claimed(NOW, &job);
		must_run(&job);
	}
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U), "r6 r5 r4 r3 r2 ");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r4");
	must_begin(&job);
	CU_ASSERT_EQUAL(stop_all("keep", "r5"), 1);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U), "r6 r5 r4 r3 ");
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_TRUE(st->threads->get(st, NULL, texts, "keep", &t, &err));
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r6");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U), "asked r6 r5 ");
	asked.number = 0;
	asked.run_id = "asked again";
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "keep", ~0U), "asked again asked ");
	st->runs_keep = 0;
}

static void those_that_are_over_go_while_others_wait(void)
{
	struct thread t = sample_thread("postponed");
	struct run_record asked = {.status = RUN_COMPLETED, .node = "END"};
	struct thread_write w = {.thread = &t, .run = &asked};
	static const char *const ids[] = {"a1", "a2", "a3", "a4", "a5"};
	st->runs_keep = asked.keep = 2;
	must_submit(&t, "later", 100, 3600);
	CU_ASSERT_TRUE(st->threads->get(st, NULL, texts, "postponed", &t, &err));
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		asked.number = 0;
		asked.run_id = ids[i];
		asked.created_at = 200 + (int64_t)i;
		check_ok(write_one(st, &w, &err));
	}
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "postponed", ~0U), "a5 a4 later ");
	CU_ASSERT_EQUAL(stop_all("postponed", NULL), 1);
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "postponed", ~0U), "a5 a4 later ");
	st->runs_keep = 0;
}

static void a_record_is_removed_when_its_job_is_over(void)
{
	struct thread t = sample_thread("removed");
	struct run_job job;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_TRUE_FATAL(read_record("removed", "r1", &r));
	check_ok(st->runs->remove(st, NULL, &r, &err));
	CU_ASSERT_EQUAL(status_of("removed", "r1"), RUN_QUEUED);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	check_ok(st->runs->remove(st, NULL, &r, &err));
	CU_ASSERT_EQUAL(status_of("removed", "r1"), RUN_RUNNING);
	must_end(&job, RUN_COMPLETED);
	check_ok(st->runs->remove(st, NULL, &r, &err));
	CU_ASSERT_EQUAL(status_of("removed", "r1"), -1);
	must_submit(&t, "r1", 200, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	finish(&job, RUN_STOPPED);
}

static void a_run_that_a_request_waits_for_takes_the_place_of_one(void)
{
	struct thread t = sample_thread("replaced");
	struct run_record asked = {
	    .run_id = "r1", .status = RUN_COMPLETED, .created_at = 300, .node = "END"};
	struct thread_write w = {.thread = &t, .run = &asked};
	struct run_job job;
	struct run_record r;
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_run(&job);
	asked.replaces = job.number;
	CU_ASSERT_TRUE(st->threads->get(st, NULL, texts, "replaced", &t, &err));
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "replaced", ~0U), "r1 ");
	CU_ASSERT_TRUE_FATAL(read_record("replaced", "r1", &r));
	CU_ASSERT(r.job == 0 && r.created_at == 300 && r.started_at == 300);
}

static void jobs_go_with_their_thread(void)
{
	struct thread t = sample_thread("gone"), stale, other = sample_thread("stays");
	struct run_job job, late = sample_job("late", 103);
	struct run_record r;
	struct thread_write w = {.thread = &stale, .run = &r};
	empty_the_queue();
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	must_submit(&other, "r3", 102, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	stale = t;
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_EQUAL(waiting(1), 1);
	CU_ASSERT_EQUAL(submit(&stale, &late), SUBMIT_THREAD_GONE);
	r = begun(&job);
	CU_ASSERT_FALSE(write_one(st, &w, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_THREAD_BUSY);
	error_release(&err);
	finish(&job, RUN_STOPPED);
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_FALSE(read_record("gone", "r1", &r));
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "gone", ~0U), "");
	CU_ASSERT_EQUAL(stop_all("gone", NULL), 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r3");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, NULL), "none");
	finish(&job, RUN_STOPPED);
	t = sample_thread("gone");
	must_submit(&t, "r1", 200, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_run(&job);
}

static void a_thread_with_a_job_is_not_forgotten(void)
{
	struct thread t = sample_thread("waits for its run");
	struct run_job job;
	const char *ids[64];
	bool found = false;
	must_submit(&t, "r1", 1, NOW);
	for (int round = 0; round < 2; round++) {
		struct untouched old = {NEVER, 0, ids, 64};
		check_ok(st->threads->untouched(st, NULL, texts, &old, &err));
		for (size_t i = 0; i < old.count; i++)
			found |= strcmp(ids[i], "waits for its run") == 0;
		CU_ASSERT_EQUAL(found, round == 1);
		if (round == 0) {
			CU_ASSERT_STRING_EQUAL(claimed(2 * NOW, &job), "r1");
			finish(&job, RUN_STOPPED);
		}
	}
}

/* ---- the outbox ---- */

static char *body_of(void *arg, const struct run_record *record)
{
	char *body = malloc(256);
	snprintf(body, 256, "%s %s %s %d %s %d", (const char *)arg, record->thread_id,
	    record->run_id, (int)record->status, record->metadata_json,
	    (int)(record->finished_at != 0));
	return body;
}

static struct webhook outbox[16];

static size_t outbox_at(int64_t now, int64_t per_site, int64_t *next)
{
	struct webhooks_due due = {.now = now, .per_site = per_site, .items = outbox, .limit = 16};
	check_ok(st->runs->webhooks_due(st, NULL, texts, &due, &err));
	*next = due.next_due;
	return due.count;
}

static int64_t outbox_waiting(void)
{
	int64_t count;
	check_ok(st->runs->webhooks_waiting(st, NULL, &count, &err));
	return count;
}

static struct run_job with_webhook(struct thread *t, const char *run_id, const char *url)
{
	struct run_job job = sample_job(run_id, 100);
	job.webhook_url = url;
	job.metadata_json = "{\"m\":1}";
	CU_ASSERT_EQUAL_FATAL(submit(t, &job), SUBMIT_DONE);
	return job;
}

static void the_end_of_a_run_goes_into_the_outbox(void)
{
	struct thread t = sample_thread("told");
	struct run_job job;
	struct run_record r;
	int64_t next;
	char id[64];
	st->webhook_body = body_of;
	st->webhook_arg = (void *)"of";
	with_webhook(&t, "r1", "https://h/a");
	must_submit(&t, "r2", 101, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_begin(&job);
	CU_ASSERT_EQUAL(outbox_waiting(), 0);
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	must_run(&job);
	CU_ASSERT_EQUAL(outbox_at(NOW, 4, &next), 1); /* whatever a clock says that was set back */
	CU_ASSERT_EQUAL_FATAL(outbox_at(NEVER, 4, &next), 1);
	CU_ASSERT_EQUAL(next, NEVER);
	CU_ASSERT_STRING_EQUAL(outbox[0].url, "https://h/a");
	CU_ASSERT_STRING_EQUAL(outbox[0].body, "of told r1 3 {\"m\":1} 1");
	CU_ASSERT(strncmp(outbox[0].id, "msg_", 4) == 0);
	CU_ASSERT(outbox[0].attempts == 0 && outbox[0].last_status == 0);
	snprintf(id, sizeof(id), "%s", outbox[0].id);

	outbox[0].attempts = 1;
	outbox[0].last_status = 503;
	outbox[0].due_at = clock_now() + 5000000;
	check_ok(st->runs->webhook_settle(st, NULL, &outbox[0], &err));
	CU_ASSERT_TRUE_FATAL(read_record("told", "r1", &r));
	CU_ASSERT(r.webhook.attempts == 1 && r.webhook.last_status == 503);
	CU_ASSERT_EQUAL(r.webhook.delivered_at, 0);
	CU_ASSERT_EQUAL(outbox_at(outbox[0].due_at - 1, 4, &next), 0);
	CU_ASSERT_EQUAL(next, outbox[0].due_at);
	CU_ASSERT_EQUAL_FATAL(outbox_at(outbox[0].due_at, 4, &next), 1);
	CU_ASSERT_STRING_EQUAL(outbox[0].id, id);
	CU_ASSERT_EQUAL(outbox[0].attempts, 1);

	outbox[0].attempts = 2;
	outbox[0].last_status = 204;
	outbox[0].delivered_at = 777;
	check_ok(st->runs->webhook_settle(st, NULL, &outbox[0], &err));
	CU_ASSERT_EQUAL(outbox_waiting(), 0);
	CU_ASSERT_EQUAL(outbox_at(NEVER, 4, &next), 0);
	CU_ASSERT_TRUE_FATAL(read_record("told", "r1", &r));
	CU_ASSERT(r.webhook.attempts == 2 && r.webhook.last_status == 204);
	CU_ASSERT_EQUAL(r.webhook.delivered_at, 777);
}

static void every_end_is_told(void)
{
	struct thread t = sample_thread("all told");
	struct run_job job;
	int64_t next;
	with_webhook(&t, "r1", "https://h/1");
	with_webhook(&t, "r2", "https://h/2");
	with_webhook(&t, "r3", "https://h/3");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	finish(&job, RUN_ERROR);
	CU_ASSERT_EQUAL(stop_all("all told", NULL), 2);
	CU_ASSERT_EQUAL_FATAL(outbox_at(NEVER, 4, &next), 3);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(outbox[i].body, i ? " 5 " : " 4 "));
		outbox[i].due_at = 0; /* given up */
		check_ok(st->runs->webhook_settle(st, NULL, &outbox[i], &err));
	}
	CU_ASSERT_EQUAL(outbox_waiting(), 0);
}

static void no_site_hides_another_one(void)
{
	struct thread t = sample_thread("sites");
	struct run_job job;
	char id[16], url[64];
	int64_t next;
	for (int i = 0; i < 6; i++) {
		snprintf(id, sizeof(id), "a%d", i);
		snprintf(url, sizeof(url), "https://a/%d", i);
		with_webhook(&t, id, url);
	}
	with_webhook(&t, "b1", "https://b:8443/1");
	with_webhook(&t, "b2", "https://b/2");
	for (int i = 0; i < 8; i++) {
		claimed(NOW, &job);
		finish(&job, RUN_ERROR);
	}
	CU_ASSERT_EQUAL(outbox_waiting(), 8);
	CU_ASSERT_EQUAL_FATAL(outbox_at(NEVER, 2, &next), 4);
	CU_ASSERT_STRING_EQUAL(outbox[0].url, "https://a/0");
	CU_ASSERT_STRING_EQUAL(outbox[1].url, "https://a/1");
	CU_ASSERT_STRING_EQUAL(outbox[2].url, "https://b/2");
	CU_ASSERT_STRING_EQUAL(outbox[3].url, "https://b:8443/1");
	CU_ASSERT_TRUE(remove_one(st, &t, &err));
	CU_ASSERT_EQUAL(outbox_at(NEVER, 2, &next), 0);
	for (int i = 0; i < 5000 && outbox_waiting(); i++)
		clock_sleep_ms(1);
	CU_ASSERT_EQUAL(outbox_waiting(), 0);
}

static void what_is_to_be_told_outlives_its_record(void)
{
	struct thread t = sample_thread("outlives");
	struct run_job job;
	struct run_record r;
	int64_t next;
	with_webhook(&t, "r1", "https://h/1");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	finish(&job, RUN_ERROR);
	CU_ASSERT_TRUE_FATAL(read_record("outlives", "r1", &r));
	check_ok(st->runs->remove(st, NULL, &r, &err));
	st->runs_keep = 1;
	with_webhook(&t, "r2", "https://h/2");
	with_webhook(&t, "r3", "https://h/3");
	claimed(NOW, &job);
	must_run(&job);
	claimed(NOW, &job);
	must_run(&job);
	st->runs_keep = 0;
	CU_ASSERT_STRING_EQUAL(runs_of(NULL, "outlives", ~0U), "r3 ");
	CU_ASSERT_EQUAL_FATAL(outbox_at(NEVER, 9, &next), 3);
	for (int i = 0; i < 3; i++) {
		outbox[i].delivered_at = 5;
		check_ok(st->runs->webhook_settle(st, NULL, &outbox[i], &err));
	}
	CU_ASSERT_EQUAL(outbox_waiting(), 0);
	CU_ASSERT_TRUE_FATAL(read_record("outlives", "r3", &r));
	CU_ASSERT_EQUAL(r.webhook.delivered_at, 5);
	st->webhook_body = NULL;
}

/* ---- what holds whatever comes ---- */

struct model_job {
	struct run_job job;
	int thread;
	enum { WAITS, CLAIMED, OVER } state;
};

#define MODEL_THREADS 4
#define MODEL_JOBS 600

struct model {
	struct thread threads[MODEL_THREADS];
	struct model_job jobs[MODEL_JOBS];
	int count;
	int64_t now;
	unsigned seed;
};

static unsigned model_random(struct model *m, unsigned below)
{
	m->seed = m->seed * 1103515245u + 12345u;
	return (m->seed >> 16) % below;
}

static bool model_before(const struct model_job *a, const struct model_job *b)
{
	return a->job.due_at != b->job.due_at ? a->job.due_at < b->job.due_at
					      : a->job.row < b->job.row;
}

static bool model_is_busy(const struct model *m, int thread)
{
	for (int i = 0; i < m->count; i++) {
		if (m->jobs[i].thread == thread && m->jobs[i].state == CLAIMED)
			return true;
	}
	return false;
}

/* The one that is to be claimed next, or NULL. */
static struct model_job *model_next(struct model *m)
{
	struct model_job *first[MODEL_THREADS] = {NULL}, *next = NULL;
	for (int i = 0; i < m->count; i++) {
		struct model_job *j = &m->jobs[i], **slot = &first[j->thread];
		if (j->state == WAITS && (!*slot || model_before(j, *slot)))
			*slot = j;
	}
	for (int i = 0; i < MODEL_THREADS; i++) {
		if (first[i] && first[i]->job.due_at <= m->now && !model_is_busy(m, i) &&
		    (!next || model_before(first[i], next)))
			next = first[i];
	}
	return next;
}

static struct model_job *model_any_claimed(struct model *m)
{
	int from = m->count ? (int)model_random(m, (unsigned)m->count) : 0;
	for (int i = 0; i < m->count; i++) {
		struct model_job *j = &m->jobs[(from + i) % m->count];
		if (j->state == CLAIMED)
			return j;
	}
	return NULL;
}

static void model_submit(struct model *m)
{
	struct model_job *j = &m->jobs[m->count];
	char id[16];
	snprintf(id, sizeof(id), "r%d", m->count++);
	j->thread = (int)model_random(m, MODEL_THREADS);
	j->job = must_submit(&m->threads[j->thread], arena_strdup(texts, id), m->now,
	    model_random(m, 2) ? 0 : (int64_t)model_random(m, 300));
}

static void model_claim(struct model *m)
{
	struct model_job *expected = model_next(m);
	struct run_job got;
	const char *id = claimed(m->now, &got);
	CU_ASSERT_STRING_EQUAL(id, expected ? expected->job.run_id : "none");
	if (!expected)
		return;
	expected->state = CLAIMED;
	if (model_random(m, 2) && status_of(got.thread_id, id) == RUN_QUEUED)
		must_begin(&got);
	expected->job = got;
}

static void model_end(struct model *m)
{
	struct model_job *j = model_any_claimed(m);
	if (!j)
		return;
	j->state = OVER;
	switch (model_random(m, 3)) {
	case 0:
		must_end(&j->job, RUN_COMPLETED);
		return;
	case 1:
		finish(&j->job, RUN_ERROR);
		return;
	default:
		check_ok(st->runs->give_back(st, NULL, &j->job, &err));
		j->state = WAITS;
	}
}

static void model_stop(struct model *m)
{
	int i = m->count ? (int)model_random(m, (unsigned)m->count) : 0;
	struct model_job *j = &m->jobs[i];
	bool whole = model_random(m, 8) == 0, expected;
	if (!m->count)
		return;
	for (int k = 0; k < m->count; k++) {
		struct model_job *other = &m->jobs[k];
		int status;
		if (whole ? other->thread != j->thread : other != j)
			continue;
		status = status_of(m->threads[other->thread].thread_id, other->job.run_id);
		expected =
		    other->state == WAITS || (other->state == CLAIMED && status == RUN_QUEUED);
		if (expected)
			other->state = OVER;
	}
	stop_all(m->threads[j->thread].thread_id, whole ? NULL : j->job.run_id);
}

/* What each transaction keeps, of SQLite's tables. */
static void check_sound(const char *name)
{
	static const char *const none[] = {
	    "SELECT count(*) FROM jobs AS j WHERE state = 0 AND NOT EXISTS (SELECT 1 FROM jobs AS k "
	    "WHERE k.thread = j.thread AND k.state BETWEEN 1 AND 3)",
	    "SELECT count(*) FROM jobs AS j JOIN jobs AS k ON k.thread = j.thread WHERE j.state = 1 "
	    "AND k.state = 0 AND (k.due_at, k.row) < (j.due_at, j.row)",
	    "SELECT count(*) FROM jobs WHERE (state = 3) <> (claimer IS NOT NULL)",
	    "SELECT count(*) FROM jobs WHERE (state < 4) <> (body IS NOT NULL OR row IN (SELECT row FROM "
	    "job_bodies))",
	    "SELECT count(*) FROM job_bodies WHERE row NOT IN (SELECT row FROM jobs)",
	    "SELECT count(*) FROM jobs WHERE (state < 4) <> (caller IS NOT NULL)",
	    "SELECT count(*) FROM jobs AS j LEFT JOIN runs AS r ON r.thread = j.thread AND "
	    "r.number = j.number WHERE r.job IS NOT j.row OR (j.state < 4) <> (r.status IN (1, 6))",
	    "SELECT count(*) FROM runs WHERE job IS NOT NULL AND job NOT IN (SELECT row FROM jobs)",
	    "SELECT count(*) FROM kept WHERE until > 0 AND (thread, number) NOT IN "
	    "(SELECT thread, number FROM runs)",
	    "SELECT count(*) FROM runs WHERE job IS NOT NULL AND (status NOT IN (1, 6)) <> "
	    "((thread, number) IN (SELECT thread, number FROM kept))",
	    "SELECT count(*) FROM (SELECT thread FROM jobs UNION SELECT thread FROM runs UNION "
	    "SELECT thread FROM kept UNION SELECT thread FROM chunks UNION SELECT thread FROM "
	    "webhooks UNION SELECT thread FROM pushes) WHERE thread NOT IN (SELECT row FROM "
	    "threads UNION SELECT thread FROM removed)",
	    "SELECT count(*) FROM pragma_integrity_check() WHERE integrity_check <> 'ok'",
	};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]) && !chosen_engine; i++) {
		unit_row("%s", none[i]);
		CU_ASSERT_EQUAL(sqlite_ask(name, none[i]), 0);
	}
}

static void whatever_comes_the_next_of_a_thread_is_ready(void)
{
	static struct model m;
	char id[16];
	empty_the_queue();
	m = (struct model){.now = 1000, .seed = 20261122};
	for (int i = 0; i < MODEL_THREADS; i++) {
		snprintf(id, sizeof(id), "model-%d", i);
		m.threads[i] = sample_thread(arena_strdup(texts, id));
	}
	for (int i = 0; i < 3 * MODEL_JOBS && m.count < MODEL_JOBS; i++) {
		unit_row("step %d at %d", i, (int)m.now);
		switch (model_random(&m, 8)) {
		case 0:
		case 1:
		case 2:
			model_submit(&m);
			break;
		case 3:
		case 4:
			model_claim(&m);
			break;
		case 5:
		case 6:
			model_end(&m);
			break;
		default:
			model_stop(&m);
		}
		m.now += model_random(&m, 20);
		if (i % 100 == 0)
			check_sound("state/threads.db");
	}
	for (int i = 0; i < m.count; i++) {
		if (m.jobs[i].state == CLAIMED)
			finish(&m.jobs[i].job, RUN_ERROR);
	}
	empty_the_queue();
	check_sound("state/threads.db");
}

/* ---- SQLite alone: several processes, and what they leave ---- */

static struct storage *together; /* of the other tests, while one has its own */

static void begin_apart(const char *name)
{
	together = st;
	st = open_storage(name);
}

static void end_apart(void)
{
	close_storage(st);
	st = together;
}

static void *shared_memory(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

#define CROWD 1000

static _Atomic int *counts; /* of claims, by job; shared with the processes that claim */

/* Claims until nothing is left, and counts each job. */
static int claim_all(const void *unused)
{
	(void)unused;
	struct storage *own = try_open("crowd", &err);
	struct arena *a = arena_new();
	struct run_job job;
	int64_t next;

	if (!own)
		return 1;
	while (own->runs->claim(own, NULL, a, 0, NEVER, &job, &next, &err)) {
		counts[atoi(job.run_id)]++;
		if (!own->runs->finish(own, NULL, job.row, RUN_STOPPED, NULL, &err))
			return 2;
	}
	close_storage(own);
	arena_free(a);
	return error_is_set(&err) ? 3 : 0;
}

static void processes_that_claim_at_once_get_each_job_once(void)
{
	struct thread threads[20];
	char id[16];
	pid_t claimers[3];
	int status;
	begin_apart("crowd");
	for (int i = 0; i < CROWD; i++) {
		struct thread *t = &threads[i % 20];
		snprintf(id, sizeof(id), "t%d", i % 20);
		if (i < 20)
			*t = sample_thread(arena_strdup(texts, id));
		snprintf(id, sizeof(id), "%d", i);
		must_submit(t, id, 100 + i, 0);
	}
	close_storage(st);
	for (int i = 0; i < 3; i++)
		claimers[i] = unit_fork(claim_all, NULL, 0);
	for (int i = 0; i < 3; i++) {
		waitpid(claimers[i], &status, 0);
		CU_ASSERT_EQUAL(status, 0);
	}
	for (int i = 0; i < CROWD; i++) {
		unit_row("%d", i);
		CU_ASSERT_EQUAL(counts[i], 1);
	}
	check_sound("crowd/threads.db");
	st = together;
}

struct claim_order {
	int64_t row;
	enum { TAKEN, EXECUTED, BEGUN } until;
};

/* Claims one, begins to execute it or also writes that, if asked, and stops. */
static int claim_and_stop(const void *arg)
{
	const struct claim_order *order = arg;
	struct run_job job;
	st = try_open("lost", &err);
	texts = arena_new();
	if (!st || !claim_row(order->row, NOW, &job, &(int64_t){0}))
		return 1;
	if (order->until != TAKEN)
		st->runs->begins(st, &job);
	if (order->until == BEGUN)
		must_begin(&job);
	raise(SIGSTOP);
	return 2;
}

/* A process that claims a job and is killed. */
static void lose(int64_t row, int until)
{
	const struct claim_order order = {row, until};
	pid_t child = unit_fork_stopped(claim_and_stop, &order, sizeof(order));
	CU_ASSERT_FATAL(child > 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static size_t recovered(int64_t max_attempts, int64_t *rows)
{
	size_t count = 8;
	check_ok(st->runs->recover(st, NULL, max_attempts, rows, &count, &err));
	return count;
}

static void what_a_dead_process_had_is_taken_up_again(void)
{
	struct thread t = sample_thread("t"), other = sample_thread("u"), now;
	struct run_job job, mine;
	struct run_record r;
	int64_t rows[8], row, next;
	begin_apart("lost");
	row = must_submit(&t, "r1", 100, 0).row;
	must_submit(&t, "r2", 101, 0);
	lose(0, BEGUN);
	must_submit(&other, "u1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &mine), "u1");
	CU_ASSERT_EQUAL(waiting(1), 1);
	CU_ASSERT_EQUAL_FATAL(recovered(3, rows), 1);
	CU_ASSERT_EQUAL(rows[0], row);
	CU_ASSERT_EQUAL(waiting(2), 2);
	CU_ASSERT_EQUAL(recovered(3, rows), 1);
	CU_ASSERT_EQUAL(status_of("t", "r1"), RUN_RUNNING);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none");
	CU_ASSERT_FALSE(claim_row(mine.row, NOW, &job, &next));

	lose(row, EXECUTED);
	CU_ASSERT_EQUAL_FATAL(recovered(3, rows), 1);
	CU_ASSERT_TRUE_FATAL(claim_row(row, NOW, &job, &next));
	CU_ASSERT(job.attempt == 3 && !job.given_back);
	CU_ASSERT_EQUAL(recovered(3, rows), 0);
	CU_ASSERT_FALSE(claim_row(row, NOW, &job, &next));
	CU_ASSERT_TRUE_FATAL(read_record("t", "r1", &r));
	CU_ASSERT(r.attempt == 3 && r.status == RUN_RUNNING);
	job.row = row;
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none"); /* but for a process of its own */
	CU_ASSERT_EQUAL(recovered(3, rows), 1);

	lose(row, EXECUTED);
	CU_ASSERT_EQUAL(recovered(3, rows), 0);
	CU_ASSERT_TRUE_FATAL(read_record("t", "r1", &r));
	CU_ASSERT_EQUAL(r.status, RUN_ERROR);
	CU_ASSERT_PTR_NULL(r.error_json);
	CU_ASSERT_EQUAL(r.attempt, 3);
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_GIVEN), "r1-in-0 ");
	CU_ASSERT_TRUE(st->threads->get(st, NULL, texts, "t", &now, &err));
	CU_ASSERT_EQUAL(now.status, RUN_ERROR);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	must_run(&job);
	must_run(&mine);
	check_sound("lost/threads.db");
	end_apart();
}

static void an_attempt_that_is_given_up_counts(void)
{
	struct thread t = sample_thread("given up");
	struct run_job job;
	int64_t rows[8], row, next;
	bool lost;
	empty_the_queue();
	must_submit(&t, "r1", 100, 0);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	row = job.row;
	must_begin(&job);
	check_ok(st->runs->lose(st, NULL, &job, &lost, &err));
	CU_ASSERT_TRUE(lost);
	CU_ASSERT_EQUAL(status_of("given up", "r1"), RUN_RUNNING);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "none");
	CU_ASSERT_EQUAL_FATAL(recovered(2, rows), 1);
	CU_ASSERT_EQUAL(rows[0], row);
	CU_ASSERT_TRUE_FATAL(claim_row(row, NOW, &job, &next));
	CU_ASSERT(job.attempt == 2 && !job.given_back);
	must_end(&job, RUN_COMPLETED);
	check_ok(st->runs->lose(st, NULL, &job, &lost, &err));
	CU_ASSERT_FALSE(lost);
	CU_ASSERT_EQUAL(status_of("given up", "r1"), RUN_COMPLETED);
}

static void what_was_claimed_alone_was_no_attempt(void)
{
	struct thread t = sample_thread("untouched");
	struct run_job job;
	int64_t rows[8], row, next;
	begin_apart("lost");
	row = must_submit(&t, "r1", 100, 0).row;
	lose(0, TAKEN);
	CU_ASSERT_EQUAL(recovered(1, rows), 0);
	CU_ASSERT_EQUAL(waiting(1), 1);
	CU_ASSERT_EQUAL(status_of("untouched", "r1"), RUN_QUEUED);
	lose(0, BEGUN); /* as whatever is ready is claimed */
	CU_ASSERT_EQUAL_FATAL(recovered(2, rows), 1);
	lose(row, TAKEN);
	CU_ASSERT_EQUAL_FATAL(recovered(2, rows), 1);
	CU_ASSERT_TRUE_FATAL(claim_row(row, NOW, &job, &next));
	CU_ASSERT(job.attempt == 2 && !job.given_back);
	check_ok(st->runs->give_back(st, NULL, &job, &err));
	CU_ASSERT_TRUE_FATAL(claim_row(row, NOW, &job, &next));
	CU_ASSERT(job.attempt == 2 && !job.given_back);
	must_end(&job, RUN_COMPLETED);
	end_apart();
}

/* However often its process dies of it: no node is executed. */
static void one_with_an_order_is_taken_up_until_it_is_heeded(void)
{
	struct thread t = sample_thread("ordered");
	struct run_job job;
	int64_t rows[8], row, next;
	begin_apart("lost");
	row = must_submit(&t, "r1", 100, 0).row;
	lose(0, BEGUN);
	CU_ASSERT_EQUAL(stop_all("ordered", NULL), 0);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL_FATAL(recovered(1, rows), 1);
		lose(row, EXECUTED);
	}
	CU_ASSERT_EQUAL_FATAL(recovered(1, rows), 1);
	CU_ASSERT_TRUE_FATAL(claim_row(row, NOW, &job, &next));
	CU_ASSERT(ordered(&job) == ORDER_STOP && job.attempt == 5);
	must_end(&job, RUN_STOPPED);
	CU_ASSERT_EQUAL(recovered(1, rows), 0);
	end_apart();
}

static void a_run_that_a_request_waits_for_buries_no_job(void)
{
	struct thread t = sample_thread("buried");
	struct run_record asked = {.run_id = "asked",
	    .status = RUN_COMPLETED,
	    .created_at = 300,
	    .finished_at = 301,
	    .node = "END",
	    .buries = true};
	struct thread_write w = {.thread = &t, .run = &asked};
	struct run_job job;
	int64_t rows[8], next;
	begin_apart("lost");
	must_submit(&t, "r1", 100, 0);
	lose(0, BEGUN);
	CU_ASSERT_EQUAL_FATAL(recovered(3, rows), 1);
	CU_ASSERT_TRUE(st->threads->get(st, NULL, texts, "buried", &t, &err));
	check_ok(write_one(st, &w, &err));
	CU_ASSERT_EQUAL(status_of("buried", "r1"), RUN_RUNNING);
	CU_ASSERT_TRUE_FATAL(claim_row(rows[0], NOW, &job, &next));
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_EQUAL(status_of("buried", "asked"), RUN_COMPLETED);
	end_apart();
}

static void a_queue_outlives_its_service(void)
{
	struct thread t = sample_thread("t");
	struct run_job job;
	begin_apart("outlives");
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	close_storage(st);
	st = open_storage("outlives");
	CU_ASSERT_EQUAL(waiting(2), 2);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r1");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	must_run(&job);
	end_apart();
}

static void a_backup_has_the_queue(void)
{
	struct thread t = sample_thread("t"), u = sample_thread("u");
	struct run_job job, runs;
	struct run_record r;
	int64_t rows[8], next;
	begin_apart("original");
	must_submit(&t, "r1", 100, 0);
	must_submit(&t, "r2", 101, 0);
	must_submit(&u, "u1", 102, 500);
	CU_ASSERT_STRING_EQUAL(claimed(NOW - 1, &runs), "r1");
	must_begin(&runs);
	check_ok(st->engine->backup(st, NULL, unit_path("copy"), &err));
	must_end(&runs, RUN_COMPLETED);
	CU_ASSERT_EQUAL(recovered(3, rows), 0);
	close_storage(st);
	st = open_storage("copy");
	CU_ASSERT_EQUAL(waiting(2), 2);
	CU_ASSERT_EQUAL_FATAL(recovered(3, rows), 1);
	CU_ASSERT_TRUE_FATAL(claim_row(rows[0], NOW, &job, &next));
	CU_ASSERT_STRING_EQUAL(job.run_id, "r1");
	CU_ASSERT_EQUAL(job.attempt, 2);
	must_end(&job, RUN_COMPLETED);
	CU_ASSERT_TRUE_FATAL(read_record("t", "r1", &r));
	CU_ASSERT_STRING_EQUAL(run_messages_of(st, &r, RUN_MADE), "r1-out-0 r1-out-1 ");
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "r2");
	must_run(&job);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), "u1");
	must_run(&job);
	end_apart();
}

/* Rows as submissions would have left them, in one go: count jobs, all of one thread, or of one
 * each. */
static void fill_queue(const char *name, int count, bool one)
{
	char path[64], sql[2048];
	struct db *db;
	close_storage(open_storage(name));
	snprintf(path, sizeof(path), "%s/threads.db", name);
	snprintf(sql, sizeof(sql),
	    "BEGIN; CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL "
	    "SELECT i + 1 FROM n WHERE i < %d) SELECT i, %s AS t, %s AS k FROM n;"
	    "INSERT INTO threads (row, thread_id, user_id, created_at, updated_at, thread_name, "
	    "metadata, last_number, status, stop, node, step, fields) SELECT DISTINCT t, "
	    "'t' || t, 'alice', 1, 1, '', '{}', 0, 0, 0, 'START', 0, '{}' FROM n;"
	    "INSERT INTO jobs (row, thread, number, run_id, state, due_at, attempt, given_back, "
	    "caller, metadata) SELECT i, t, k, 'r' || i, k = 1, i, 0, 0, '{}', '{}' FROM n;"
	    "INSERT INTO job_bodies (row, body) SELECT i, '{}' FROM n;"
	    "INSERT INTO runs (thread, number, run_id, status, created_at, finished_at, node, "
	    "step, prompt_tokens, completion_tokens, reasoning_tokens, total_tokens, "
	    "messages_after, messages_until, brought, job) SELECT t, k, 'r' || i, 6, "
	    "i, 0, 'START', 0, 0, 0, 0, 0, 0, 0, 0, i FROM n;"
	    "INSERT INTO kept (thread, number, job) SELECT t, k, 1 FROM n; COMMIT",
	    count, one ? "1" : "i", one ? "i" : "1");
	db = sqlite_open(unit_path(path), DB_WRITE, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(db);
	check_ok(db_script(db, sql, &err));
	db_close(db);
}

/* What the next job takes: claimed, begun and ended, and another one submitted, looked up and
 * counted. */
static void turn_over(struct thread *t, int number)
{
	struct run_job job, more;
	char id[32];
	snprintf(id, sizeof(id), "r%d", number);
	CU_ASSERT_STRING_EQUAL(claimed(NOW, &job), id);
	must_run(&job);
	snprintf(id, sizeof(id), "more%d", number);
	more = sample_job(id, NOW + number);
	more.fresh_id = true;
	CU_ASSERT_EQUAL(submit(t, &more), SUBMIT_DONE);
	CU_ASSERT_EQUAL(status_of("t1", id), RUN_QUEUED);
	CU_ASSERT_TRUE(due("t1", NEVER, 1));
	CU_ASSERT_TRUE(due(NULL, 500, 10));
}

/* Microseconds of the fastest 20 jobs in a row, of a queue with so many. */
static int64_t queue_cost(const char *name, int count, bool one)
{
	struct thread t = sample_thread("t1");
	int64_t least = INT64_MAX;
	fill_queue(name, count, one);
	begin_apart(name);
	st->runs_keep = 100;
	CU_ASSERT_EQUAL(waiting(count), count);
	CU_ASSERT_TRUE_FATAL(st->threads->get(st, NULL, texts, "t1", &t, &err));
	for (int round = 0; round < 20; round++) {
		int64_t start = clock_now(), cost;
		for (int i = 1; i <= 20; i++)
			turn_over(&t, 20 * round + i);
		cost = clock_now() - start;
		least = cost < least ? cost : least;
	}
	end_apart();
	return least;
}

static void a_long_queue_costs_no_more_than_a_short_one(void)
{
	int64_t few = queue_cost("few", 1000, true), one = queue_cost("one", 100000, true);
	int64_t many = queue_cost("many", 100000, false);
	printf(
	    "# 20 of 1,000: %lld us, of 100,000 of a thread %lld us, of 100,000 threads %lld us\n",
	    (long long)few, (long long)one, (long long)many);
	CU_ASSERT(one < 10 * few);
	CU_ASSERT(many < 10 * few);
}

static void every_statement_was_used(void)
{
	check_statements("jobs");
}

static const struct unit_test of_any_engine[] = {
    {"a job comes back as it was submitted", a_job_comes_back_as_it_was_submitted},
    {"a run without delay is due by any clock", a_run_without_delay_is_due_by_any_clock},
    {"one that is due earlier waits for one that has begun",
	one_that_is_due_earlier_waits_for_one_that_has_begun},
    {"a run begins and ends with its job", a_run_begins_and_ends_with_its_job},
    {"a long request comes back", a_long_request_comes_back},
    {"a claim has the thread until somebody changes it",
	a_claim_has_the_thread_until_somebody_changes_it},
    {"begin and end go in one write", begin_and_end_go_in_one_write},
    {"the end of a run claims the next one", the_end_of_a_run_claims_the_next_one},
    {"the end of a run claims none when that is enough",
	the_end_of_a_run_claims_none_when_that_is_enough},
    {"a run may say how far it is", a_run_may_say_how_far_it_is},
    {"answers are kept from the begin on", answers_are_kept_from_the_begin_on},
    {"an attempt that is given back was none", an_attempt_that_is_given_back_was_none},
    {"a job that is refused ends without a run", a_job_that_is_refused_ends_without_a_run},
    {"those of a thread come one after the other", those_of_a_thread_come_one_after_the_other},
    {"a delayed one takes its place when its delay ends",
	a_delayed_one_takes_its_place_when_its_delay_ends},
    {"a run that a request waits for takes the next number",
	a_run_that_a_request_waits_for_takes_the_next_number},
    {"queued runs of many threads are listed newest first",
	queued_runs_of_many_threads_are_listed_newest_first},
    {"a submission that is repeated queues nothing", a_submission_that_is_repeated_queues_nothing},
    {"what is due is counted", what_is_due_is_counted},
    {"a stop ends what waits", a_stop_ends_what_waits},
    {"one that was claimed and has not begun is stopped",
	one_that_was_claimed_and_has_not_begun_is_stopped},
    {"one that was given back is stopped with its thread",
	one_that_was_given_back_is_stopped_with_its_thread},
    {"an order is kept with what has begun", an_order_is_kept_with_what_has_begun},
    {"branches arrive as long as the job goes on", branches_arrive_as_long_as_the_job_goes_on},
    {"one that is to be rolled back is not ended before",
	one_that_is_to_be_rolled_back_is_not_ended_before},
    {"a submission may stop the others", a_submission_may_stop_the_others},
    {"very many are stopped", very_many_are_stopped},
    {"the latest that are over are kept", the_latest_that_are_over_are_kept},
    {"those that are over go while others wait", those_that_are_over_go_while_others_wait},
    {"a record is removed when its job is over", a_record_is_removed_when_its_job_is_over},
    {"a run that a request waits for takes the place of one",
	a_run_that_a_request_waits_for_takes_the_place_of_one},
    {"jobs go with their thread", jobs_go_with_their_thread},
    {"a thread with a job is not forgotten", a_thread_with_a_job_is_not_forgotten},
    {"the end of a run goes into the outbox", the_end_of_a_run_goes_into_the_outbox},
    {"every end is told", every_end_is_told},
    {"no site hides another one", no_site_hides_another_one},
    {"what is to be told outlives its record", what_is_to_be_told_outlives_its_record},
    {"whatever comes, the next of a thread is ready", whatever_comes_the_next_of_a_thread_is_ready},
};

static const struct unit_test of_sqlite[] = {
    {"processes that claim at once get each job once",
	processes_that_claim_at_once_get_each_job_once},
    {"what a dead process had is taken up again", what_a_dead_process_had_is_taken_up_again},
    {"an attempt that is given up counts", an_attempt_that_is_given_up_counts},
    {"what was claimed alone was no attempt", what_was_claimed_alone_was_no_attempt},
    {"one with an order is taken up until it is heeded",
	one_with_an_order_is_taken_up_until_it_is_heeded},
    {"a run that a request waits for buries no job", a_run_that_a_request_waits_for_buries_no_job},
    {"a queue outlives its service", a_queue_outlives_its_service},
    {"a backup has the queue", a_backup_has_the_queue},
    {"a long queue costs no more than a short one", a_long_queue_costs_no_more_than_a_short_one},
    {"every statement was used", every_statement_was_used},
};

int main(void)
{
	int rc;
	counts = shared_memory(CROWD * sizeof(*counts));
	unit_fork_early();
	texts = arena_new();
	rc = storage_main_on(&st, "storage_queue", of_any_engine, UNIT_COUNT(of_any_engine),
	    of_sqlite, UNIT_COUNT(of_sqlite));
	arena_free(texts);
	return rc;
}
