/* SPDX-License-Identifier: ISC */
/* Opening and closing the spans of nodes, models and tools. */
#include "service/trace/trace_record.h"

#include "base/json/json.h"
#include "graph/message/message.h"

#include <string.h>

#define SPANS_MAX 5000 /* most in one run: a map over a thousand elements has several each */

/* A new span below the open node, or below the run; NULL when there are too many. */
static struct span *trace_spans_add(
    struct trace_spans *spans, enum span_kind kind, const char *name, int64_t start, int64_t end)
{
	if (spans->count == SPANS_MAX) {
		spans->left_out++;
		return NULL;
	}
	if (spans->count == spans->size) {
		struct span **old = spans->items;
		spans->size = spans->size ? 2 * spans->size : 16;
		spans->items = arena_alloc(spans->arena, spans->size * sizeof(*old));
		if (old)
			memcpy(spans->items, old, spans->count * sizeof(*old));
	}
	struct span *span = arena_alloc(spans->arena, sizeof(*span));
	*span = (struct span){.kind = kind, .name = name, .start = start, .end = end};
	span_id_new(span->id);
	if (spans->count)
		span->parent = spans->lane->node ? spans->lane->node : spans->items[0];
	spans->items[spans->count++] = span;
	return span;
}

void spans_turn_to(struct trace_spans *spans, const char *branch, int64_t now)
{
	struct trace_lane **place = &spans->lanes, *lane;
	while ((lane = *place) &&
	    (!lane->branch || !branch ? lane->branch != branch : strcmp(lane->branch, branch) != 0))
		place = &lane->next;
	if (lane) {
		*place = lane->next;
	} else {
		lane = arena_alloc(spans->arena, sizeof(*lane));
		*lane = (struct trace_lane){
		    .branch = arena_strdup(spans->arena, branch), .latest = now};
	}
	/* lanes at work are in front, before hundreds that have ended */
	lane->next = spans->lanes;
	spans->lanes = spans->lane = lane;
}

void spans_begin(struct trace_spans *spans, struct arena *arena, int64_t now)
{
	*spans = (struct trace_spans){.arena = arena};
	spans_turn_to(spans, NULL, now);
	trace_spans_add(spans, SPAN_RUN, NULL, now, now);
}

void spans_node_starts(struct trace_spans *spans, const char *node, int step, int64_t now)
{
	spans->lane->node = NULL;
	spans->lane->node = trace_spans_add(spans, SPAN_NODE, node, now, now);
	if (spans->lane->node) {
		spans->lane->node->step = step;
		spans->lane->node->branch = spans->lane->branch;
	}
	spans->lane->latest = now;
}

void spans_message(
    struct trace_spans *spans, const cJSON *message, const struct call_names *names, int64_t now)
{
	const cJSON *block;
	int64_t in, out;
	if (message_tokens(message, &in, &out)) {
		const char *model = json_str(json_opt(message, "metadata"), "model");
		spans->input_tokens += in;
		spans->output_tokens += out;
		struct span *span =
		    trace_spans_add(spans, SPAN_LLM, model, spans->lane->latest, now);
		if (span) {
			span->input_tokens = in;
			span->output_tokens = out;
			span->message = message;
		}
	}
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is(block, "tool_result"))
			continue;
		const char *call_id = json_str(block, "call_id");
		const cJSON *call = call_names_find(names, call_id);
		struct span *span = trace_spans_add(spans, SPAN_TOOL,
		    call ? json_str(call, "name") : NULL, spans->lane->latest, now);
		if (!span)
			continue;
		span->call_id = call_id;
		span->args = json_opt(call, "args");
		span->output = json_opt(block, "output");
		span->error = cJSON_IsTrue(json_get(block, "is_error")) ? "the tool failed" : NULL;
	}
	spans->lane->latest = now;
}

void spans_attempt(struct trace_spans *spans, const struct span_attempt *attempt)
{
	struct span *span = spans->lane->node ? spans->lane->node : spans->items[0];
	struct span_attempt **end = &span->attempts;
	while (*end)
		end = &(*end)->next;
	*end = arena_alloc(spans->arena, sizeof(**end));
	**end = *attempt;
}

void spans_node_ends(struct trace_spans *spans, const char *error, int64_t now)
{
	if (spans->lane->node) {
		spans->lane->node->error = error;
		spans->lane->node->end = now;
	}
	spans->lane->node = NULL;
	spans->lane->latest = now;
}

void spans_end(struct trace_spans *spans, const char *error, int64_t now)
{
	for (spans->lane = spans->lanes; spans->lane; spans->lane = spans->lane->next)
		spans_node_ends(spans, error, now);
	spans->items[0]->end = now;
	spans->items[0]->error = error;
}
