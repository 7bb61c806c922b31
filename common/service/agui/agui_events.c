/* SPDX-License-Identifier: ISC */
/* The writer of events: what is open, and what each step of a run makes of it. */
#include "service/agui/agui.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "graph/message/message.h"
#include "service/thread/feed.h"

#include <string.h>

/* What follows happens in this branch; NULL: in none. */
static void agui_turn_to(struct agui_writer *writer, const char *branch)
{
	struct arena *a = writer->turn->call->arena;
	struct agui_lane *lane = writer->lanes;
	while (lane &&
	    (!lane->branch || !branch ? lane->branch != branch : strcmp(lane->branch, branch) != 0))
		lane = lane->next;
	if (!lane) {
		lane = arena_alloc(a, sizeof(*lane));
		*lane =
		    (struct agui_lane){.next = writer->lanes, .branch = arena_strdup(a, branch)};
		writer->lanes = lane;
	}
	writer->lane = lane;
}

/* ---- one event ---- */

static void agui_events_begin(struct agui_writer *writer, const char *type)
{
	buf_reset(&writer->line);
	buf_puts(&writer->line, "{\"type\":\"");
	buf_puts(&writer->line, type);
	buf_putc(&writer->line, '"');
}

static void agui_events_add_key(struct agui_writer *writer, const char *key)
{
	buf_puts(&writer->line, ",\"");
	buf_puts(&writer->line, key);
	buf_puts(&writer->line, "\":");
}

static void agui_events_add_text(struct agui_writer *writer, const char *key, const char *text)
{
	agui_events_add_key(writer, key);
	json_quote(&writer->line, text);
}

static void agui_events_add_json(struct agui_writer *writer, const char *key, const cJSON *value)
{
	char *text = json_print(value);
	agui_events_add_key(writer, key);
	buf_puts(&writer->line, text);
	cJSON_free(text);
}

static void agui_events_send(struct agui_writer *writer)
{
	buf_putc(&writer->line, '}');
	gate_send(&writer->gate, &writer->line);
}

/* The events that say no more than what they are about. */
static void agui_events_send_about(
    struct agui_writer *writer, const char *type, const char *key, const char *value)
{
	agui_events_begin(writer, type);
	agui_events_add_text(writer, key, value);
	agui_events_send(writer);
}

/* ---- text and reasoning ---- */

/* The id of the message at hand, or that of its reasoning. */
static void agui_events_add_message_id(struct agui_writer *writer, bool of_reasoning)
{
	size_t len = writer->lane->message.len;
	if (of_reasoning)
		buf_puts(&writer->lane->message, "-reasoning");
	agui_events_add_text(writer, "messageId", buf_str(&writer->lane->message));
	writer->lane->message.len = len;
	writer->lane->message.data[len] = '\0';
}

static void agui_events_send_bare(struct agui_writer *writer, const char *type)
{
	agui_events_begin(writer, type);
	agui_events_add_message_id(writer, strncmp(type, "REASONING", 9) == 0);
	agui_events_send(writer);
}

static void agui_events_send_start(struct agui_writer *writer, const char *type, const char *role)
{
	agui_events_begin(writer, type);
	agui_events_add_message_id(writer, strncmp(type, "REASONING", 9) == 0);
	agui_events_add_text(writer, "role", role);
	agui_events_send(writer);
}

static void agui_events_send_content(
    struct agui_writer *writer, const char *type, const char *delta)
{
	agui_events_begin(writer, type);
	agui_events_add_message_id(writer, writer->lane->open == AGUI_REASONING);
	agui_events_add_text(writer, "delta", delta);
	agui_events_send(writer);
}

static void agui_events_close_open(struct agui_writer *writer)
{
	switch (writer->lane->open) {
	case AGUI_NONE:
		return;
	case AGUI_TEXT:
		agui_events_send_bare(writer, "TEXT_MESSAGE_END");
		break;
	case AGUI_REASONING:
		agui_events_send_bare(writer, "REASONING_MESSAGE_END");
		agui_events_send_bare(writer, "REASONING_END");
		break;
	}
	writer->lane->open = AGUI_NONE;
}

