/* SPDX-License-Identifier: ISC */
/* The text format of Prometheus, version 0.0.4. */
#include "base/metrics/metrics_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "agentgraph_"

static uint64_t metrics_text_value(_Atomic uint64_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed);
}

static void metrics_text_put_head(
    struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void metrics_text_put_seconds(struct buf *out, uint64_t us)
{
	buf_printf(out, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

/* labels: without braces, "" or ended by a comma. */
static void metrics_text_put_histogram(struct buf *out, const char *name, const char *labels,
    struct histogram *histogram, const int64_t *bounds)
{
	uint64_t count = 0;
	int plain = (int)(*labels ? strlen(labels) - 1 : 0);
	for (int i = 0; i < METRIC_BUCKETS; i++) {
		count += metrics_text_value(&histogram->buckets[i]);
		buf_printf(out, PREFIX "%s_bucket{%sle=\"%g\"} %" PRIu64 "\n", name, labels,
		    (double)bounds[i] / 1e6, count);
	}
	count += metrics_text_value(&histogram->buckets[METRIC_BUCKETS]);
	buf_printf(out, PREFIX "%s_bucket{%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, count);
	buf_printf(out, PREFIX "%s_sum{%.*s} ", name, plain, labels);
	metrics_text_put_seconds(out, metrics_text_value(&histogram->sum_us));
	buf_printf(out, "\n" PREFIX "%s_count{%.*s} %" PRIu64 "\n", name, plain, labels, count);
}

/* ---- requests ---- */

typedef bool route_name_fn(size_t row, struct metric_route *route);

/* The labels of a row that was asked for; false for others. */
static bool metrics_text_row_labels(
    struct metrics_table *table, size_t row, route_name_fn *route_name, char *out, size_t size)
{
	struct metric_route route = {"", "other"};
	uint64_t asked = 0;
	for (int k = 0; k < METRIC_CLASSES; k++)
		asked |= metrics_text_value(&table->requests[row][k]);
	if (!asked)
		return false;
	if (row < METRIC_ROUTES - 1 && !route_name(row, &route))
		return false;
	snprintf(out, size, "method=\"%s\",route=\"%s\",", route.method, route.path);
	return true;
}

static void metrics_text_put_requests(
    struct buf *out, struct metrics_table *table, route_name_fn *route_name)
{
	char labels[256];
	metrics_text_put_head(
	    out, "requests_total", "counter", "Answers by route and class of status.");
	for (size_t row = 0; row < METRIC_ROUTES; row++) {
		if (!metrics_text_row_labels(table, row, route_name, labels, sizeof(labels)))
			continue;
		for (int k = 0; k < METRIC_CLASSES; k++) {
			uint64_t n = metrics_text_value(&table->requests[row][k]);
			if (n)
				buf_printf(out,
				    PREFIX "requests_total{%sstatus=\"%dxx\"} %" PRIu64 "\n",
				    labels, k + 1, n);
		}
	}
	metrics_text_put_head(
	    out, "request_seconds", "histogram", "Time from a request's head to its end.");
	for (size_t row = 0; row < METRIC_ROUTES; row++)
		if (metrics_text_row_labels(table, row, route_name, labels, sizeof(labels)))
			metrics_text_put_histogram(out, "request_seconds", labels,
			    &table->request_times[row], metric_request_bounds);
}

/* ---- runs ---- */

static void metrics_text_put_runs(struct buf *out, struct metrics_table *table)
{
	metrics_text_put_head(
	    out, "runs_total", "counter", "Runs that are over, by how they ended.");
	for (enum run_end end = 0; end < RUN_ENDS; end++)
		buf_printf(out, PREFIX "runs_total{status=\"%s\"} %" PRIu64 "\n", run_end_name(end),
		    metrics_text_value(&table->runs[end]));
	metrics_text_put_head(out, "run_seconds", "histogram", "How long runs took.");
	metrics_text_put_histogram(out, "run_seconds", "", &table->run_times, metric_run_bounds);
}

static void metrics_text_put_model(
    struct buf *out, struct metric_model *model, const char *kind, uint64_t n)
{
	buf_puts(out, PREFIX "tokens_total{model=\"");
	for (const char *c = model->name; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_putc(out, '\\');
		if (*c == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *c);
	}
	buf_printf(out, "\",kind=\"%s\"} %" PRIu64 "\n", kind, n);
}

static void metrics_text_put_tokens(struct buf *out, struct metrics_table *table)
{
	metrics_text_put_head(
	    out, "tokens_total", "counter", "Tokens that models took (input) and gave (output).");
	for (int i = 0; i < METRIC_MODELS; i++) {
		struct metric_model *model = &table->models[i];
		if (!atomic_load_explicit(&model->ready, memory_order_acquire))
			break;
		metrics_text_put_model(out, model, "input", metrics_text_value(&model->in));
		metrics_text_put_model(out, model, "output", metrics_text_value(&model->out));
	}
}

/* ---- plain numbers ---- */

static void metrics_text_put_counters(struct buf *out, struct metrics_table *table)
{
	static const struct {
		enum metric metric;
		const char *name, *labels, *help; /* help: only in the first row of a name */
	} rows[] = {
	    {METRIC_RATE_LIMITED, "rate_limited_total", "",
		"Requests that the rate limit refused."},
	    {METRIC_OWNER_HITS, "owner_lookups_total", "{found=\"process\"}",
		"Lookups of a thread's owner, by where it was found."},
	    {METRIC_OWNER_SHARED_HITS, "owner_lookups_total", "{found=\"shared\"}", NULL},
	    {METRIC_OWNER_MISSES, "owner_lookups_total", "{found=\"database\"}", NULL},
	    {METRIC_WRITES, "database_writes_total", "", "Writes to the database of threads."},
	    {METRIC_WRITE_WAITS, "database_waits_total", "", "Writes that waited for others."},
	    {METRIC_SPANS_SENT, "exports_total", "{target=\"traces\",result=\"sent\"}",
		"Runs and failures handed to those outside, by what became of them."},
	    {METRIC_SPANS_DROPPED, "exports_total", "{target=\"traces\",result=\"dropped\"}", NULL},
	    {METRIC_FAILURES_SENT, "exports_total", "{target=\"errors\",result=\"sent\"}", NULL},
	    {METRIC_FAILURES_DROPPED, "exports_total", "{target=\"errors\",result=\"dropped\"}",
		NULL},
	    {METRIC_FAILED_OPENAI, "model_failures_total", "{provider=\"openai\"}",
		"Calls to chat models that failed, each try of them."},
	    {METRIC_FAILED_ANTHROPIC, "model_failures_total", "{provider=\"anthropic\"}", NULL},
	    {METRIC_FAILED_GEMINI, "model_failures_total", "{provider=\"gemini\"}", NULL},
	    {METRIC_TRACES_DROPPED, "traces_dropped_total", "",
		"Pieces of runs that /v1/observability lacks."},
	    {METRIC_THREADS_RETIRED, "retired_total", "{kind=\"threads\"}",
		"What retention took away because nobody had touched it."},
	    {METRIC_FILES_RETIRED, "retired_total", "{kind=\"files\"}", NULL},
	    {METRIC_WEBHOOKS_DELIVERED, "webhooks_total", "{result=\"delivered\"}",
		"Webhooks that were delivered or given up."},
	    {METRIC_WEBHOOKS_GIVEN_UP, "webhooks_total", "{result=\"given_up\"}", NULL},
	    {METRIC_WEBHOOKS_FAILED, "webhook_failures_total", "",
		"Attempts to deliver a webhook that failed."},
	    {METRIC_ATTEMPTS, "background_attempts_total", "",
		"Runs in the background that were begun or taken up again."},
	    {METRIC_NODE_RETRIES, "node_retries_total", "",
		"Attempts of nodes after one that failed."},
	    {METRIC_NODE_CACHE_HITS, "node_cache_total", "{result=\"hit\"}",
		"Executions of nodes with a cache, by whether a result was kept."},
	    {METRIC_NODE_CACHE_MISSES, "node_cache_total", "{result=\"miss\"}", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].help)
			metrics_text_put_head(out, rows[i].name, "counter", rows[i].help);
		buf_printf(out, PREFIX "%s%s %" PRIu64 "\n", rows[i].name, rows[i].labels,
		    metrics_text_value(&table->counters[rows[i].metric]));
	}
	metrics_text_put_head(
	    out, "database_wait_seconds_total", "counter", "How long writes waited for others.");
	buf_puts(out, PREFIX "database_wait_seconds_total ");
	metrics_text_put_seconds(out, metrics_text_value(&table->counters[METRIC_WRITE_WAIT_US]));
	buf_putc(out, '\n');
}

static void metrics_text_put_gauges(struct buf *out)
{
	static const struct {
		const char *name, *help;
	} rows[GAUGES] = {
	    [GAUGE_THREADS] = {"threads", "Requests that can be served at the same time."},
	    [GAUGE_BUSY] = {"threads_busy", "Threads that have a request in hand."},
	    [GAUGE_ARRIVING] = {"requests_arriving",
		"Requests whose bodies are on their way, and keep no thread."},
	    [GAUGE_SOCKETS] = {"sockets_open", "WebSockets that are open."},
	    [GAUGE_LIVE] = {"sockets_live", "WebSockets to live agents, of those that are open."},
	    [GAUGE_EXPORT_QUEUE] = {"export_queue", "Runs and failures that wait to be sent."},
	    [GAUGE_LEASE_QUEUE] = {"runs_waiting",
		"Requests that wait for another run on their thread."},
	    [GAUGE_RUNS] = {"runs_in_flight", "Runs that are under way."},
	    [GAUGE_BACKGROUND] = {"background_runs_in_flight",
		"Runs in the background that are under way."},
	    [GAUGE_WEBHOOKS] = {"webhooks_waiting", "Webhooks that are not delivered yet."},
	};
	struct metrics_view view;
	metrics_look(&view);
	for (int i = 0; i < GAUGES; i++) {
		metrics_text_put_head(out, rows[i].name, "gauge", rows[i].help);
		buf_printf(out, PREFIX "%s %" PRId64 "\n", rows[i].name, view.gauges[i]);
	}
}

void metrics_write(struct buf *out, route_name_fn *route_name)
{
	struct shared *shared;
	struct metrics_table *table = metrics_table(&shared);
	if (!table)
		return;
	metrics_text_put_requests(out, table, route_name);
	metrics_text_put_runs(out, table);
	metrics_text_put_tokens(out, table);
	metrics_text_put_counters(out, table);
	metrics_text_put_gauges(out);
}
