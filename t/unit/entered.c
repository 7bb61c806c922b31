/* SPDX-License-Identifier: ISC */
/* Runs in the background that go on in another process, from the node at which theirs died. */
#include "base/id.h"
#include "base/json/json.h"
#include "base/os/shared.h"
#include "config/config.h"
#include "graph/graph.h"
#include "graph/message/message.h"
#include "graph/run.h"
#include "storage/runs.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared *shared;
static struct storage *st;
static struct arena *arena;
static struct error err;
static ag_graph *graph;
static const struct id_source ids;

static char *executed;     /* names of nodes, shared with the processes that die */
static const char *deadly; /* the node that its process dies in */

/* ---- the graph ---- */

static bool is_begun(const ag_run *run)
{
	struct run_record r;
	return st->runs->get(st, NULL, arena, ag_thread_id(run), ag_run_id(run), &r, &err) &&
	    r.status == RUN_RUNNING;
}

/* Dies where that is asked for, once the run's start is on disk. */
static void node_enter(const ag_run *run, const char *name)
{
	strcat(executed, name);
	strcat(executed, " ");
	if (!deadly || strcmp(deadly, name) != 0)
		return;
	while (!is_begun(run))
		usleep(1000);
	raise(SIGSTOP);
	_exit(1);
}

static ag_result node_marks(ag_run *run, const ag_state *state, void *data)
{
	node_enter(run, data);
	ag_update(run, "marks", cJSON_CreateString(data));
	return ag_say(
	    run, "%s after %d", (const char *)data, cJSON_GetArraySize(ag_context(state)));
}

static ag_result node_asks(ag_run *run, const ag_state *state, void *data)
{
	const cJSON *answer;
	ag_result result = ag_interrupt(run, "why", NULL, &answer);
	(void)state;
	if (result != AG_OK)
		return result;
	node_enter(run, data);
	return ag_say(run, "asked: %s", cJSON_GetStringValue(answer));
}

static const char *route(const ag_state *state, void *data)
{
	(void)data;
	return strcmp(ag_user_text(state), "ask") == 0 ? "asks" : "first";
}

static ag_graph *make_graph(void)
{
	static const char *const targets[] = {"asks", "first", NULL};
	static char first[] = "first", second[] = "second", asks[] = "asks";
	ag_graph *g = graph_new("entered");
	ag_graph_field(g, "marks", "array", AG_APPEND, NULL, "What ran");
	ag_graph_node(g, "first", node_marks, first);
	ag_graph_node(g, "second", node_marks, second);
	ag_graph_node(g, "asks", node_asks, asks);
	ag_graph_branch(g, AG_START, route, NULL, targets);
	ag_graph_edge(g, "first", "second");
	ag_graph_edge(g, "second", AG_END);
	ag_graph_edge(g, "asks", AG_END);
	graph_compile(g);
	return g;
}

/* ---- what tests do ---- */

static bool open_storage(void)
{
	struct config config = {.state_dir = (char *)unit_path("state")};
	shared = shared_make(config.state_dir, &err);
	st = shared ? storage_open(&config, shared, &err) : NULL;
	return st;
}

static void check_ok(bool ok)
{
	if (!ok)
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_TRUE_FATAL(ok);
}

static struct thread thread_now(const char *thread_id)
{
	struct thread t = {.thread_id = thread_id,
	    .thread_name = "",
	    .user_id = "alice",
	    .metadata_json = "{}",
	    .created_at = 100,
	    .updated_at = 100,
	    .node = "START",
	    .fields_json = "{}"};
	st->threads->get(st, NULL, arena, thread_id, &t, &err);
	return t;
}

static struct lease *take(const char *thread_id)
{
	struct lease *lease =
	    st->threads->lease_acquire(st, NULL, thread_id, CLAIM_ENQUEUE, 60000, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lease);
	return lease;
}

/* Queues a run and claims it. */
static int64_t submit(const char *thread_id, const char *run_id)
{
	struct thread t = thread_now(thread_id);
	struct run_job job = {.thread_id = thread_id,
	    .run_id = run_id,
	    .body_json = "{}",
	    .caller_json = "{}",
	    .metadata_json = "{}",
	    .created_at = 100,
	    .due_at = 100};
	enum submit_result result;
	struct lease *lease = take(thread_id);
	check_ok(st->runs->submit(st, NULL, t.row ? NULL : lease, &t, &job, &result, &err));
	CU_ASSERT_EQUAL(result, SUBMIT_DONE);
	st->threads->lease_release(st, NULL, lease, &err);
	return job.row;
}