/* Makes id the message at hand. */
static void agui_events_turn_to_message(struct agui_writer *writer, const char *id)
{
	if (strcmp(buf_str(&writer->lane->message), id) == 0)
		return;
	agui_events_close_open(writer);
	buf_reset(&writer->lane->message);
	buf_puts(&writer->lane->message, id);
	writer->lane->text = writer->lane->reasoning = false;
}

static void agui_events_write_text(struct agui_writer *writer, const char *delta)
{
	if (writer->lane->open != AGUI_TEXT) {
		agui_events_close_open(writer);
		agui_events_send_start(writer, "TEXT_MESSAGE_START", "assistant");
		writer->lane->open = AGUI_TEXT;
	}
	writer->lane->text = true;
	if (*delta)
		agui_events_send_content(writer, "TEXT_MESSAGE_CONTENT", delta);
}

static void agui_events_write_reasoning(struct agui_writer *writer, const char *delta)
{
	if (writer->lane->open != AGUI_REASONING) {
		agui_events_close_open(writer);
		agui_events_send_bare(writer, "REASONING_START");
		agui_events_send_start(writer, "REASONING_MESSAGE_START", "reasoning");
		writer->lane->open = AGUI_REASONING;
	}
	writer->lane->reasoning = true;
	agui_events_send_content(writer, "REASONING_MESSAGE_CONTENT", delta);
}

/* ---- tool calls ---- */

static void agui_events_send_call(struct agui_writer *writer, const cJSON *call)
{
	const char *id = json_str(call, "id");
	char *arguments = json_print(json_get(call, "args"));
	agui_events_begin(writer, "TOOL_CALL_START");
	agui_events_add_text(writer, "toolCallId", id);
	agui_events_add_text(writer, "toolCallName", json_str(call, "name"));
	agui_events_add_text(writer, "parentMessageId", buf_str(&writer->lane->message));
	agui_events_send(writer);
	agui_events_begin(writer, "TOOL_CALL_ARGS");
	agui_events_add_text(writer, "toolCallId", id);
	agui_events_add_text(writer, "delta", arguments);
	agui_events_send(writer);
	agui_events_send_about(writer, "TOOL_CALL_END", "toolCallId", id);
	cJSON_free(arguments);
}

/* ---- whole messages ---- */

static void agui_events_on_assistant(struct agui_writer *writer, const cJSON *message)
{
	struct buf text = {0};
	const char *reasoning = json_str(message, "reasoning");
	const cJSON *block;
	agui_events_turn_to_message(writer, message_id(message));
	message_text(message, &text);
	if (!writer->lane->text && !writer->lane->reasoning && reasoning && *reasoning)
		agui_events_write_reasoning(writer, reasoning);
	if (!writer->lane->text && text.len)
		agui_events_write_text(writer, buf_str(&text));
	agui_events_close_open(writer);
	buf_release(&text);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *id = json_str(block, "id");
		/* existing clients append what arrives under a known id, so a call is sent once
		 * (doc/protocol-ag-ui.md#events) */
		if (!block_is_call(block) || json_has_str(writer->calls, id))
			continue;
		cJSON_AddItemToArray(writer->calls, cJSON_CreateString(id));
		/* a call needs a message that it belongs to, an empty one where there is no text */
		if (!writer->lane->text) {
			agui_events_write_text(writer, "");
			agui_events_close_open(writer);
		}
		agui_events_send_call(writer, block);
	}
}

