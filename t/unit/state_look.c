/* SPDX-License-Identifier: ISC */
/* Reading a state while runs begin and end: the database and the leases are looked at in turn. */
#include "base/json/json.h"
#include "graph/graph.h"
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

static const struct unit_test tests[] = {
    {"a thread that rests is looked at once", a_thread_that_rests_is_looked_at_once},
    {"a run in flight is seen at once", a_run_in_flight_is_seen_at_once},
    {"a run that ended between the looks is no error",
	a_run_that_ended_between_the_looks_is_no_error},
    {"a run whose process died is an error", a_run_whose_process_died_is_an_error},
    {"the next run is seen when it has begun", the_next_run_is_seen_when_it_has_begun},
    {"runs in quick succession are no error", runs_in_quick_succession_are_no_error},
};

int main(void)
{
	return unit_main("state_look", tests, UNIT_COUNT(tests));
}
