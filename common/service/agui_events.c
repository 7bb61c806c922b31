#include "service/agui_events.h"

#include "base/json.h"
#include "base/log.h"
#include "graph/message.h"

#include <string.h>

/* ---- one event ---- */

static void event_begin(struct agui_writer *writer, const char *type)
{
	buf_reset(&writer->line);
	buf_puts(&writer->line, "{\"type\":\"");
	buf_puts(&writer->line, type);
	buf_putc(&writer->line, '"');
}

static void add_key(struct agui_writer *writer, const char *key)
{
	buf_puts(&writer->line, ",\"");
	buf_puts(&writer->line, key);
	buf_puts(&writer->line, "\":");
}

static void add_text(struct agui_writer *writer, const char *key, const char *text)
{
	add_key(writer, key);
	json_put_string(&writer->line, text);
}

static void add_json(struct agui_writer *writer, const char *key, const cJSON *value)
{
	char *text = json_print(value);
	add_key(writer, key);
	buf_puts(&writer->line, text);
	cJSON_free(text);
}

static void event_send(struct agui_writer *writer)
{
	struct chunk_sink *sink = &writer->gate.sink;
	buf_putc(&writer->line, '}');
	sink->chunk(sink, writer->line.data, writer->line.len);
}

/* The events that say no more than what they are about. */
static void send_about(
    struct agui_writer *writer, const char *type, const char *key, const char *value)
{
	event_begin(writer, type);
	add_text(writer, key, value);
	event_send(writer);
}

/* ---- text and reasoning ---- */

/* The id of the message at hand, or that of its reasoning. */
static void add_message_id(struct agui_writer *writer, bool of_reasoning)
{
	size_t len = writer->message.len;
	if (of_reasoning)
		buf_puts(&writer->message, "-reasoning");
	add_text(writer, "messageId", buf_str(&writer->message));
	writer->message.len = len;
	writer->message.data[len] = '\0';
}

static void send_bare(struct agui_writer *writer, const char *type)
{
	event_begin(writer, type);
	add_message_id(writer, strncmp(type, "REASONING", 9) == 0);
	event_send(writer);
}

static void send_start(struct agui_writer *writer, const char *type, const char *role)
{
	event_begin(writer, type);
	add_message_id(writer, strncmp(type, "REASONING", 9) == 0);
	add_text(writer, "role", role);
	event_send(writer);
}

static void send_content(struct agui_writer *writer, const char *type, const char *delta)
{
	event_begin(writer, type);
	add_message_id(writer, writer->open == AGUI_REASONING);
	add_text(writer, "delta", delta);
	event_send(writer);
}

static void close_open(struct agui_writer *writer)
{
	switch (writer->open) {
	case AGUI_NONE:
		return;
	case AGUI_TEXT:
		send_bare(writer, "TEXT_MESSAGE_END");
		break;
	case AGUI_REASONING:
		send_bare(writer, "REASONING_MESSAGE_END");
		send_bare(writer, "REASONING_END");
		break;
	}
	writer->open = AGUI_NONE;
}

/* Makes id the message at hand. */
static void turn_to(struct agui_writer *writer, const char *id)
{
	if (strcmp(buf_str(&writer->message), id) == 0)
		return;
	close_open(writer);
	buf_reset(&writer->message);
	buf_puts(&writer->message, id);
	writer->text = writer->reasoning = false;
}

static void write_text(struct agui_writer *writer, const char *delta)
{
	if (writer->open != AGUI_TEXT) {
		close_open(writer);
		send_start(writer, "TEXT_MESSAGE_START", "assistant");
		writer->open = AGUI_TEXT;
	}
	writer->text = true;
	if (*delta)
		send_content(writer, "TEXT_MESSAGE_CONTENT", delta);
}

static void write_reasoning(struct agui_writer *writer, const char *delta)
{
	if (writer->open != AGUI_REASONING) {
		close_open(writer);
		send_bare(writer, "REASONING_START");
		send_start(writer, "REASONING_MESSAGE_START", "reasoning");
		writer->open = AGUI_REASONING;
	}
	writer->reasoning = true;
	send_content(writer, "REASONING_MESSAGE_CONTENT", delta);
}

