/* SPDX-License-Identifier: ISC */
/* Printing a chunk, with the parts that all chunks of a run share. */
#include "service/run/stream/chunk_form.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "base/os/clock.h"
#include "graph/state.h"
#include "service/run/stream/kept_line.h"

void chunk_form_init(
    struct chunk_form *form, const char *thread_id, const char *run_id, bool is_new, bool kept)
{
	struct buf *tail = &form->tail;
	*form = (struct chunk_form){.kept = kept};
	buf_puts(tail, ",\"thread_id\":");
	json_quote(tail, thread_id);
	buf_puts(tail, ",\"run_id\":");
	json_quote(tail, run_id);
	buf_puts(tail, ",\"metadata\":{");
	form->metadata = tail->len;
	buf_printf(tail, "\"is_new_thread\":%s,\"thread_id\":", is_new ? "true" : "false");
	json_quote(tail, thread_id);
}

void chunk_form_release(struct chunk_form *form)
{
	buf_release(&form->line);
	buf_release(&form->tail);
}

void chunk_form_print(
    struct chunk_form *form, const struct chunk *chunk, const struct thread_view *view)
{
	struct buf *line = &form->line;
	const struct buf *tail = &form->tail;
	char now[DECIMAL_TIME_SIZE];
	buf_reset(line);
	buf_puts(line, "{\"event\":\"");
	buf_puts(line, chunk->event);
	buf_puts(line, "\",\"message\":");
	buf_puts(line, chunk->message ? chunk->message : "null");
	buf_puts(line, ",\"state\":");
	if (chunk->state && form->kept)
		kept_line_add_state(line, view, chunk->state);
	else
		buf_puts(line, chunk->state ? chunk->state : "null");
	buf_puts(line, ",\"data\":");
	buf_puts(line, chunk->data ? chunk->data : "null");
	buf_add(line, tail->data, form->metadata);
	if (form->kept) {
		buf_putc(line, KEPT_NUMBER);
		buf_int(line, chunk->least | (chunk->told ? KEPT_TOLD : 0));
	}
	buf_add(line, tail->data + form->metadata, tail->len - form->metadata);
	if (chunk->node) {
		buf_puts(line, ",\"node\":");
		json_quote(line, chunk->node);
		buf_puts(line, ",\"step\":");
		buf_int(line, chunk->step);
	}
	if (chunk->branch) {
		buf_puts(line, ",\"branch\":");
		json_quote(line, chunk->branch);
	}
	if (chunk->thread_name) {
		buf_puts(line, ",\"thread_name\":");
		json_quote(line, chunk->thread_name);
	}
	buf_puts(line, "},\"timestamp\":");
	buf_puts(line, clock_decimal(clock_now(), now));
	buf_putc(line, '}');
	if (form->kept && chunk->aside) {
		buf_putc(line, KEPT_ASIDE);
		buf_puts(line, chunk->aside);
	}
}

cJSON *chunk_node_data(const char *status, const char *node, int step, int64_t max_steps)
{
	cJSON *data = cJSON_CreateObject();
	cJSON_AddStringToObject(data, "status", status);
	if (!node)
		return data;
	cJSON_AddStringToObject(data, "node", node);
	json_add_int(data, "step", step);
	if (max_steps)
		json_add_int(data, "max_steps", max_steps);
	return data;
}

const char *chunk_pause_reason(const struct thread *thread)
{
	switch (thread_pause_kind(thread)) {
	case PAUSE_BEFORE_NODE:
		return "Graph execution interrupted before node execution";
	case PAUSE_AFTER_NODE:
		return "Graph execution interrupted after node execution";
	case PAUSE_BY_NODE:
		break;
	}
	return CHUNK_ASKED_REASON;
}
