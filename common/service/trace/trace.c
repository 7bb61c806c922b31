/* SPDX-License-Identifier: ISC */
/* The observer in the middle: it passes events on, and records, counts and reports. */
#include "service/trace/trace.h"

#include "base/json/json.h"
#include "base/log/log.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/trace/trace_record.h"
#include "telemetry/telemetry.h"

#include <stdio.h>
#include <string.h>

#define SHOW_US 250000   /* how often a run that goes on says what it did */
#define PIECE_SIZE 65536 /* bytes of records, before a new piece is begun */

struct trace {
	struct run_observer observer; /* first: what the engine sees */
	struct run_observer *inner;
	struct turn *turn;

	struct traces *traces; /* NULL: nothing is kept of it */
	struct trace_run run;
	struct buf records; /* of the present piece */
	int first, count;   /* number of its first record, and of the next one */
	int left_out;       /* records beyond those that are kept */
	uint64_t place;     /* where the run was handed over */
	int64_t shown_at;
	struct call_names names;
	bool *visited; /* by node of the graph */

	bool wanted; /* spans are wanted */
	struct trace_spans spans;
	struct trace_context context; /* the trace, with the id of the span that is open */
	char run_span[SPAN_ID_SIZE], caller_span[SPAN_ID_SIZE];
	bool passes_on;
	char parent[TRACEPARENT_SIZE];
};

static struct service *trace_service_of(const struct trace *trace)
{
	return trace->turn->call->service;
}

/* ---- the trace that the request belongs to ---- */

static void trace_write_parent(struct trace *trace, const char *span_id)
{
	memcpy(trace->context.span_id, span_id, SPAN_ID_SIZE);
	traceparent_format(&trace->context, trace->parent);
}

/* Joins the trace that the request belongs to.  It is handed on even where nothing is recorded
 * here; one that was not sampled is recorded by nobody. */
static void trace_join(struct trace *trace)
{
	struct telemetry *telemetry = trace_service_of(trace)->telemetry;
	bool given = traceparent_parse(trace->turn->call->trace.parent, &trace->context);
	trace->wanted =
	    telemetry && telemetry_wants_runs(telemetry) && (!given || trace->context.sampled);
	trace->passes_on = given || trace->wanted;
	if (given)
		memcpy(trace->caller_span, trace->context.span_id, SPAN_ID_SIZE);
	else if (trace->wanted)
		trace_id_new(trace->context.trace_id);
	if (!trace->wanted) {
		if (given)
			trace_write_parent(trace, trace->caller_span);
		return;
	}
	trace->context.sampled = true;
	spans_begin(&trace->spans, trace->turn->call->arena, trace->run.started_at);
	memcpy(trace->run_span, trace->spans.items[0]->id, SPAN_ID_SIZE);
	trace_write_parent(trace, trace->run_span);
}

const char *trace_parent(const struct trace *trace)
{
	return trace->passes_on ? trace->parent : NULL;
}

/* ---- records ---- */

static void trace_hand_over(struct trace *trace)
{
	const struct trace_piece piece = {
	    trace->first, buf_str(&trace->records), trace->records.len};
	if (!trace->traces)
		return;
	traces_put(trace->traces, &trace->run, &piece, &trace->place);
	trace->shown_at = trace->run.last_at;
	if (trace->records.len < PIECE_SIZE)
		return;
	trace->first = trace->count;
	trace->place = 0;
	buf_reset(&trace->records);
}

/* Adds a record.  Records beyond those that are kept still count in the totals. */
static void trace_put_record(struct trace *trace, int64_t now, struct trace_event *event)
{
	struct buf ignored = {0};
	if (!trace->traces && event->piece)
		return; /* nothing in a piece is counted */
	bool kept = trace->traces && trace->count < TRACES_RECORDS - 1;
	event->offset = now - trace->run.started_at;
	trace_record(kept ? &trace->records : &ignored, event, &trace->names, &trace->run.totals);
	trace->count += kept;
	trace->left_out += trace->traces && !kept;
	trace->run.last_at = now;
	buf_release(&ignored);
}

static void trace_put_plain(
    struct trace *trace, int64_t now, const char *type, const char *node, const char *status)
{
	struct trace_event event = {.type = type, .node = node, .status = status};
	trace_put_record(trace, now, &event);
}

/* ---- events ---- */