static void on_piece(struct agui_writer *writer, const cJSON *message)
{
	const cJSON *block = json_get(message, "content")->child;
	turn_to(writer, message_id(message));
	if (block_is(block, "reasoning"))
		write_reasoning(writer, json_str(block, "summary"));
	else
		write_text(writer, json_str(block, "text"));
}

/* ---- tool calls ---- */

/* Looks for a call in what an earlier run left; the message at hand may be stored already. */
struct call_search {
	const char *call_id;
	const char *quoted; /* the same as JSON, to pass over most messages unread */
	const char *message;
	bool found;
};

static bool has_call(const cJSON *message, const char *call_id)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *id = block_is_call(block) ? json_str(block, "id") : NULL;
		if (id && strcmp(id, call_id) == 0)
			return true;
	}
	return false;
}

static bool search_message(void *arg, const char *id, const char *body_json)
{
	struct call_search *search = arg;
	if (strcmp(id, search->message) == 0 || !strstr(body_json, search->quoted))
		return true;
	cJSON *message = json_parse(body_json, strlen(body_json), JSON_TRUSTED_DEPTH, NULL);
	search->found = has_call(message, search->call_id);
	cJSON_Delete(message);
	return !search->found;
}

static bool sent_before(struct agui_writer *writer, const char *call_id)
{
	const struct turn *turn = writer->turn;
	struct storage *storage = turn->call->service->storage;
	const struct page all = {.limit = INT64_MAX};
	struct buf quoted = {0};
	struct error err = {0};
	if (!turn->thread.row)
		return false;
	json_put_string(&quoted, call_id);
	struct call_search search = {
	    .call_id = call_id, .quoted = quoted.data, .message = buf_str(&writer->message)};
	if (!storage->ops->message_list(
		storage, turn->thread.row, &all, search_message, &search, &err))
		log_error(
		    "calls of thread %s cannot be read: %s", turn->thread.thread_id, err.cause);
	error_release(&err);
	buf_release(&quoted);
	return search.found;
}

/* Existing clients append what arrives under a known id, so a call is sent once (WIRE 4.11). */
static bool is_new_call(struct agui_writer *writer, const char *call_id)
{
	const cJSON *id;
	cJSON_ArrayForEach(id, writer->calls) {
		if (strcmp(id->valuestring, call_id) == 0)
			return false;
	}
	cJSON_AddItemToArray(writer->calls, cJSON_CreateString(call_id));
	return !sent_before(writer, call_id);
}

static void send_call(struct agui_writer *writer, const cJSON *call)
{
	const char *id = json_str(call, "id");
	char *arguments = json_print(json_get(call, "args"));
	event_begin(writer, "TOOL_CALL_START");
	add_text(writer, "toolCallId", id);
	add_text(writer, "toolCallName", json_str(call, "name"));
	add_text(writer, "parentMessageId", buf_str(&writer->message));
	event_send(writer);
	event_begin(writer, "TOOL_CALL_ARGS");
	add_text(writer, "toolCallId", id);
	add_text(writer, "delta", arguments);
	event_send(writer);
	send_about(writer, "TOOL_CALL_END", "toolCallId", id);
	cJSON_free(arguments);
}

/* A call needs a message that it belongs to, an empty one where there is no text. */
static void send_calls(struct agui_writer *writer, const cJSON *message)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block) || !is_new_call(writer, json_str(block, "id")))
			continue;
		if (!writer->text) {
			write_text(writer, "");
			close_open(writer);
		}
		send_call(writer, block);
	}
}

/* ---- whole messages ---- */

static void on_assistant(struct agui_writer *writer, const cJSON *message)
{
	struct buf text = {0};
	const char *reasoning = json_str(message, "reasoning");
	turn_to(writer, message_id(message));
	message_text(message, &text);
	if (!writer->text && !writer->reasoning && reasoning && *reasoning)
		write_reasoning(writer, reasoning);
	if (!writer->text && text.len)
		write_text(writer, buf_str(&text));
	close_open(writer);
	send_calls(writer, message);
	buf_release(&text);
}

