/* SPDX-License-Identifier: ISC */
/* A writer of chunks: events of a run in, lines out, and the line that ends it. */
#include "service/run/chunk.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/json_quote.h"
#include "base/log.h"
#include "graph/state.h"

#include <inttypes.h>
#include <string.h>

/* The parts of one chunk that are not null; texts are JSON. */
struct chunk {
	const char *event;
	const char *message;
	const char *state;
	const char *data;
	const char *node; /* NULL: the chunk belongs to no node */
	int step;
	const char *thread_name;
};

void chunk_writer_release(struct chunk_writer *writer)
{
	gate_release(&writer->gate);
	buf_release(&writer->line);
	buf_release(&writer->tail);
}

static void write_chunk(struct chunk_writer *writer, const struct chunk *chunk)
{
	struct buf *line = &writer->line;
	buf_reset(line);
	buf_printf(line, "{\"event\":\"%s\",\"message\":", chunk->event);
	buf_puts(line, chunk->message ? chunk->message : "null");
	buf_puts(line, ",\"state\":");
	buf_puts(line, chunk->state ? chunk->state : "null");
	buf_puts(line, ",\"data\":");
	buf_puts(line, chunk->data ? chunk->data : "null");
	buf_add(line, writer->tail.data, writer->tail.len);
	if (chunk->node) {
		buf_puts(line, ",\"node\":");
		json_quote(line, chunk->node);
		buf_printf(line, ",\"step\":%d", chunk->step);
	}
	if (chunk->thread_name) {
		buf_puts(line, ",\"thread_name\":");
		json_quote(line, chunk->thread_name);
	}
	int64_t now = clock_now();
	buf_printf(line, "},\"timestamp\":%" PRId64 ".%06d}", now / 1000000, (int)(now % 1000000));
	writer->gate.sink.chunk(&writer->gate.sink, line->data, line->len);
}

/* An AgentState as text, malloc'd, or NULL; a stream goes on without a state that cannot be read.
 */
static char *state_text(struct chunk_writer *writer, ag_run *run, bool in_node)
{
	struct error err = {0};
	cJSON *state;
	if (writer->turn->in.granularity == GRANULARITY_LOW)
		return NULL;
	state = run ? run_state(run, in_node, &err) : turn_state(writer->turn);
	if (!state) {
		log_error("state of thread %s cannot be shown: %s", writer->turn->thread.thread_id,
		    err.cause);
		error_release(&err);
		return NULL;
	}
	char *text = json_print(state);
	cJSON_Delete(state);
	return text;
}

/* Sends the chunk with data (taken over) and, when asked for, the state. */
static void send_update(struct chunk_writer *writer, struct chunk *chunk, cJSON *data, char *state)
{
	char *text = data ? json_print(data) : NULL;
	chunk->data = text;
	chunk->state = state;
	write_chunk(writer, chunk);
	cJSON_Delete(data);
	cJSON_free(text);
	cJSON_free(state);
}

static cJSON *node_data(struct chunk_writer *writer, const char *status, const char *node, int step)
{
	cJSON *data = cJSON_CreateObject();
	cJSON_AddStringToObject(data, "status", status);
	if (!node)
		return data;
	cJSON_AddStringToObject(data, "node", node);
	json_add_int(data, "step", step);
	json_add_int(data, "max_steps", writer->turn->in.recursion_limit);
	return data;
}

static void chunk_on_node_starts(struct chunk_writer *writer, const struct run_event *event)
{
	struct chunk chunk = {.event = "updates", .node = event->node, .step = event->step};
	if (writer->turn->in.granularity != GRANULARITY_LOW)
		send_update(writer, &chunk,
		    node_data(writer, "invoking_node", event->node, event->step), NULL);
}

static void chunk_on_message(struct chunk_writer *writer, const struct run_event *event)
{
	char *text = event->json ? NULL : json_print(event->message);
	const struct chunk chunk = {.event = "message",
	    .message = event->json ? event->json : text,
	    .node = event->node,
	    .step = event->step};
	write_chunk(writer, &chunk);
	cJSON_free(text);
}

static void chunk_on_node_ends(
    struct chunk_writer *writer, ag_run *run, const struct run_event *event)
{
	struct chunk chunk = {.event = "state", .node = event->node, .step = event->step};
	if (writer->turn->in.granularity == GRANULARITY_LOW)
		return;
	if (writer->turn->in.granularity == GRANULARITY_FULL)
		send_update(writer, &chunk, NULL, state_text(writer, run, true));
	chunk.event = "updates";
	cJSON *data = node_data(writer, "node_invoked", event->node, event->step);
	if (event->reason)
		cJSON_AddStringToObject(data, "reason", event->reason);
	send_update(writer, &chunk, data, state_text(writer, run, true));
}

/* From the end of a node to the start of the next nothing is waited for. */
static void chunk_cork(struct chunk_writer *writer, bool on)
{
	if (writer->corked != on)
		writer->gate.sink.cork(&writer->gate.sink, on);
	writer->corked = on;
}