/* Each result is a message of its own in AG-UI. */
static void agui_events_on_tool(struct agui_writer *writer, const cJSON *message)
{
	const cJSON *block;
	struct buf id = {0}, content = {0};
	agui_events_close_open(writer);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is(block, "tool_result"))
			continue;
		buf_reset(&id);
		buf_reset(&content);
		agui_put_result_id(&id, message, block);
		agui_put_output(&content, block);
		agui_events_begin(writer, "TOOL_CALL_RESULT");
		agui_events_add_text(writer, "messageId", buf_str(&id));
		agui_events_add_text(writer, "toolCallId", json_str(block, "call_id"));
		agui_events_add_text(writer, "content", buf_str(&content));
		agui_events_add_text(writer, "role", "tool");
		agui_events_send(writer);
	}
	buf_release(&id);
	buf_release(&content);
}

/* ---- nodes ---- */

static void agui_events_close_step(struct agui_writer *writer)
{
	agui_events_close_open(writer);
	if (writer->lane->step)
		agui_events_send_about(writer, "STEP_FINISHED", "stepName", writer->lane->step);
	writer->lane->step = NULL;
}

static void agui_events_on_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct agui_writer *writer = (struct agui_writer *)observer;
	const cJSON *block;
	agui_turn_to(writer, event->branch);
	switch (event->kind) {
	case RUN_NODE_STARTS:
		agui_events_send_about(writer, "STEP_STARTED", "stepName", event->node);
		writer->lane->step = event->node;
		gate_cork(&writer->gate, false);
		return;
	case RUN_PIECE:
		gate_cork(&writer->gate, true);
		block = json_get(event->message, "content")->child;
		agui_events_turn_to_message(writer, message_id(event->message));
		if (block_is(block, "reasoning"))
			agui_events_write_reasoning(writer, json_str(block, "summary"));
		else
			agui_events_write_text(writer, json_str(block, "text"));
		gate_cork(&writer->gate, false);
		return;
	case RUN_MESSAGE:
		gate_cork(&writer->gate, true);
		if (message_is(event->message, "assistant"))
			agui_events_on_assistant(writer, event->message);
		else if (message_is(event->message, "tool"))
			agui_events_on_tool(writer, event->message);
		gate_cork(&writer->gate, event->json != NULL);
		return;
	case RUN_ATTEMPT_FAILS:
	case RUN_SUBGRAPH_ENDS: /* no step; what it sets is told behind the next one */
		return;
	case RUN_CUSTOM:
		gate_cork(&writer->gate, true);
		agui_events_begin(writer, "CUSTOM");
		agui_events_add_text(writer, "name", json_str(event->data, "name"));
		agui_events_add_json(writer, "value", json_get(event->data, "data"));
		agui_events_send(writer);
		gate_cork(&writer->gate, false);
		return;
	case RUN_NODE_ENDS:
		gate_cork(&writer->gate, true);
		agui_events_close_step(writer);
		writer->inside = run != writer->turn->run;
		if (!event->branch)
			agui_state(writer, run_fields(run));
		return;
	}
}

static void agui_events_on_settled(struct run_observer *observer, bool ok)
{
	gate_settle(&((struct agui_writer *)observer)->gate, ok);
}

/* ---- the state ---- */

void agui_state(struct agui_writer *writer, const cJSON *fields)
{
	const ag_graph *graph = writer->turn->call->service->graph;
	bool defaults = true, known = true;
	const cJSON *member;
	for (size_t i = 0; defaults && i < graph->field_count; i++) {
		const struct field *field = &graph->fields[i];
		defaults = json_equal(json_get(fields, field->name), field->initial);
	}
	/* members that the graph has no field for are the client's own business */
	cJSON_ArrayForEach(member, fields) {
		const cJSON *seen = json_get(writer->state, member->string);
		known = known && seen && json_equal(seen, member);
	}
	if (defaults || known)
		return;
	writer->state = arena_json(writer->turn->call->arena, cJSON_Duplicate(fields, true));
	agui_events_begin(writer, "STATE_SNAPSHOT");
	agui_events_add_json(writer, "snapshot", fields);
	agui_events_send(writer);
}

/* ---- the messages ---- */