static struct run_job claim(int64_t lost_row)
{
	struct run_job job;
	int64_t next;
	check_ok(st->runs->claim(st, NULL, arena, lost_row, 1000, &job, &next, &err));
	st->runs->begins(st, &job);
	return job;
}

static void ignore(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	(void)observer, (void)run, (void)event;
}

/* Executes a claimed run: its message, or its answer, comes with the first attempt alone. */
static struct thread execute(const struct run_job *job, const char *text, const char *answer)
{
	static const _Atomic bool yields;
	struct run_observer observer = {.event = ignore};
	struct run_record record;
	struct thread before = thread_now(job->thread_id);
	cJSON *answers =
	    answer ? arena_json(arena, json_parse(answer, strlen(answer), 8, NULL)) : NULL;
	char id[UUID_SIZE];
	struct run_background background = {.record = &record,
	    .attempt = job->attempt,
	    .entered = job->answers_json,
	    .yields = &yields};
	check_ok(st->runs->get(st, NULL, arena, job->thread_id, job->run_id, &record, &err));
	check_ok(st->runs->ordered(st, NULL, job->row, &background.ordered, &err));
	struct lease *lease = take(job->thread_id);
	const struct run_setup setup = {.graph = graph,
	    .storage = st,
	    .lease = lease,
	    .arena = arena,
	    .ids = &ids,
	    .config = arena_json(arena, cJSON_CreateObject()),
	    .run_id = job->run_id,
	    .thread = &before,
	    .observer = &observer,
	    .recursion_limit = 25,
	    .node_timeout = 600,
	    .tool_timeout = 600,
	    .background = &background};
	ag_run *run = run_new(&setup);
	if (text && !job->answers_json)
		run_bring(run, message_new("user", uuid4(id), content_text(text)));
	check_ok(run_execute(run,
	    job->answers_json ? RUN_ON
		: answers     ? RUN_AGAIN
			      : RUN_FROM_START,
	    job->answers_json ? NULL : answers, &err));
	st->threads->lease_release(st, NULL, lease, &err);
	return *run_thread(run);
}

struct death {
	const char *node, *text, *answer; /* constants */
};

static int execute_and_stop(const void *arg)
{
	const struct death *death = arg;
	deadly = death->node;
	arena = arena_new();
	if (!open_storage())
		return 1;
	struct run_job job = claim(0);
	execute(&job, death->text, death->answer);
	return 2;
}

