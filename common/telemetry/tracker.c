/* SPDX-License-Identifier: ISC */
/* Events and transactions as envelopes, and the limits that the tracker sets. */
#include "telemetry/tracker.h"

#include "base/id.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "config/environment/dsn.h"
#include "telemetry/otlp.h"
#include "telemetry/outlet.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT "agentgraph/" AGENTGRAPH_VERSION
#define REFUSED_MS 60000 /* when a refusal does not say for how long */

enum { KIND_ERROR, KIND_TRANSACTION };

struct tracker {
	struct outlet *outlet;
	const struct environment *env;
};

/* ---- the tracker's limits ---- */

/* The header is a list of limits: seconds, ":", kinds separated by semicolons (none: all), ":",
 * more. */
void tracker_limits(const char *header, int64_t pause_ms[2])
{
	while (*header) {
		char *end;
		header += strspn(header, " ,");
		double seconds = strtod(header, &end);
		bool given = end > header && seconds >= 0 && seconds <= 1e6;
		header += strcspn(header, ":,");
		if (*header == ':')
			header++;
		const char *kind = header;
		header += strcspn(header, ":,");
		while (given) {
			size_t name = strcspn(kind, ";:,");
			int64_t ms = (int64_t)(seconds * 1000);
			bool all = name == 0;
			if (all || (name == 5 && strncmp(kind, "error", name) == 0))
				pause_ms[KIND_ERROR] =
				    ms > pause_ms[KIND_ERROR] ? ms : pause_ms[KIND_ERROR];
			if (all || (name == 11 && strncmp(kind, "transaction", name) == 0))
				pause_ms[KIND_TRANSACTION] = ms > pause_ms[KIND_TRANSACTION]
				    ? ms
				    : pause_ms[KIND_TRANSACTION];
			kind += name;
			if (kind >= header || *kind != ';')
				break;
			kind++;
		}
		header += strcspn(header, ",");
	}
}

static void tracker_read_limits(
    const struct http_response *response, int64_t pause_ms[OUTLET_KINDS])
{
	char *header = http_response_header(response, "X-Sentry-Rate-Limits");
	int64_t asked = http_retry_after_ms(response);
	if (header)
		tracker_limits(header, pause_ms);
	else if (response->status == 429)
		pause_ms[KIND_ERROR] = pause_ms[KIND_TRANSACTION] = asked > 0 ? asked : REFUSED_MS;
	free(header);
}

/* ---- its life ---- */

struct tracker *tracker_new(const struct environment *env)
{
	struct dsn dsn;
	bool reported = strcmp(env->mode, "production") == 0 || strcmp(env->mode, "staging") == 0 ||
	    strcmp(env->mode, "development") == 0;
	if (!env->error_tracker_dsn || !reported || !dsn_parse(env->error_tracker_dsn, &dsn))
		return NULL;
	const struct outlet_setup setup = {
	    .name = "error tracker",
	    .url = xstrdup(dsn.url),
	    .headers = {{xstrdup("Content-Type"), xstrdup("application/x-sentry-envelope")},
		{xstrdup("X-Sentry-Auth"),
		    xasprintf("Sentry sentry_version=7, sentry_client=" CLIENT ", sentry_key=%s",
			dsn.key)}},
	    .header_count = 2,
	    .batch = 1,
	    .patience_ms = OUTLET_PATIENCE_MS,
	    .sent = METRIC_FAILURES_SENT,
	    .dropped = METRIC_FAILURES_DROPPED,
	    .limits = tracker_read_limits,
	};
	struct tracker *tracker = xcalloc(1, sizeof(*tracker));
	tracker->env = env;
	tracker->outlet = outlet_new(&setup);
	dsn_release(&dsn);
	return tracker;
}

void tracker_stop(struct tracker *tracker, int64_t deadline)
{
	if (tracker)
		outlet_stop(tracker->outlet, deadline);
}

void tracker_free(struct tracker *tracker)
{
	if (!tracker)
		return;
	outlet_free(tracker->outlet);
	free(tracker);
}

bool tracker_samples(const struct tracker *tracker)
{
	return tracker->env->error_tracker_traces_rate > 0;
}

/* ---- events ---- */

static void tracker_add_scrubbed(cJSON *object, const char *key, const char *text)
{
	struct buf clean = {0};
	scrub(&clean, text);
	cJSON_AddStringToObject(object, key, buf_str(&clean));
	buf_release(&clean);
}

static void tracker_add_seconds(cJSON *object, const char *key, int64_t us)
{
	cJSON_AddItemToObject(object, key, json_new_double(clock_seconds(us)));
}

/* A new event, with the members that both kinds have. */
static cJSON *tracker_event_new(const struct tracker *tracker, char id[HEX_ID_SIZE])
{
	cJSON *event = cJSON_CreateObject();
	cJSON_AddStringToObject(event, "event_id", hex_id(id));
	cJSON_AddStringToObject(event, "platform", "c");
	cJSON_AddStringToObject(event, "environment", tracker->env->mode);
	cJSON_AddStringToObject(event, "release", CLIENT);
	cJSON *sdk = cJSON_AddObjectToObject(event, "sdk");
	cJSON_AddStringToObject(sdk, "name", "agentgraph");
	cJSON_AddStringToObject(sdk, "version", AGENTGRAPH_VERSION);
	return event;
}