static void chunk_on_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct chunk_writer *writer = (struct chunk_writer *)observer;
	switch (event->kind) {
	case RUN_NODE_STARTS:
		chunk_on_node_starts(writer, event);
		chunk_cork(writer, false);
		return;
	case RUN_PIECE:
		chunk_cork(writer, false);
		chunk_on_message(writer, event);
		return;
	case RUN_MESSAGE:
		chunk_cork(writer, event->json != NULL);
		chunk_on_message(writer, event);
		return;
	case RUN_NODE_ENDS:
		chunk_cork(writer, true);
		chunk_on_node_ends(writer, run, event);
		return;
	}
}

static void chunk_on_settled(struct run_observer *observer, bool ok)
{
	gate_settle(&((struct chunk_writer *)observer)->gate, ok);
}

void chunk_writer_init(struct chunk_writer *writer, struct turn *turn, struct chunk_sink *sink)
{
	*writer = (struct chunk_writer){
	    .observer = {.live = true, .event = chunk_on_event, .settled = chunk_on_settled},
	    .turn = turn};
	gate_init(&writer->gate, sink);
	buf_puts(&writer->tail, ",\"thread_id\":");
	json_quote(&writer->tail, turn->thread.thread_id);
	buf_puts(&writer->tail, ",\"run_id\":");
	json_quote(&writer->tail, turn->run_id);
	buf_printf(&writer->tail,
	    ",\"metadata\":{\"is_new_thread\":%s,\"thread_id\":", turn->is_new ? "true" : "false");
	json_quote(&writer->tail, turn->thread.thread_id);
}

void chunk_message(struct chunk_writer *writer, const cJSON *message)
{
	char *text = json_print(message);
	const struct chunk chunk = {.event = "message", .message = text};
	write_chunk(writer, &chunk);
	cJSON_free(text);
}

static const char *pause_text(const struct turn *turn)
{
	switch (thread_pause_kind(turn->run ? run_thread(turn->run) : &turn->thread)) {
	case PAUSE_BEFORE_NODE:
		return "Graph execution interrupted before node execution";
	case PAUSE_AFTER_NODE:
		return "Graph execution interrupted after node execution";
	case PAUSE_BY_NODE:
		break;
	}
	return "Graph execution paused by interrupt()";
}

static void end_paused(struct chunk_writer *writer, cJSON *interrupt)
{
	struct turn *turn = writer->turn;
	const char *node = json_str(interrupt, "node");
	int step = turn->run ? run_steps(turn->run) : (int)turn->thread.step;
	struct chunk chunk = {.event = "updates", .node = node, .step = step};
	cJSON *data = node_data(writer, "interrupted", node, step);
	cJSON_AddStringToObject(data, "reason", pause_text(turn));
	char *state = state_text(writer, turn->run, false);
	cJSON_AddItemToObject(data, "interrupt", interrupt);
	send_update(writer, &chunk, data, state);
}

static void end_stopped(struct chunk_writer *writer)
{
	ag_run *run = writer->turn->run;
	struct chunk chunk = {.event = "updates", .node = run_node(run), .step = run_steps(run)};
	if (writer->turn->in.granularity == GRANULARITY_LOW)
		return;
	cJSON *data = node_data(writer, "stopped", chunk.node, chunk.step);
	cJSON_AddStringToObject(data, "reason", "Graph execution stopped by request");
	send_update(writer, &chunk, data, state_text(writer, run, false));
}

static void end_failed(struct chunk_writer *writer)
{
	struct turn *turn = writer->turn;
	struct error_view view;
	bool in_run = turn->run && run_steps(turn->run) > 0;
	struct chunk chunk = {.event = "error",
	    .node = in_run ? run_node(turn->run) : NULL,
	    .step = in_run ? run_steps(turn->run) : 0};
	call_error_view(turn->call, &view);
	if (view.status >= 500)
		log_error("run %s of thread %s failed: %s %s", turn->run_id, turn->thread.thread_id,
		    turn->call->error.detail, turn->call->error.cause);
	cJSON *data = node_data(writer, "error", chunk.node, chunk.step);
	cJSON_AddStringToObject(data, "reason", view.detail);
	cJSON_AddStringToObject(data, "error_code", view.code);
	send_update(writer, &chunk, data, NULL);
}

void chunk_outcome(struct chunk_writer *writer, bool ok)
{
	struct turn *turn = writer->turn;
	cJSON *interrupt = ok ? turn_interrupt(turn) : NULL;
	gate_open(&writer->gate);
	chunk_cork(writer, true);
	if (!ok)
		end_failed(writer);
	else if (interrupt)
		end_paused(writer, interrupt);
	else if (turn->run && run_thread(turn->run)->status == RUN_STOPPED)
		end_stopped(writer);
}

void chunk_done(struct chunk_writer *writer)
{
	const struct chunk done = {.event = "updates",
	    .data = "{\"status\":\"done\"}",
	    .thread_name = turn_thread_name(writer->turn)};
	write_chunk(writer, &done);
	chunk_cork(writer, false);
}