/* A process that executes what is claimed next, and is killed in a node.  row: of its job. */
static struct run_job die_in(const char *node, int64_t row, const char *text, const char *answer)
{
	const struct death death = {node, text, answer};
	int64_t rows[8];
	size_t count = 8;
	pid_t child = unit_fork_stopped(execute_and_stop, &death, sizeof(death));
	CU_ASSERT_FATAL(child > 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	check_ok(st->runs->recover(st, NULL, 3, rows, &count, &err));
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_EQUAL(rows[0], row);
	return claim(row);
}

static bool add_text(void *arg, const char *id, const char *body)
{
	cJSON *message = json_parse(body, strlen(body), JSON_TRUSTED_DEPTH, NULL);
	char *text = ag_message_text(message);
	(void)id;
	buf_printf(arg, "%s|", text);
	free(text);
	cJSON_Delete(message);
	return true;
}

/* Of the run those that it was given, or made. */
static const char *texts(const char *thread_id, const char *run_id, enum run_share which)
{
	static struct buf out;
	struct run_record r;
	buf_reset(&out);
	check_ok(st->runs->get(st, NULL, arena, thread_id, run_id, &r, &err));
	check_ok(st->runs->messages(st, NULL, &r, which, add_text, &out, &err));
	return buf_str(&out);
}

static enum run_status status_of(const char *thread_id, const char *run_id)
{
	struct run_record r;
	check_ok(st->runs->get(st, NULL, arena, thread_id, run_id, &r, &err));
	return r.status;
}

/* ---- tests ---- */

static void it_goes_on_behind_the_last_node_that_ended(void)
{
	*executed = '\0';
	struct run_job job = die_in("second", submit("t1", "r1"), "hello", NULL);
	CU_ASSERT_STRING_EQUAL(executed, "first second ");
	CU_ASSERT(job.attempt == 2 && job.answers_json);
	struct thread t = execute(&job, "hello", NULL);
	CU_ASSERT_STRING_EQUAL(executed, "first second second ");
	CU_ASSERT_EQUAL(t.status, RUN_COMPLETED);
	CU_ASSERT_EQUAL(t.step, 2);
	CU_ASSERT_STRING_EQUAL(t.node, "END");
	CU_ASSERT_STRING_EQUAL(t.fields_json, "{\"marks\":[\"first\",\"second\"]}");
	CU_ASSERT_STRING_EQUAL(texts("t1", "r1", RUN_GIVEN), "hello|");
	CU_ASSERT_STRING_EQUAL(texts("t1", "r1", RUN_MADE), "first after 1|second after 2|");
	CU_ASSERT_EQUAL(status_of("t1", "r1"), RUN_COMPLETED);
}

static void it_begins_again_where_no_node_has_ended(void)
{
	*executed = '\0';
	struct run_job job = die_in("first", submit("t2", "r1"), "hello", NULL);
	struct thread t = execute(&job, "hello", NULL);
	CU_ASSERT_STRING_EQUAL(executed, "first first second ");
	CU_ASSERT(t.status == RUN_COMPLETED && t.step == 2);
	CU_ASSERT_STRING_EQUAL(texts("t2", "r1", RUN_GIVEN), "hello|");
	CU_ASSERT_STRING_EQUAL(texts("t2", "r1", RUN_MADE), "first after 1|second after 2|");
}

static void a_node_that_asked_has_its_answer_again(void)
{
	submit("t3", "r1");
	struct run_job job = claim(0);
	CU_ASSERT_EQUAL(execute(&job, "ask", NULL).status, RUN_INTERRUPTED);
	*executed = '\0';
	job = die_in("asks", submit("t3", "r2"), NULL, "[\"because\"]");
	CU_ASSERT_EQUAL(execute(&job, NULL, "[\"because\"]").status, RUN_COMPLETED);
	CU_ASSERT_STRING_EQUAL(executed, "asks asks ");
	CU_ASSERT_STRING_EQUAL(texts("t3", "r2", RUN_MADE), "asked: because|");
}

static struct thread ordered(const char *thread_id, enum lease_order order)
{
	submit(thread_id, "r1");
	struct run_job job = claim(0);
	execute(&job, "before", NULL);
	*executed = '\0';
	job = die_in("second", submit(thread_id, "r2"), "hello", NULL);
	check_ok(st->runs->stop_queued(st, NULL, thread_id, NULL, order, &err));
	execute(&job, "hello", NULL);
	CU_ASSERT_STRING_EQUAL(executed, "first second ");
	CU_ASSERT_EQUAL(status_of(thread_id, "r2"), RUN_STOPPED);
	return thread_now(thread_id);
}

static void what_was_ordered_is_done_before_any_node(void)
{
	struct thread t = ordered("t4", ORDER_STOP);
	CU_ASSERT_EQUAL(t.status, RUN_STOPPED);
	CU_ASSERT_STRING_EQUAL(t.fields_json, "{\"marks\":[\"first\",\"second\",\"first\"]}");
	CU_ASSERT_STRING_EQUAL(texts("t4", "r2", RUN_MADE), "first after 4|");
	t = ordered("t5", ORDER_ROLLBACK);
	CU_ASSERT_STRING_EQUAL(t.fields_json, "{\"marks\":[\"first\",\"second\"]}");
	CU_ASSERT(t.status == RUN_COMPLETED && strcmp(t.run_id, "r1") == 0);
	CU_ASSERT_STRING_EQUAL(texts("t5", "r2", RUN_MADE), "");
	CU_ASSERT_STRING_EQUAL(texts("t5", "r2", RUN_GIVEN), "");
	CU_ASSERT_STRING_EQUAL(texts("t5", "r1", RUN_MADE), "first after 1|second after 2|");
}

static const struct unit_test tests[] = {
    {"it goes on behind the last node that ended", it_goes_on_behind_the_last_node_that_ended},
    {"it begins again where no node has ended", it_begins_again_where_no_node_has_ended},
    {"a node that asked has its answer again", a_node_that_asked_has_its_answer_again},
    {"what was ordered is done before any node", what_was_ordered_is_done_before_any_node},
};

int main(void)
{
	executed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	graph = make_graph();
	unit_fork_early();
	arena = arena_new();
	if (!open_storage()) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	int rc = unit_main("entered", tests, UNIT_COUNT(tests));
	graph_free(graph);
	storage_close(st);
	shared_close(shared);
	arena_free(arena);
	return rc;
}