static void trace_on_node_starts(struct trace *trace, const struct run_event *event, int64_t now)
{
	const ag_graph *graph = trace_service_of(trace)->graph;
	size_t i = 0;
	while (i < graph->all_count && strcmp(graph->all[i]->name, event->node) != 0)
		i++;
	log_run(trace->run.run_id);
	if (i < graph->all_count && !trace->visited[i]) {
		trace->visited[i] = true;
		trace->run.totals.iterations++;
	}
	trace_put_plain(trace, now, "updates", event->node, "invoking_node");
	if (!trace->wanted)
		return;
	spans_node_starts(&trace->spans, event->node, event->step, now);
	const struct span *span = trace->spans.lane->node;
	if (span && event->branch) {
		/* nodes of branches run side by side, so that each has a place of its own */
		struct trace_context context = trace->context;
		memcpy(context.span_id, span->id, SPAN_ID_SIZE);
		traceparent_format(&context, event->traceparent);
	} else if (span) {
		trace_write_parent(trace, span->id);
	}
}

static void trace_on_message(struct trace *trace, const struct run_event *event, int64_t now)
{
	struct trace_event written = {.type = "message",
	    .node = event->node,
	    .message = event->message,
	    .piece = event->kind == RUN_PIECE};
	if (event->kind == RUN_PIECE && !trace->inner->live)
		return;
	trace_put_record(trace, now, &written);
	if (trace->wanted && event->kind == RUN_MESSAGE)
		spans_message(&trace->spans, event->message, &trace->names, now);
}

static void trace_on_attempt(struct trace *trace, const struct run_event *event, int64_t now)
{
	struct arena *a = trace->turn->call->arena;
	const char *code = error_code_of(event->failure);
	trace_put_plain(trace, now, "error", event->node,
	    arena_printf(a, "attempt %d failed: %s", event->attempt, code));
	if (trace->wanted)
		spans_attempt(&trace->spans,
		    &(const struct span_attempt){.at = now,
			.number = event->attempt,
			.node = event->node,
			.code = code,
			.error = arena_strdup(a, event->failure->detail)});
}

/* A node failed, and the run goes on at its on_error.  The reason is kept as long as the spans. */
static const char *trace_on_caught(struct trace *trace, const struct run_event *event, int64_t now)
{
	struct arena *a = trace->turn->call->arena;
	trace_put_plain(trace, now, "error", event->node,
	    arena_printf(a, "failed: %s", error_code_of(event->failure)));
	return arena_strdup(a, event->failure->detail);
}

static void trace_on_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct trace *trace = (struct trace *)observer;
	const char *failure = NULL;
	int64_t now = clock_now();
	if (trace->wanted)
		spans_turn_to(&trace->spans, event->branch, now);
	switch (event->kind) {
	case RUN_NODE_STARTS:
		trace_on_node_starts(trace, event, now);
		break;
	case RUN_MESSAGE:
		if (event->again)
			break;
		message_count_tokens(event->message);
		trace_on_message(trace, event, now);
		break;
	case RUN_PIECE:
		trace_on_message(trace, event, now);
		break;
	case RUN_CUSTOM:
	case RUN_SUBGRAPH_ENDS:
		break;
	case RUN_ATTEMPT_FAILS:
		trace_on_attempt(trace, event, now);
		break;
	case RUN_NODE_ENDS:
		trace_put_plain(trace, now, "state", event->node, NULL);
		if (event->failure)
			failure = trace_on_caught(trace, event, now);
		trace_put_plain(trace, now, "updates", event->node, "node_invoked");
		if (trace->wanted && trace->spans.lane->node)
			trace->spans.lane->node->cached = event->cached;
		if (trace->wanted)
			spans_node_ends(&trace->spans, failure, now);
		break;
	}
	if (now - trace->shown_at >= SHOW_US || trace->records.len >= PIECE_SIZE)
		trace_hand_over(trace);
	if (!event->hidden)
		trace->inner->event(trace->inner, run, event);
}

static void trace_on_settled(struct run_observer *observer, bool ok)
{
	struct run_observer *inner = ((struct trace *)observer)->inner;
	if (inner->settled)
		inner->settled(inner, ok);
}

/* ---- its life ---- */

static void trace_release(void *arg)
{
	buf_release(&((struct trace *)arg)->records);
}

struct trace *trace_begin(struct turn *turn, struct run_observer *inner)
{
	struct arena *a = turn->call->arena;
	struct service *service = turn->call->service;
	struct trace *trace = arena_alloc(a, sizeof(*trace));
	trace->observer = (struct run_observer){
	    .live = inner->live, .event = trace_on_event, .settled = trace_on_settled};
	trace->inner = inner;
	trace->turn = turn;
	trace->traces = turn->apart ? NULL : service->traces;
	trace->run = (struct trace_run){
	    .number = trace->traces ? traces_number(trace->traces) : 0,
	    .thread_id = turn->thread.thread_id,
	    .run_id = turn->run_id,
	    .started_at = clock_now(),
	};
	trace->run.last_at = trace->run.started_at;
	trace->names.arena = a;
	trace->visited = arena_alloc(a, service->graph->all_count + 1);
	arena_defer(a, trace_release, trace);
	trace_join(trace);
	metrics_gauge(GAUGE_RUNS, 1);
	return trace;
}

