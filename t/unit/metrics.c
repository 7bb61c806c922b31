/* SPDX-License-Identifier: ISC */
/* Counters in shared memory, and how they are told. */
#include "base/metrics/metrics.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared *shared;
static struct buf text;

static void open_in(const char *name)
{
	struct error err = {0};
	mkdir(unit_path(name), 0700);
	shared = shared_open(unit_path(name), &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
	metrics_attach(shared);
}

static void close_all(void)
{
	metrics_attach(NULL);
	shared_close(shared);
}

static bool name_route(size_t row, struct metric_route *route)
{
	*route = (struct metric_route){"GET", "/v1/x/{id}"};
	return row == 3;
}

static const char *written(void)
{
	buf_reset(&text);
	metrics_write(&text, name_route);
	return buf_str(&text);
}

static bool has(const char *line)
{
	const char *found = strstr(written(), line);
	bool whole =
	    found && (found == buf_str(&text) || found[-1] == '\n') && found[strlen(line)] == '\n';
	if (!whole)
		printf("# no line: %s\n", line);
	return whole;
}

static void nothing_is_counted_before_there_is_a_place(void)
{
	metrics_count(METRIC_WRITES, 1);
	metrics_request(0, 200, 1);
	metrics_tokens("m", 1, 1);
	metrics_gauge(GAUGE_BUSY, 1);
	CU_ASSERT_STRING_EQUAL(written(), "");
}

static void requests_are_told_apart_by_route_and_status(void)
{
	open_in("requests");
	metrics_request(3, 200, 3000);
	metrics_request(3, 204, 70000);
	metrics_request(3, 404, 20000000);
	metrics_request(500, 500, 1);
	metrics_request(3, 0, 1); /* never answered */
	CU_ASSERT_TRUE(
	    has("agentgraph_requests_total{method=\"GET\",route=\"/v1/x/{id}\",status=\"2xx\"} 2"));
	CU_ASSERT_TRUE(
	    has("agentgraph_requests_total{method=\"GET\",route=\"/v1/x/{id}\",status=\"4xx\"} 1"));
	CU_ASSERT_TRUE(
	    has("agentgraph_requests_total{method=\"\",route=\"other\",status=\"5xx\"} 1"));
	CU_ASSERT_TRUE(has("agentgraph_request_seconds_bucket{method=\"GET\",route=\"/v1/x/{id}\","
			   "le=\"0.005\"} 1"));
	CU_ASSERT_TRUE(has("agentgraph_request_seconds_bucket{method=\"GET\",route=\"/v1/x/{id}\","
			   "le=\"10\"} 2"));
	CU_ASSERT_TRUE(has("agentgraph_request_seconds_bucket{method=\"GET\",route=\"/v1/x/{id}\","
			   "le=\"+Inf\"} 3"));
	CU_ASSERT_TRUE(has("agentgraph_request_seconds_sum{method=\"GET\",route=\"/v1/x/{id}\"} "
			   "20.073000"));
	CU_ASSERT_TRUE(
	    has("agentgraph_request_seconds_count{method=\"GET\",route=\"/v1/x/{id}\"} 3"));
	close_all();
}

static void runs_and_tokens_are_counted(void)
{
	open_in("runs");
	metrics_run(RUN_END_DONE, 1000000);
	metrics_run(RUN_END_ERROR, 1);
	metrics_tokens("demo", 3, 2);
	metrics_tokens("demo", 1, 0);
	metrics_tokens("a\"b", 1, 1);
	metrics_tokens(NULL, 5, -1);
	CU_ASSERT_TRUE(has("agentgraph_runs_total{status=\"done\"} 1"));
	CU_ASSERT_TRUE(has("agentgraph_runs_total{status=\"error\"} 1"));
	CU_ASSERT_TRUE(has("agentgraph_runs_total{status=\"stopped\"} 0"));
	CU_ASSERT_TRUE(has("agentgraph_run_seconds_count{} 2"));
	CU_ASSERT_TRUE(has("agentgraph_tokens_total{model=\"demo\",kind=\"input\"} 4"));
	CU_ASSERT_TRUE(has("agentgraph_tokens_total{model=\"demo\",kind=\"output\"} 2"));
	CU_ASSERT_TRUE(has("agentgraph_tokens_total{model=\"a\\\"b\",kind=\"input\"} 1"));
	CU_ASSERT_TRUE(has("agentgraph_tokens_total{model=\"other\",kind=\"input\"} 5"));
	close_all();
}

/* However many names a client's provider makes up, the page stays small. */
static void models_beyond_a_number_are_one(void)
{
	char name[32];
	open_in("models");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "model-%d", i);
		metrics_tokens(name, 1, 0);
	}
	CU_ASSERT_TRUE(has("agentgraph_tokens_total{model=\"model-30\",kind=\"input\"} 1"));
	CU_ASSERT_TRUE(has("agentgraph_tokens_total{model=\"other\",kind=\"input\"} 69"));
	CU_ASSERT_PTR_NULL(strstr(written(), "model-31"));
	close_all();
}