static void agui_events_put_stored(struct buf *out, const char *body_json)
{
	cJSON *message = json_parse_own(body_json);
	agui_put_message(out, message);
	cJSON_Delete(message);
}

static bool agui_events_found(void *arg, const char *id, const char *body_json)
{
	(void)id, (void)body_json;
	*(bool *)arg = true;
	return false;
}

bool agui_messages(struct agui_writer *writer)
{
	struct call *call = writer->turn->call;
	struct storage *storage = call->service->storage;
	const struct page one = {.limit = 1}, all = {.limit = INT64_MAX};
	int64_t row = writer->turn->thread.row;
	bool any = false, begun;
	if (!storage->threads->message_list(
		storage, &call->ctx, row, NULL, &one, agui_events_found, &any, &call->error))
		return false;
	if (!any)
		return true;
	cJSON *messages = feed_messages(call, row, NULL, &all);
	if (!messages)
		return false;
	call->feed.put = agui_events_put_stored;
	agui_events_begin(writer, "MESSAGES_SNAPSHOT");
	agui_events_add_json(writer, "messages", messages);
	cJSON_Delete(messages);
	buf_putc(&writer->line, '}');
	gate_open(&writer->gate); /* no run begins */
	return gate_feed(&writer->gate, call, buf_str(&writer->line), &begun);
}

/* ---- the run ---- */

void agui_writer_init(
    struct agui_writer *writer, struct turn *turn, const cJSON *state, struct chunk_sink *sink)
{
	*writer = (struct agui_writer){
	    .observer = {.live = true,
		.event = agui_events_on_event,
		.settled = agui_events_on_settled},
	    .turn = turn,
	    .state = state,
	    .calls = cJSON_CreateArray(),
	};
	agui_turn_to(writer, NULL);
	gate_init(&writer->gate, sink);
}

void agui_writer_release(struct agui_writer *writer)
{
	gate_release(&writer->gate);
	buf_release(&writer->line);
	for (struct agui_lane *lane = writer->lanes; lane; lane = lane->next)
		buf_release(&lane->message);
	cJSON_Delete(writer->calls);
}

static void agui_events_add_run(struct agui_writer *writer)
{
	agui_events_add_text(writer, "threadId", writer->turn->thread.thread_id);
	agui_events_add_text(writer, "runId", writer->turn->run_id);
}

void agui_run_started(struct agui_writer *writer)
{
	agui_events_begin(writer, "RUN_STARTED");
	agui_events_add_run(writer);
	agui_events_send(writer);
}

/* Lets out what is held back and closes what is open.  When the run's start could not be written,
 * what came before is lost, and the stream begins here. */
static void agui_events_end(struct agui_writer *writer)
{
	if (!gate_open(&writer->gate)) {
		for (struct agui_lane *lane = writer->lanes; lane; lane = lane->next) {
			lane->open = AGUI_NONE;
			lane->step = NULL;
		}
		agui_run_started(writer);
	}
	gate_cork(&writer->gate, true);
	for (writer->lane = writer->lanes; writer->lane; writer->lane = writer->lane->next)
		agui_events_close_step(writer);
	writer->lane = writer->lanes;
}

void agui_run_finished(struct agui_writer *writer, const cJSON *interrupt, const cJSON *interrupts)
{
	agui_events_end(writer);
	agui_events_begin(writer, "RUN_FINISHED");
	agui_events_add_run(writer);
	if (interrupt) {
		cJSON *tree = agui_outcome(interrupt, interrupts);
		agui_events_add_json(writer, "outcome", tree);
		cJSON_Delete(tree);
	}
	agui_events_send(writer);
	gate_cork(&writer->gate, false);
}

void agui_run_error(struct agui_writer *writer, const char *message, const char *code)
{
	agui_events_end(writer);
	agui_events_begin(writer, "RUN_ERROR");
	agui_events_add_text(writer, "message", message);
	agui_events_add_text(writer, "code", code);
	agui_events_send(writer);
	gate_cork(&writer->gate, false);
}
