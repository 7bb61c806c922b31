/* SPDX-License-Identifier: ISC */
/* Writing one record as JSON: a message's type, words, calls and tokens. */
#include "service/trace/trace_record.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "graph/message/message.h"
#include "storage/runs.h"

#include <string.h>

#define CALLS_MAX 1024 /* most calls whose names are known */
#define WORDS_MAX 64   /* most names, or types, of one record that are kept */

/* ---- calls by id ---- */

const cJSON *call_names_find(const struct call_names *names, const char *call_id)
{
	for (size_t i = names->count; call_id && i-- > 0;) {
		const char *id = json_str(names->calls[i], "id");
		if (id && strcmp(id, call_id) == 0)
			return names->calls[i];
	}
	return NULL;
}

/* ---- a message ---- */

static void trace_record_put_key(struct buf *out, const char *key)
{
	buf_puts(out, ",\"");
	buf_puts(out, key);
	buf_puts(out, "\":");
}

static void trace_record_put_member(struct buf *out, const char *key, const char *text)
{
	trace_record_put_key(out, key);
	json_quote(out, text);
}

/* A list of words; name_of says which a block adds, or NULL. */
static void trace_record_put_words(struct buf *out, const char *key, const cJSON *blocks,
    const char *(*name_of)(const struct call_names *names, const cJSON *block),
    const struct call_names *names)
{
	const cJSON *block;
	int count = 0;
	cJSON_ArrayForEach(block, blocks) {
		const char *word = name_of(names, block);
		if (!word)
			continue;
		if (count++ == 0)
			trace_record_put_key(out, key);
		buf_putc(out, count == 1 ? '[' : ',');
		json_quote(out, word);
		if (count == WORDS_MAX)
			break;
	}
	if (count)
		buf_putc(out, ']');
}

static const char *trace_record_type_of(const struct call_names *names, const cJSON *block)
{
	(void)names;
	return json_str(block, "type");
}

static const char *trace_record_called(const struct call_names *names, const cJSON *block)
{
	(void)names;
	return block_is_call(block) ? json_str(block, "name") : NULL;
}

static const char *trace_record_answered(const struct call_names *names, const cJSON *block)
{
	if (!block_is(block, "tool_result"))
		return NULL;
	const cJSON *call = call_names_find(names, json_str(block, "call_id"));
	return call ? json_str(call, "name") : NULL;
}

static void trace_record_put_usage(
    struct buf *out, const cJSON *message, struct trace_totals *totals)
{
	struct run_usage usage = {0};
	if (!message_usage(message, &usage))
		return;
	trace_record_put_key(out, "usage");
	buf_putc(out, '[');
	buf_int(out, usage.prompt);
	buf_putc(out, ',');
	buf_int(out, usage.completion);
	buf_putc(out, ',');
	buf_int(out, usage.total);
	buf_putc(out, ']');
	const char *model = json_str(json_opt(message, "metadata"), "model");
	if (model)
		trace_record_put_member(out, "model", model);
	totals->prompt += usage.prompt;
	totals->completion += usage.completion;
	totals->reasoning += usage.reasoning;
	totals->total += usage.total;
	totals->llm_calls++;
}

static void trace_record_note_calls(
    const cJSON *blocks, struct call_names *names, struct trace_totals *totals)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, blocks) {
		if (!block_is_call(block))
			continue;
		totals->tool_calls++;
		if (names->count == CALLS_MAX)
			continue;
		if (names->count == names->size) {
			const cJSON **old = names->calls;
			names->size = names->size ? 2 * names->size : 8;
			names->calls = arena_alloc(names->arena, names->size * sizeof(*old));
			if (old)
				memcpy(names->calls, old, names->count * sizeof(*old));
		}
		names->calls[names->count++] = block;
	}
}

void trace_record(struct buf *out, const struct trace_event *event, struct call_names *names,
    struct trace_totals *totals)
{
	buf_puts(out, "{\"at\":");
	buf_int(out, event->offset);
	trace_record_put_member(out, "type", event->type);
	if (event->node)
		trace_record_put_member(out, "node", event->node);
	if (event->status)
		trace_record_put_member(out, "status", event->status);
	if (event->piece) {
		buf_puts(out, ",\"delta\":true");
	} else if (event->message) {
		const cJSON *blocks = json_get(event->message, "content");
		trace_record_put_member(out, "role", message_role(event->message));
		trace_record_note_calls(blocks, names, totals);
		trace_record_put_words(out, "blocks", blocks, trace_record_type_of, names);
		trace_record_put_words(out, "calls", blocks, trace_record_called, names);
		trace_record_put_words(out, "results", blocks, trace_record_answered, names);
		trace_record_put_usage(out, event->message, totals);
	}
	buf_puts(out, "},");
}