static bool is_empty(const cJSON *output)
{
	if (cJSON_IsString(output))
		return !*output->valuestring;
	return !output || cJSON_IsNull(output) ||
	    ((cJSON_IsObject(output) || cJSON_IsArray(output)) && !output->child);
}

/* What the model saw of a failed tool, as a person would read it. */
static void put_failure(struct buf *out, const cJSON *output)
{
	const cJSON *error = json_get(output, "error");
	const cJSON *shown = cJSON_IsString(error) ? error : output;
	buf_puts(out, "Error: ");
	if (is_empty(shown)) {
		buf_puts(out, "Tool failed");
	} else if (cJSON_IsString(shown)) {
		buf_puts(out, shown->valuestring);
	} else {
		char *text = json_print(shown);
		buf_puts(out, text);
		cJSON_free(text);
	}
}

static void put_output(struct buf *out, const cJSON *block)
{
	const cJSON *output = json_get(block, "output");
	if (cJSON_IsTrue(json_get(block, "is_error"))) {
		put_failure(out, output);
	} else if (cJSON_IsString(output)) {
		buf_puts(out, output->valuestring);
	} else {
		char *text = json_print(output);
		buf_puts(out, text);
		cJSON_free(text);
	}
}

static void send_result(struct agui_writer *writer, const cJSON *block, const char *id)
{
	struct buf content = {0};
	put_output(&content, block);
	event_begin(writer, "TOOL_CALL_RESULT");
	add_text(writer, "messageId", id);
	add_text(writer, "toolCallId", json_str(block, "call_id"));
	add_text(writer, "content", buf_str(&content));
	add_text(writer, "role", "tool");
	event_send(writer);
	buf_release(&content);
}

/* Each result is a message of its own in AG-UI. */
static void on_tool(struct agui_writer *writer, const cJSON *message)
{
	const cJSON *block;
	struct buf id = {0};
	bool first = true;
	close_open(writer);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is(block, "tool_result"))
			continue;
		buf_reset(&id);
		buf_puts(&id, message_id(message));
		if (!first)
			buf_printf(&id, "-%s", json_str(block, "call_id"));
		send_result(writer, block, id.data);
		first = false;
	}
	buf_release(&id);
}

static void on_message(struct agui_writer *writer, const cJSON *message)
{
	if (message_is(message, "assistant"))
		on_assistant(writer, message);
	else if (message_is(message, "tool"))
		on_tool(writer, message);
}

/* ---- nodes ---- */

static void close_step(struct agui_writer *writer)
{
	close_open(writer);
	if (writer->step)
		send_about(writer, "STEP_FINISHED", "stepName", writer->step);
	writer->step = NULL;
}

static void on_node_ends(struct agui_writer *writer, const ag_run *run)
{
	close_step(writer);
	agui_state(writer, run_fields(run));
}

/* From the end of a node to the start of the next nothing is waited for. */
static void cork(struct agui_writer *writer, bool on)
{
	if (writer->corked != on)
		writer->gate.sink.cork(&writer->gate.sink, on);
	writer->corked = on;
}

static void on_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct agui_writer *writer = (struct agui_writer *)observer;
	switch (event->kind) {
	case RUN_NODE_STARTS:
		send_about(writer, "STEP_STARTED", "stepName", event->node);
		writer->step = event->node;
		cork(writer, false);
		return;
	case RUN_PIECE:
		cork(writer, false);
		on_piece(writer, event->message);
		return;
	case RUN_MESSAGE:
		cork(writer, true);
		on_message(writer, event->message);
		cork(writer, event->json != NULL);
		return;
	case RUN_NODE_ENDS:
		cork(writer, true);
		on_node_ends(writer, run);
		return;
	}
}

static void on_settled(struct run_observer *observer, bool ok)
{
	gate_settle(&((struct agui_writer *)observer)->gate, ok);
}

/* ---- the state ---- */

