/* SPDX-License-Identifier: ISC */
/* Spans printed as JSON: names, attributes, messages, status. */
#include "telemetry/otlp.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 32768 /* bytes of a text; a longer one is cut */

/* Numbers of the protocol's enums. */
enum { KIND_INTERNAL = 1, KIND_CLIENT = 3, STATUS_OK = 1, STATUS_ERROR = 2 };

/* ---- attributes ---- */

struct attributes {
	struct buf *out;
	int count;
};

static void otlp_begin(struct attributes *list, const char *key)
{
	buf_puts(list->out, list->count++ ? ",{\"key\":\"" : "{\"key\":\"");
	buf_puts(list->out, key);
	buf_puts(list->out, "\",\"value\":{");
}

static void otlp_add_text(struct attributes *list, const char *key, const char *text)
{
	if (!text)
		return;
	otlp_begin(list, key);
	buf_puts(list->out, "\"stringValue\":");
	if (strlen(text) > TEXT_MAX) {
		char *cut = strndup(text, utf8_cut(text, TEXT_MAX));
		json_quote(list->out, cut);
		free(cut);
	} else {
		json_quote(list->out, text);
	}
	buf_puts(list->out, "}}");
}

/* OTLP writes 64-bit integers as strings. */
static void otlp_add_int(struct attributes *list, const char *key, int64_t value)
{
	otlp_begin(list, key);
	buf_printf(list->out, "\"intValue\":\"%" PRId64 "\"}}", value);
}

static void otlp_add_json(struct attributes *list, const char *key, const cJSON *value)
{
	if (!value)
		return;
	char *text = json_print(value);
	otlp_add_text(list, key, text);
	free(text);
}

/* ---- messages, in the form of the conventions ---- */

static void otlp_put_part(struct buf *out, const cJSON *block, int *count)
{
	const char *type = json_str(block, "type");
	const char *text = json_str(block, "text");
	if (!type)
		return;
	buf_puts(out, (*count)++ ? ",{\"type\":" : "{\"type\":");
	json_quote(out, type);
	if (text) {
		buf_puts(out, ",\"content\":");
		json_quote(out, text);
	} else if (json_str(block, "name")) {
		buf_puts(out, ",\"id\":");
		json_quote(out, json_str(block, "id"));
		buf_puts(out, ",\"name\":");
		json_quote(out, json_str(block, "name"));
		char *args = json_get(block, "args") ? json_print(json_get(block, "args")) : NULL;
		buf_puts(out, ",\"arguments\":");
		buf_puts(out, args ? args : "null");
		free(args);
	}
	buf_putc(out, '}');
}

static void otlp_add_messages(
    struct attributes *list, const char *key, const cJSON *first, size_t count)
{
	struct buf text = {0};
	const cJSON *block;
	if (!first || !count)
		return;
	buf_putc(&text, '[');
	for (size_t i = 0; first && i < count; i++, first = first->next) {
		int parts = 0;
		buf_puts(&text, i ? ",{\"role\":" : "{\"role\":");
		json_quote(&text, json_str(first, "role"));
		buf_puts(&text, ",\"parts\":[");
		cJSON_ArrayForEach(block, json_get(first, "content"))
			otlp_put_part(&text, block, &parts);
		buf_puts(&text, "]}");
	}
	buf_putc(&text, ']');
	otlp_add_text(list, key, buf_str(&text));
	buf_release(&text);
}

/* ---- one span ---- */

static const char *otlp_operation_of(enum span_kind kind)
{
	switch (kind) {
	case SPAN_RUN:
		return "invoke_agent";
	case SPAN_LLM:
		return "chat";
	case SPAN_TOOL:
		return "execute_tool";
	case SPAN_NODE:
		break;
	}
	return NULL;
}

void otlp_name(struct buf *out, const struct run_report *report, const struct span *span,
    enum trace_level level)
{
	const char *operation = otlp_operation_of(span->kind);
	const char *of = span->kind == SPAN_RUN ? report->agent : span->name;
	bool known = span->kind == SPAN_RUN || span->kind == SPAN_NODE || level != TRACE_SPANS;
	buf_puts(out, operation ? operation : "node");
	if (of && known) {
		buf_putc(out, ' ');
		buf_puts(out, of);
	}
}

static void otlp_put_attributes(struct buf *out, const struct run_report *report,
    const struct span *span, enum trace_level level)
{
	struct attributes list = {.out = out};
	bool full = level == TRACE_FULL;
	otlp_add_text(&list, "gen_ai.operation.name", otlp_operation_of(span->kind));
	if (span->error)
		otlp_add_text(&list, "error.type",
		    span->kind == SPAN_TOOL ? "tool_error" : report->error_code);
	switch (span->kind) {
	case SPAN_RUN:
		otlp_add_text(&list, "gen_ai.agent.name", report->agent);
		otlp_add_text(&list, "gen_ai.conversation.id", report->thread_id);
		otlp_add_text(&list, "agentgraph.run.id", report->run_id);
		otlp_add_text(&list, "agentgraph.run.status", run_end_name(report->end));
		otlp_add_int(&list, "gen_ai.usage.input_tokens", report->input_tokens);
		otlp_add_int(&list, "gen_ai.usage.output_tokens", report->output_tokens);
		if (report->spans_left_out)
			otlp_add_int(
			    &list, "agentgraph.spans.left_out", (int64_t)report->spans_left_out);
		otlp_add_messages(&list, "gen_ai.input.messages",
		    full && report->input ? report->input->child : NULL, report->input_count);
		break;
	case SPAN_LLM:
		otlp_add_text(&list, "gen_ai.request.model", span->name);
		otlp_add_text(&list, "gen_ai.response.model", span->name);
		otlp_add_int(&list, "gen_ai.usage.input_tokens", span->input_tokens);
		otlp_add_int(&list, "gen_ai.usage.output_tokens", span->output_tokens);
		otlp_add_messages(&list, "gen_ai.output.messages", full ? span->message : NULL, 1);
		break;
	case SPAN_TOOL:
		otlp_add_text(&list, "gen_ai.tool.name", span->name);
		otlp_add_text(&list, "gen_ai.tool.call.id", span->call_id);
		otlp_add_json(&list, "gen_ai.tool.call.arguments", full ? span->args : NULL);
		otlp_add_json(&list, "gen_ai.tool.call.result", full ? span->output : NULL);
		break;
	case SPAN_NODE:
		otlp_add_text(&list, "agentgraph.node", span->name);
		otlp_add_int(&list, "agentgraph.step", span->step);
		if (span->branch)
			otlp_add_text(&list, "agentgraph.branch", span->branch);
		if (span->cached)
			otlp_add_int(&list, "agentgraph.cached", 1);
		break;
	}
}