/* Sends the event, and deletes it. */
static void tracker_send_event(struct tracker *tracker, cJSON *event, const char *id, unsigned kind)
{
	static const char *const types[] = {
	    [KIND_ERROR] = "event", [KIND_TRANSACTION] = "transaction"};
	char now[ISO_TIME_SIZE];
	struct buf envelope = {0};
	char *body = json_print(event);
	buf_printf(&envelope,
	    "{\"event_id\":\"%s\",\"sent_at\":\"%s\"}\n"
	    "{\"type\":\"%s\",\"content_type\":\"application/json\",\"length\":%zu}\n%s\n",
	    id, clock_iso(clock_now(), now), types[kind], strlen(body), body);
	outlet_put(tracker->outlet, buf_str(&envelope), envelope.len, kind);
	buf_release(&envelope);
	free(body);
	cJSON_Delete(event);
}

static void tracker_add_tag(cJSON *tags, const char *key, const char *value)
{
	if (value)
		cJSON_AddStringToObject(tags, key, value);
}

static void tracker_add_trace(cJSON *event, const char *trace_id, const char *span_id)
{
	cJSON *trace = cJSON_AddObjectToObject(cJSON_AddObjectToObject(event, "contexts"), "trace");
	cJSON_AddStringToObject(trace, "trace_id", trace_id);
	cJSON_AddStringToObject(trace, "span_id", span_id);
}

void tracker_failure(struct tracker *tracker, const struct failure_report *report)
{
	char id[HEX_ID_SIZE];
	cJSON *event = tracker_event_new(tracker, id);
	tracker_add_seconds(event, "timestamp", clock_now());
	cJSON_AddStringToObject(event, "level", "error");
	cJSON_AddStringToObject(event, "logger", tracker->env->logger_name);
	if (report->route || report->node)
		cJSON_AddStringToObject(
		    event, "transaction", report->route ? report->route : report->node);
	cJSON *exception = cJSON_AddObjectToObject(event, "exception");
	cJSON *values = cJSON_AddArrayToObject(exception, "values"), *value = cJSON_CreateObject();
	cJSON_AddStringToObject(value, "type", report->code);
	tracker_add_scrubbed(
	    value, "value", report->cause && *report->cause ? report->cause : report->message);
	cJSON_AddItemToArray(values, value);
	cJSON *tags = cJSON_AddObjectToObject(event, "tags");
	tracker_add_tag(tags, "error_code", report->code);
	tracker_add_tag(tags, "node", report->node);
	tracker_add_tag(tags, "request_id", report->request_id);
	if (report->run_id)
		tracker_add_scrubbed(tags, "run_id", report->run_id);
	if (report->trace_id)
		tracker_add_trace(event, report->trace_id, report->span_id);
	tracker_send_event(tracker, event, id, KIND_ERROR);
}

/* ---- sampled runs ---- */

static const char *tracker_operation_of(enum span_kind kind)
{
	static const char *const names[] = {[SPAN_RUN] = "gen_ai.invoke_agent",
	    [SPAN_NODE] = "agentgraph.node",
	    [SPAN_LLM] = "gen_ai.chat",
	    [SPAN_TOOL] = "gen_ai.execute_tool"};
	return names[kind];
}

static cJSON *span_json(const struct run_report *report, const struct span *span)
{
	struct buf name = {0};
	cJSON *out = cJSON_CreateObject();
	otlp_name(&name, report, span, TRACE_STANDARD);
	cJSON_AddStringToObject(out, "trace_id", report->context.trace_id);
	cJSON_AddStringToObject(out, "span_id", span->id);
	json_add_str(out, "parent_span_id", span->parent->id);
	cJSON_AddStringToObject(out, "op", tracker_operation_of(span->kind));
	cJSON_AddStringToObject(out, "description", buf_str(&name));
	cJSON_AddStringToObject(out, "status", span->error ? "internal_error" : "ok");
	tracker_add_seconds(out, "start_timestamp", span->start);
	tracker_add_seconds(out, "timestamp", span->end);
	buf_release(&name);
	return out;
}

void tracker_run(struct tracker *tracker, const struct run_report *report)
{
	static const char *const ends[RUN_ENDS] = {"ok", "internal_error", "cancelled"};
	char id[HEX_ID_SIZE];
	uint32_t random;
	random_bytes(&random, sizeof(random));
	if ((double)random / 4294967296.0 >= tracker->env->error_tracker_traces_rate)
		return;
	cJSON *event = tracker_event_new(tracker, id);
	cJSON_AddStringToObject(event, "type", "transaction");
	cJSON_AddStringToObject(event, "transaction", report->agent);
	tracker_add_seconds(event, "start_timestamp", report->spans[0]->start);
	tracker_add_seconds(event, "timestamp", report->spans[0]->end);
	tracker_add_trace(event, report->context.trace_id, report->context.span_id);
	cJSON *trace = json_get(json_get(event, "contexts"), "trace");
	cJSON_AddStringToObject(trace, "op", tracker_operation_of(SPAN_RUN));
	cJSON_AddStringToObject(trace, "status", ends[report->end]);
	if (*report->parent)
		cJSON_AddStringToObject(trace, "parent_span_id", report->parent);
	cJSON *spans = cJSON_AddArrayToObject(event, "spans");
	for (size_t i = 1; i < report->span_count; i++)
		cJSON_AddItemToArray(spans, span_json(report, report->spans[i]));
	tracker_send_event(tracker, event, id, KIND_TRANSACTION);
}
