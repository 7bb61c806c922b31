/* SPDX-License-Identifier: ISC */
/* Reading a state while runs begin and end: the database and the leases are looked at in turn. */
#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/graph.h"
#include "service/run/background/background.h"
#include "service/run/runs.h"
#include "service/thread/threads.h"
#include "unit.h"

#include <stdio.h>

/* What the database and the leases say, one look after the other. */
struct moment {
	const char *run_id;
	enum run_status status;
	bool running;
};

static const struct moment *moments;
static int looks;

static bool thread_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    const char *thread_id, struct thread *thread, struct error *err)
{
	(void)st, (void)ctx, (void)a, (void)err;
	*thread = (struct thread){
	    .row = 1,
	    .thread_id = thread_id,
	    .run_id = moments[looks].run_id,
	    .status = moments[looks].status,
	    .node = "agent",
	    .fields_json = "{}",
	};
	return true;
}

static bool lease_running(struct storage *st, const struct storage_context *ctx,
    const char *thread_id, bool *running, bool *stop_requested, struct error *err)
{
	(void)st, (void)ctx, (void)thread_id, (void)err;
	*stop_requested = false;
	*running = moments[looks++].running;
	return true;
}

static bool thread_view(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
    struct thread_view *view, struct error *err)
{
	(void)st, (void)ctx, (void)thread_row, (void)err;
	*view = (struct thread_view){0};
	return true;
}

static const struct thread_ops ops = {
    .get = thread_get, .lease_running = lease_running, .view = thread_view};

/* "<status> <is_running> <looks>" of what is read. */
static const char *status_of(const struct moment *script)
{
	static char text[64];
	struct storage storage = {.threads = &ops};
	struct config config = {0};
	struct service service = {.storage = &storage, .config = &config, .graph = graph_new("g")};
	struct call call;
	moments = script;
	looks = 0;
	call_init(&call, &service, "");
	const cJSON *meta = json_get(json_get(state_read(&call, "t"), "state"), "execution_meta");
	const char *status = json_str(meta, "status");
	snprintf(text, sizeof(text), "%s %s %d", status ? status : "none",
	    cJSON_IsTrue(json_get(meta, "is_running")) ? "true" : "false", looks);
	call_release(&call);
	graph_free(service.graph);
	return text;
}

static void a_thread_that_rests_is_looked_at_once(void)
{
	const struct moment script[] = {{"r1", RUN_COMPLETED, false}};
	CU_ASSERT_STRING_EQUAL(status_of(script), "completed false 1");
}

static void a_run_in_flight_is_seen_at_once(void)
{
	const struct moment script[] = {{"r1", RUN_RUNNING, true}};
	CU_ASSERT_STRING_EQUAL(status_of(script), "running true 1");
}

static void a_run_that_ended_between_the_looks_is_no_error(void)
{
	const struct moment script[] = {{"r1", RUN_RUNNING, false}, {"r1", RUN_COMPLETED, false}};
	CU_ASSERT_STRING_EQUAL(status_of(script), "completed false 2");
}

static void a_run_whose_process_died_is_an_error(void)
{
	const struct moment script[] = {{"r1", RUN_RUNNING, false}, {"r1", RUN_RUNNING, false}};
	CU_ASSERT_STRING_EQUAL(status_of(script), "error false 2");
}

static void the_next_run_is_seen_when_it_has_begun(void)
{
	const struct moment script[] = {{"r1", RUN_RUNNING, false}, {"r2", RUN_RUNNING, true}};
	CU_ASSERT_STRING_EQUAL(status_of(script), "running true 2");
}

static void runs_in_quick_succession_are_no_error(void)
{
	const struct moment script[] = {{"r1", RUN_RUNNING, false}, {"r2", RUN_RUNNING, false},
	    {"r3", RUN_RUNNING, false}, {"r3", RUN_STOPPED, false}};
	CU_ASSERT_STRING_EQUAL(status_of(script), "stopped false 4");
}

/* ---- a run that does not write its end itself ---- */

static struct service *service;
static const struct run_ops *run_ops;
static char status_at_end[16];

/* Looks at the thread as soon as the end of the run is on disk. */
static bool finish_and_look(struct storage *st, const struct storage_context *ctx, int64_t job_row,
    enum run_status status, const char *error_json, struct error *err)
{
	struct call call;
	if (!run_ops->finish(st, ctx, job_row, status, error_json, err))
		return false;
	call_init(&call, service, "look");
	const char *now = json_str(json_get(thread_read(&call, "t"), "thread_data"), "status");
	snprintf(status_at_end, sizeof(status_at_end), "%s", now ? now : "none");
	call_release(&call);
	return true;
}

static void wait_in_vain(void *arg, bool waiting)
{
	(void)arg, (void)waiting;
}

static void store_in_vain(void *arg)
{
	(void)arg;
}

static void a_run_that_meets_a_pause_has_left_its_thread_at_its_end(void)
{
	static const char config[] = "{\"agent\": \"builtin:demo\", \"runs\": {\"background\": 1}}";
	static const _Atomic bool never;
	const struct background_host host = {
	    .yield = &never, .waits = wait_in_vain, .stores = store_in_vain};
	struct problems problems = {0};
	struct call call;
	struct run_job job;
	int64_t next;
	const char *path = unit_path("agentgraph.json");
	FILE *file = fopen(path, "we");
	CU_ASSERT_FATAL(file && fputs(config, file) >= 0 && fclose(file) == 0);
	service = service_open(
	    &(struct config_source){.file = path, .state_dir = unit_path("state")}, &problems);
	CU_ASSERT_PTR_NOT_NULL_FATAL(service);
	struct storage *st = service->storage;
	struct run_ops looking = *(run_ops = st->runs);
	looking.finish = finish_and_look;
	call_init(&call, service, "test");
	cJSON *asks = arena_json(call.arena,
	    json_parse_own("{\"thread_id\": \"t\", \"messages\":"
			   " [{\"role\": \"user\", \"content\": \"/ask well?\"}]}"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(run_invoke(&call, asks));
	cJSON *meets = arena_json(call.arena,
	    json_parse_own("{\"thread_id\": \"t\", \"messages\":"
			   " [{\"role\": \"user\", \"content\": \"x\"}]}"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(background_submit(&call, meets, NULL));
	CU_ASSERT_FATAL(
	    st->runs->claim(st, NULL, call.arena, 0, clock_now(), &job, &next, &call.error));
	st->runs = &looking;
	background_execute(service, &job, &host);
	st->runs = run_ops;
	CU_ASSERT_STRING_EQUAL(status_at_end, "interrupted");
	call_release(&call);
	service_close(service);
	problems_release(&problems);
}

static const struct unit_test tests[] = {
    {"a thread that rests is looked at once", a_thread_that_rests_is_looked_at_once},
    {"a run in flight is seen at once", a_run_in_flight_is_seen_at_once},
    {"a run that ended between the looks is no error",
	a_run_that_ended_between_the_looks_is_no_error},
    {"a run whose process died is an error", a_run_whose_process_died_is_an_error},
    {"the next run is seen when it has begun", the_next_run_is_seen_when_it_has_begun},
    {"runs in quick succession are no error", runs_in_quick_succession_are_no_error},
    {"a run that meets a pause has left its thread at its end",
	a_run_that_meets_a_pause_has_left_its_thread_at_its_end},
};

int main(void)
{
	return unit_main("state_look", tests, UNIT_COUNT(tests));
}