/* Appends attempts that failed, as events of their node. */
static void otlp_put_attempts(struct buf *out, const struct span *span, enum trace_level level)
{
	const struct span_attempt *attempt = span->attempts;
	buf_puts(out, "],\"events\":[");
	for (; attempt; attempt = attempt->next) {
		struct attributes list = {.out = out};
		buf_printf(out,
		    "{\"timeUnixNano\":\"%" PRId64 "000\",\"name\":\"exception\",\"attributes\":[",
		    attempt->at);
		if (level != TRACE_SPANS) {
			otlp_add_text(&list, "agentgraph.node", attempt->node);
			otlp_add_int(&list, "agentgraph.attempt", attempt->number);
			otlp_add_text(&list, "exception.type", attempt->code);
		}
		if (level == TRACE_FULL)
			otlp_add_text(&list, "exception.message", attempt->error);
		buf_puts(out, attempt->next ? "]}," : "]}");
	}
}

/* Appends a span.  The text of a failure may repeat what a user said, so only `full` has it. */
static void otlp_put_span(struct buf *out, const struct run_report *report, const struct span *span,
    enum trace_level level)
{
	const char *parent = span->parent ? span->parent->id : report->parent;
	const char *code = span->kind == SPAN_TOOL ? "tool_error" : report->error_code;
	struct buf name = {0};
	otlp_name(&name, report, span, level);
	buf_printf(
	    out, "{\"traceId\":\"%s\",\"spanId\":\"%s\"", report->context.trace_id, span->id);
	if (*parent)
		buf_printf(out, ",\"parentSpanId\":\"%s\"", parent);
	buf_puts(out, ",\"name\":");
	json_quote(out, buf_str(&name));
	buf_printf(out,
	    ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRId64 "000\",\"endTimeUnixNano\":\"%" PRId64
	    "000\"",
	    span->kind == SPAN_LLM ? KIND_CLIENT : KIND_INTERNAL, span->start, span->end);
	buf_puts(out, ",\"attributes\":[");
	if (level != TRACE_SPANS)
		otlp_put_attributes(out, report, span, level);
	if (span->attempts)
		otlp_put_attempts(out, span, level);
	buf_printf(out, "],\"status\":{\"code\":%d", span->error ? STATUS_ERROR : STATUS_OK);
	if (span->error) {
		buf_puts(out, ",\"message\":");
		json_quote(out, level == TRACE_FULL ? span->error : code);
	}
	buf_puts(out, "}}");
	buf_release(&name);
}

void otlp_spans(struct buf *out, const struct run_report *report, enum trace_level level)
{
	for (size_t i = 0; i < report->span_count; i++) {
		if (i)
			buf_putc(out, ',');
		otlp_put_span(out, report, report->spans[i], level);
	}
}

/* ---- around the spans ---- */

char *otlp_prefix(const struct environment *env, const char *service_name)
{
	struct buf out = {0};
	struct attributes list = {.out = &out};
	buf_puts(&out, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
	otlp_add_text(&list, "service.name", service_name);
	otlp_add_text(&list, "service.version", env->app_version);
	otlp_add_text(&list, "deployment.environment.name", env->mode);
	buf_puts(&out,
	    "]},\"scopeSpans\":[{\"scope\":{\"name\":\"agentgraph\",\"version\":"
	    "\"" AGENTGRAPH_VERSION "\"},\"spans\":[");
	return buf_detach(&out);
}

char *otlp_suffix(void)
{
	return xstrdup("]}]}]}");
}

/* int64 is text in the JSON of Protocol Buffers, and a number with some. */
char *otlp_complaint(const struct http_response *response)
{
	char *said = NULL;
	cJSON *answer =
	    json_parse(buf_str(&response->body), response->body.len, JSON_REQUEST_DEPTH, NULL);
	const cJSON *partial = json_get(answer, "partialSuccess");
	const char *count = json_str(partial, "rejectedSpans"),
		   *why = json_str(partial, "errorMessage");
	int64_t refused = count ? strtoll(count, NULL, 10) : json_int(partial, "rejectedSpans", 0);
	if (refused > 0 || (why && *why))
		said = xasprintf("%" PRId64 " spans of a request were refused: %.300s", refused,
		    why && *why ? why : "it does not say why");
	cJSON_Delete(answer);
	return said;
}