struct run_observer *trace_observer(struct trace *trace)
{
	return &trace->observer;
}

/* The chunk that a stream would end with, where it says more than that the run is over. */
static void trace_put_outcome(struct trace *trace, bool ok, int64_t now)
{
	const ag_run *run = trace->turn->run;
	const char *node = run_steps(run) > 0 ? run_node(run) : NULL;
	if (!ok) {
		trace_put_plain(trace, now, "error", node, NULL);
		return;
	}
	if (run_thread(run)->status == RUN_INTERRUPTED) {
		const cJSON *interrupt =
		    arena_json(trace->turn->call->arena, thread_interrupt(run_thread(run)));
		trace_put_plain(trace, now, "updates", json_str(interrupt, "node"), "interrupted");
	} else if (run_thread(run)->status == RUN_STOPPED) {
		trace_put_plain(trace, now, "updates", run_node(run), "stopped");
	}
	if (!trace->inner->live)
		trace_put_plain(trace, now, "result", NULL, NULL);
}

static void trace_report_run(struct trace *trace, enum run_end end)
{
	const struct error *err = &trace->turn->call->error;
	struct run_report report = {
	    .context = trace->context,
	    .agent = trace_service_of(trace)->config->agent,
	    .thread_id = trace->run.thread_id,
	    .run_id = trace->run.run_id,
	    .spans = (const struct span *const *)trace->spans.items,
	    .span_count = trace->spans.count,
	    .spans_left_out = trace->spans.left_out,
	    .end = end,
	    .input_tokens = trace->spans.input_tokens,
	    .output_tokens = trace->spans.output_tokens,
	    .input = run_messages(trace->turn->run),
	    .input_count = (size_t)trace->turn->brought,
	};
	memcpy(report.context.span_id, trace->run_span, SPAN_ID_SIZE);
	memcpy(report.parent, trace->caller_span, SPAN_ID_SIZE);
	if (end == RUN_END_ERROR)
		report.error_code = error_code_of(err);
	telemetry_run(trace_service_of(trace)->telemetry, &report);
}

/* What failed inside the run is ours, whichever transport tells the client. */
static void trace_report_failure(struct trace *trace)
{
	struct call *call = trace->turn->call;
	const ag_run *run = trace->turn->run;
	const struct failure_report report = {
	    .code = error_code_of(&call->error),
	    .message = call->error.detail,
	    .cause = call->error.cause,
	    .node = run_steps(run) > 0 ? run_node(run) : NULL,
	    .request_id = call->ctx.request_id,
	    .run_id = trace->run.run_id,
	    .trace_id = trace->wanted ? trace->context.trace_id : NULL,
	    .span_id = trace->wanted ? trace->run_span : NULL,
	};
	if (error_status_of(&call->error) != 500 || call->reported)
		return;
	call->reported = true;
	telemetry_failure(trace_service_of(trace)->telemetry, &report);
}

void trace_end(struct trace *trace, bool ok)
{
	int64_t now = clock_now();
	bool stopped = run_thread(trace->turn->run)->status == RUN_STOPPED;
	enum run_end end = !ok ? RUN_END_ERROR : stopped ? RUN_END_STOPPED : RUN_END_DONE;
	trace_put_outcome(trace, ok, now);
	/* Says as the last record how many were left out. */
	char status[48];
	struct trace_event event = {
	    .type = "updates", .offset = now - trace->run.started_at, .status = status};
	if (trace->left_out) {
		snprintf(status, sizeof(status), "%d more left out", trace->left_out);
		trace_record(&trace->records, &event, &trace->names, &trace->run.totals);
		trace->count++;
	}
	trace->run.status = !ok ? TRACE_ERROR : stopped ? TRACE_STOPPED : TRACE_DONE;
	trace->run.finished_at = now;
	trace_hand_over(trace);
	metrics_gauge(GAUGE_RUNS, -1);
	metrics_run(end, now - trace->run.started_at);
	if (trace->wanted) {
		spans_end(&trace->spans, ok ? NULL : trace->turn->call->error.detail, now);
		trace_report_run(trace, end);
	}
	if (!ok && trace_service_of(trace)->telemetry)
		trace_report_failure(trace);
}