static void gauges_are_those_of_the_living(void)
{
	int status;
	open_in("gauges");
	pid_t pid = fork();
	if (pid == 0) {
		struct error err = {0};
		metrics_attach(NULL);
		metrics_attach(shared_open(unit_path("gauges"), &err));
		metrics_gauge(GAUGE_BUSY, 5);
		metrics_count(METRIC_WRITES, 7);
		_exit(strstr(written(), "agentgraph_threads_busy 5\n") ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_TRUE(has("agentgraph_threads_busy 0"));
	metrics_gauge(GAUGE_BUSY, 2);
	metrics_gauge(GAUGE_BUSY, -1);
	CU_ASSERT_TRUE(has("agentgraph_threads_busy 1"));
	CU_ASSERT_TRUE(has("agentgraph_database_writes_total 7"));
	close_all();
}

static void a_look_sums_up_all_processes(void)
{
	struct metrics_view view;
	metrics_look(&view);
	CU_ASSERT_TRUE(view.started_at == 0 && view.requests == 0 && view.p50_us == -1);
	open_in("look");
	metrics_look(&view);
	CU_ASSERT_TRUE(view.started_at > 0 && view.processes == 0 && view.p99_us == -1);
	int64_t started_at = view.started_at;
	metrics_request(2, 404, 1);
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		struct error err = {0};
		metrics_attach(NULL);
		metrics_attach(shared_open(unit_path("look"), &err));
		metrics_gauge(GAUGE_THREADS, 4);
		metrics_request(1, 503, 1);
		metrics_look(&view);
		_exit(view.processes == 1 && view.gauges[GAUGE_THREADS] == 4 &&
			    view.requests == 2 && view.started_at == started_at
			? 0
			: 1);
	}
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	metrics_look(&view);
	CU_ASSERT_EQUAL(view.processes, 0); /* it is dead */
	metrics_gauge(GAUGE_THREADS, 4);
	metrics_gauge(GAUGE_BUSY, 1);
	metrics_look(&view);
	CU_ASSERT_EQUAL(view.processes, 1);
	CU_ASSERT_EQUAL(view.gauges[GAUGE_BUSY], 1);
	CU_ASSERT_TRUE(view.requests == 2 && view.errors == 1);
	close_all();
}

static bool within(int64_t us, int64_t found)
{
	if (found >= us && found <= us + us / 8)
		return true;
	printf("# %lld is shown as %lld\n", (long long)us, (long long)found);
	return false;
}

static void times_of_late_are_known_to_an_eighth(void)
{
	static const int64_t times[] = {64, 100, 1000, 1023, 1024, 77777, 1000000, 900000000};
	for (size_t i = 0; i < UNIT_COUNT(times); i++) {
		char name[16];
		struct metrics_view view;
		snprintf(name, sizeof(name), "late-%zu", i);
		open_in(name);
		for (int k = 0; k < 98; k++)
			metrics_request(3, 200, 10);
		metrics_look(&view);
		CU_ASSERT_TRUE(view.p50_us > 10 && view.p50_us < 72 && view.p99_us == view.p50_us);
		metrics_request(3, 200, times[i]);
		metrics_request(3, 200, times[i]);
		metrics_look(&view);
		CU_ASSERT_TRUE(view.p50_us < 72);
		CU_ASSERT_TRUE(within(times[i], view.p99_us));
		close_all();
	}
	open_in("late-ever");
	metrics_request(3, 200, INT64_MAX);
	struct metrics_view view;
	metrics_look(&view);
	CU_ASSERT_TRUE(view.p50_us >= 1 << 29);
	close_all();
}

static void every_number_has_its_type(void)
{
	open_in("types");
	metrics_request(3, 200, 1);
	metrics_tokens("m", 1, 1);
	for (const char *line = written(); *line; line = strchr(line, '\n') + 1) {
		char name[64], type[128];
		if (*line == '#')
			continue;
		size_t len = strcspn(line, "{ ");
		snprintf(name, sizeof(name), "%.*s", (int)len, line);
		char *suffix = strrchr(name, '_');
		if (!strcmp(suffix, "_bucket") || !strcmp(suffix, "_sum") ||
		    !strcmp(suffix, "_count"))
			*suffix = '\0';
		snprintf(type, sizeof(type), "# TYPE %s ", name);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&text), type));
	}
	close_all();
}

static void every_counter_and_gauge_is_told(void)
{
	char end[32];
	open_in("all");
	for (int m = 0; m < METRICS; m++)
		metrics_count((enum metric)m, 1000001 + (uint64_t)m);
	for (int g = 0; g < GAUGES; g++)
		metrics_gauge((enum gauge)g, 2000001 + g);
	written();
	for (int m = 0; m < METRICS; m++) {
		/* its number, or microseconds as seconds */
		snprintf(
		    end, sizeof(end), m == METRIC_WRITE_WAIT_US ? " 1.%06d\n" : " 1%06d\n", m + 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&text), end));
	}
	for (int g = 0; g < GAUGES; g++) {
		snprintf(end, sizeof(end), " %d\n", 2000001 + g);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_str(&text), end));
	}
	CU_ASSERT_PTR_NULL(strstr(buf_str(&text), "(null)"));
	close_all();
}

static const struct unit_test tests[] = {
    {"nothing is counted before there is a place", nothing_is_counted_before_there_is_a_place},
    {"requests are told apart by route and status", requests_are_told_apart_by_route_and_status},
    {"runs and tokens are counted", runs_and_tokens_are_counted},
    {"models beyond a number are one", models_beyond_a_number_are_one},
    {"gauges are those of the living", gauges_are_those_of_the_living},
    {"a look sums up all processes", a_look_sums_up_all_processes},
    {"times of late are known to an eighth", times_of_late_are_known_to_an_eighth},
    {"every number has its type", every_number_has_its_type},
    {"every counter and gauge is told", every_counter_and_gauge_is_told},
};

int main(void)
{
	int status = unit_main("metrics", tests, UNIT_COUNT(tests));
	buf_release(&text);
	return status;
}