static bool has_defaults(const struct agui_writer *writer, const cJSON *fields)
{
	const ag_graph *graph = writer->turn->call->service->graph;
	for (size_t i = 0; i < graph->field_count; i++) {
		const struct field *field = &graph->fields[i];
		if (!json_equal(json_get(fields, field->name), field->initial))
			return false;
	}
	return true;
}

/* Members that the graph has no field for are the client's own business. */
static bool is_known(const struct agui_writer *writer, const cJSON *fields)
{
	const cJSON *field;
	cJSON_ArrayForEach(field, fields) {
		const cJSON *seen = json_get(writer->state, field->string);
		if (!seen || !json_equal(seen, field))
			return false;
	}
	return true;
}

void agui_state(struct agui_writer *writer, const cJSON *fields)
{
	if (has_defaults(writer, fields) || is_known(writer, fields))
		return;
	writer->state = arena_json(writer->turn->call->arena, cJSON_Duplicate(fields, true));
	event_begin(writer, "STATE_SNAPSHOT");
	add_json(writer, "snapshot", fields);
	event_send(writer);
}

/* ---- the run ---- */

void agui_writer_init(
    struct agui_writer *writer, struct turn *turn, const cJSON *state, struct chunk_sink *sink)
{
	*writer = (struct agui_writer){
	    .observer = {.live = true, .event = on_event, .settled = on_settled},
	    .turn = turn,
	    .state = state,
	    .calls = cJSON_CreateArray(),
	};
	gate_init(&writer->gate, sink);
}

void agui_writer_release(struct agui_writer *writer)
{
	gate_release(&writer->gate);
	buf_release(&writer->line);
	buf_release(&writer->message);
	cJSON_Delete(writer->calls);
}

static void add_run(struct agui_writer *writer)
{
	add_text(writer, "threadId", writer->turn->thread.thread_id);
	add_text(writer, "runId", writer->turn->run_id);
}

void agui_run_started(struct agui_writer *writer)
{
	event_begin(writer, "RUN_STARTED");
	add_run(writer);
	event_send(writer);
}

/* Lets out what is kept back and closes what is open.  When the run's start could not be written,
 * what came before is lost, and the stream begins here. */
static void end(struct agui_writer *writer)
{
	if (!gate_open(&writer->gate)) {
		writer->open = AGUI_NONE;
		writer->step = NULL;
		agui_run_started(writer);
	}
	cork(writer, true);
	close_step(writer);
}

static void move(cJSON *out, const char *name, const cJSON *interrupt, const char *from)
{
	const cJSON *item = json_opt(interrupt, from);
	if (item)
		cJSON_AddItemToObject(out, name, cJSON_Duplicate(item, true));
}

/* The interrupt object of WIRE 3.3 in AG-UI's names, without what is null. */
static cJSON *outcome(const cJSON *interrupt)
{
	cJSON *out = cJSON_CreateObject(), *shown = cJSON_CreateObject();
	cJSON_AddStringToObject(out, "type", "interrupt");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(out, "interrupts"), shown);
	move(shown, "id", interrupt, "id");
	move(shown, "reason", interrupt, "reason");
	move(shown, "message", interrupt, "message");
	move(shown, "toolCallId", interrupt, "tool_call_id");
	move(shown, "responseSchema", interrupt, "response_schema");
	cJSON *metadata = cJSON_AddObjectToObject(shown, "metadata");
	move(metadata, "value", interrupt, "value");
	move(metadata, "node", interrupt, "node");
	return out;
}

void agui_run_finished(struct agui_writer *writer, const cJSON *interrupt)
{
	end(writer);
	event_begin(writer, "RUN_FINISHED");
	add_run(writer);
	if (interrupt) {
		cJSON *tree = outcome(interrupt);
		add_json(writer, "outcome", tree);
		cJSON_Delete(tree);
	}
	event_send(writer);
	cork(writer, false);
}

void agui_run_error(struct agui_writer *writer, const char *message, const char *code)
{
	end(writer);
	event_begin(writer, "RUN_ERROR");
	add_text(writer, "message", message);
	add_text(writer, "code", code);
	event_send(writer);
	cork(writer, false);
}
