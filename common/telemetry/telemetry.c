/* SPDX-License-Identifier: ISC */
/* Opening the configured targets, and handing each run and failure to them. */
#include "telemetry/telemetry.h"

#include "base/http/percent.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "telemetry/otlp.h"
#include "telemetry/outlet.h"
#include "telemetry/tracker.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 128      /* runs in a request */
#define SPAN_BYTES 800 /* of a span in JSON, on the average */
#define FAREWELL_MS 2000

enum target { TARGET_OTEL, TARGET_LOGFIRE, TARGET_LANGSMITH, TARGETS };

struct telemetry {
	const struct config *config;
	struct outlet *targets[TARGETS]; /* NULL: off */
	bool console;
	struct tracker *tracker; /* or NULL */
};

/* ---- targets ---- */

static void telemetry_add_header(struct outlet_setup *setup, const char *name, const char *value)
{
	if (setup->header_count == OUTLET_HEADERS)
		return;
	setup->headers[setup->header_count][0] = xstrdup(name);
	setup->headers[setup->header_count++][1] = xstrdup(value);
}

/* Decodes percent escapes in place, but none of a control character, which could end a header
 * line. */
static char *telemetry_decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		int byte = *from == '%' ? percent_byte(from + 1) : -1;
		if (byte >= ' ' && byte != 0x7f) {
			*to++ = (char)byte;
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	return text;
}

static char *telemetry_trim(char *text)
{
	text += strspn(text, " \t");
	for (size_t len = strlen(text); len && strchr(" \t", text[len - 1]); len--)
		text[len - 1] = '\0';
	return text;
}

/* Adds the headers of OTEL_EXPORTER_OTLP_HEADERS, "name=value,name=value". */
static void telemetry_add_headers(struct outlet_setup *setup, const char *list)
{
	char *copy = xstrdup(list ? list : ""), *rest = copy, *entry;
	while ((entry = strsep(&rest, ","))) {
		char *equals = strchr(entry, '=');
		if (!equals)
			continue;
		*equals = '\0';
		if (*telemetry_trim(entry))
			telemetry_add_header(setup, telemetry_decode(telemetry_trim(entry)),
			    telemetry_decode(telemetry_trim(equals + 1)));
	}
	free(copy);
}

static struct outlet_setup telemetry_target_setup(
    const struct config *config, const char *name, const char *endpoint, const char *service_name)
{
	struct outlet_setup setup = {
	    .name = name,
	    .url = xasprintf("%s/v1/traces", endpoint),
	    .prefix = otlp_prefix(&config->env, service_name),
	    .suffix = otlp_suffix(),
	    .batch = BATCH,
	    .delay_ms = config->env.otel_delay_ms,
	    .patience_ms = OUTLET_PATIENCE_MS,
	    .keeps_refused = true,
	    .sent = METRIC_SPANS_SENT,
	    .dropped = METRIC_SPANS_DROPPED,
	    .complaint = otlp_complaint,
	};
	telemetry_add_header(&setup, "Content-Type", "application/json");
	return setup;
}

struct telemetry *telemetry_new(const struct config *config)
{
	const struct environment *env = &config->env;
	const struct exporter_config *logfire = &config->observability.logfire;
	const struct exporter_config *langsmith = &config->observability.langsmith;
	struct telemetry *telemetry = xcalloc(1, sizeof(*telemetry));
	struct outlet_setup setup;
	telemetry->config = config;
	if (env->otel_enabled && env->otel_endpoint) {
		setup = telemetry_target_setup(
		    config, "OpenTelemetry", env->otel_endpoint, env->otel_service_name);
		telemetry_add_headers(&setup, env->otel_headers);
		telemetry->targets[TARGET_OTEL] = outlet_new(&setup);
	}
	if (logfire->enabled && logfire->send) {
		setup = telemetry_target_setup(
		    config, "logfire", logfire->endpoint, logfire->service_name);
		telemetry_add_header(&setup, "Authorization", logfire->token);
		telemetry->targets[TARGET_LOGFIRE] = outlet_new(&setup);
	}
	if (langsmith->enabled && langsmith->send) {
		setup = telemetry_target_setup(
		    config, "langsmith", langsmith->endpoint, env->otel_service_name);
		telemetry_add_header(&setup, "x-api-key", langsmith->token);
		if (langsmith->project)
			telemetry_add_header(&setup, "Langsmith-Project", langsmith->project);
		telemetry->targets[TARGET_LANGSMITH] = outlet_new(&setup);
	}
	telemetry->console = logfire->enabled && logfire->console;
	telemetry->tracker = tracker_new(env);
	return telemetry;
}

/* Stops all of them before it waits for any, so that they share the time. */
void telemetry_free(struct telemetry *telemetry)
{
	if (!telemetry)
		return;
	int64_t deadline = clock_monotonic_ms() + FAREWELL_MS;
	for (int i = 0; i < TARGETS; i++)
		outlet_stop(telemetry->targets[i], deadline);
	tracker_stop(telemetry->tracker, deadline);
	for (int i = 0; i < TARGETS; i++)
		outlet_free(telemetry->targets[i]);
	tracker_free(telemetry->tracker);
	free(telemetry);
}

bool telemetry_exports(const struct telemetry *telemetry)
{
	for (int i = 0; i < TARGETS; i++)
		if (telemetry->targets[i])
			return true;
	return telemetry->console;
}

bool telemetry_wants_runs(const struct telemetry *telemetry)
{
	return telemetry_exports(telemetry) ||
	    (telemetry->tracker && tracker_samples(telemetry->tracker));
}

/* ---- what is handed over ---- */

/* The spans are written once for each level, however many targets want that. */
void telemetry_run(struct telemetry *telemetry, const struct run_report *report)
{
	const struct config *config = telemetry->config;
	struct buf texts[TRACE_FULL + 1] = {{0}};
	for (int i = 0; i < TARGETS; i++) {
		enum trace_level level =
		    i == TARGET_OTEL ? config->env.otel_level : config->observability.level;
		if (!telemetry->targets[i])
			continue;
		if (!texts[level].len) {
			buf_reserve(&texts[level], report->span_count * SPAN_BYTES);
			otlp_spans(&texts[level], report, level);
		}
		outlet_put(telemetry->targets[i], buf_str(&texts[level]), texts[level].len, 0);
	}
	for (size_t i = 0; telemetry->console && i < report->span_count; i++) {
		const struct span *span = report->spans[i];
		struct buf name = {0};
		const char *parent = span->parent ? span->parent->id : report->parent;
		otlp_name(&name, report, span, config->observability.level);
		log_info("span \"%s\" trace_id=%s span_id=%s parent=%s %.3f ms %s", buf_str(&name),
		    report->context.trace_id, span->id, *parent ? parent : "-",
		    (double)(span->end - span->start) / 1000.0, span->error ? "error" : "ok");
		buf_release(&name);
	}
	if (telemetry->tracker && tracker_samples(telemetry->tracker))
		tracker_run(telemetry->tracker, report);
	for (int i = 0; i <= TRACE_FULL; i++)
		buf_release(&texts[i]);
}

void telemetry_failure(struct telemetry *telemetry, const struct failure_report *report)
{
	if (telemetry->tracker)
		tracker_failure(telemetry->tracker, report);
}
