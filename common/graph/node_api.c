/* SPDX-License-Identifier: ISC */
/* What agentgraph.h offers to a node while it runs, and to routes and tools. */
#include "base/arena.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/nodes/tools/tool_calls.h"
#include "graph/region/region.h"
#include "graph/run_internal.h"
#include "model/chat.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each call is compared with those before it, and each result with the calls that wait. */
#define MOST_CALLS 4096

/* ---- the state ---- */

/* The last message of a role (any when NULL); the history is loaded only when the run has none. */
static const cJSON *node_api_last_message(const ag_state *state, const char *role)
{
	ag_run *run = state->run;
	const cJSON *message = message_last(run->messages.array, role);
	return message ? message : message_last(run_context(run), role);
}

const cJSON *ag_last_message(const ag_state *state)
{
	return node_api_last_message(state, NULL);
}

const char *ag_user_text(const ag_state *state)
{
	const cJSON *message = node_api_last_message(state, "user");
	if (!message)
		return "";
	char *text = ag_message_text(message);
	arena_defer(state->run->setup.arena, free, text);
	return text;
}

const cJSON *ag_context(const ag_state *state)
{
	const cJSON *context = run_context(state->run);
	return context ? context : state->run->messages.array;
}

size_t ag_context_length(const ag_state *state)
{
	struct error err = {0};
	ag_run *run = state->run;
	struct storage *storage = run->setup.storage;
	int64_t stored = 0;
	if (run->branch)
		run_context(run);
	if (run->context)
		return (size_t)cJSON_GetArraySize(run->context);
	if (!checkpoint_settle(run, &err) ||
	    (run->thread.row &&
		!storage->threads->context_count(
		    storage, &run->setup.ctx, run->thread.row, NULL, &stored, &err)))
		run_note_unread(run, &err);
	error_release(&err);
	return (size_t)stored + run->messages.count - run->messages.written;
}

const char *ag_summary(const ag_state *state)
{
	return state->run->thread.summary;
}

const cJSON *ag_field(const ag_state *state, const char *name)
{
	return json_get(state->run->fields, name ? name : "");
}

const cJSON *ag_fields(const ag_state *state)
{
	return state->run->fields;
}

char *ag_message_text(const cJSON *message)
{
	struct buf text = {0};
	message_text(message, &text);
	return buf_detach(&text);
}

double ag_number(const cJSON *item)
{
	double value;
	return json_number(item, &value) ? value : NAN;
}

/* ---- the run ---- */

const cJSON *ag_config(const ag_run *run)
{
	return run->setup.config;
}

const char *ag_thread_id(const ag_run *run)
{
	return run->thread.thread_id;
}

const char *ag_run_id(const ag_run *run)
{
	return run->setup.run_id;
}

unsigned ag_attempt(const ag_run *run)
{
	const struct run_background *background = run->setup.background;
	return background ? (unsigned)background->attempt : 1;
}

const char *ag_node_name(const ag_run *run)
{
	return run->frame.node->name;
}

int ag_step(const ag_run *run)
{
	return run->step;
}

/* Whatever a plug-in says goes through here, or through json_adopt: clients and storage get nothing
 * but UTF-8. */
static const char *run_text(ag_run *run, const char *text)
{
	if (!text)
		return "";
	if (utf8_valid(text, strlen(text)))
		return text;
	char *mended = utf8_mend(text);
	arena_defer(run->setup.arena, free, mended);
	return mended;
}

ag_result ag_fail(ag_run *run, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	arena_defer(run->setup.arena, free, text);
	if (!run->frame.unread) /* else that is why, whatever fails after it */
		run->frame.failure = run_text(run, text);
	return AG_ERROR;
}

ag_result ag_trim(ag_run *run, const cJSON *last, const char *summary)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, run->context) {
		if (message_id(message) != message_id(last))
			continue;
		run->frame.leaves = arena_strdup(run->setup.arena, message_id(last));
		if (summary)
			run->frame.summary = arena_strdup(run->setup.arena, run_text(run, summary));
		return AG_OK;
	}
	return ag_fail(run, "ag_trim: the message is not in the context");
}

void ag_log(ag_run *run, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	log_info("thread %s, node %s: %s", run->thread.thread_id, run->frame.node->name, text);
	free(text);
}

int64_t ag_time_left_ms(const ag_run *run)
{
	int64_t left = run->frame.deadline - clock_monotonic_ms();
	return left > 0 ? left : 0;
}

ag_result ag_sleep_ms(ag_run *run, int64_t ms)
{
	int64_t left = ag_time_left_ms(run);
	clock_sleep_ms(ms < left ? ms : left);
	return ms < left ? AG_OK : AG_ERROR;
}

bool ag_stop_requested(const ag_run *run)
{
	if (run->setup.stop)
		return *run->setup.stop;
	struct error err = {0};
	enum lease_order order;
	/* a failure here comes again when the engine looks, and is reported then */
	bool ok = run_ordered(run, &order, &err);
	error_release(&err);
	return ok && order != ORDER_NONE;
}

bool ag_remote_tool(const ag_run *run, const char *name)
{
	const struct client_tools *offered = run_client_tools(run);
	const ag_graph *graph = run->setup.graph;
	const struct tool *tool = NULL;
	if (!name)
		return false;
	for (size_t i = 0; !tool && i < graph->node_count; i++)
		tool = graph_tool_get(&graph->nodes[i], name);
	if (tool)
		return tool->source == TOOL_REMOTE;
	for (size_t i = 0; i < offered->count; i++) {
		if (strcmp(offered->items[i].name, name) == 0)
			return true;
	}
	return false;
}

ag_result ag_update(ag_run *run, const char *field, cJSON *value)
{
	cJSON *adopted = value ? json_adopt(value) : cJSON_CreateNull();
	field = field ? field : ""; /* no graph has a field of that name */
	run->frame.acts = true;
	if (run->call)
		tool_call_update(run->call, field, adopted);
	else
		cJSON_AddItemToObject(run->frame.updates, field, adopted);
	return AG_OK;
}

/* ---- speaking ---- */

/* Notes that the node has said a piece, so that it does not run again; whether anybody watches or
 * not. */
static void run_note_piece(ag_run *run)
{
	run->frame.acts = true;
	if (run->call)
		tool_call_streams(run->call);
	else
		run->frame.streamed = true;
}

/* All pieces of one answer and its final message share one id
 * (doc/protocol-messages.md#messages). */
static ag_result node_api_show_piece(ag_run *run, struct piece **piece, const char *text)
{
	char *id = run->frame.open_id;
	const char *json;
	bool reasoning = piece == &run->frame.reasoning;
	if (!*id)
		id_make(run->setup.ids, id);
	if (!*text)
		return AG_OK;
	run_note_piece(run);
	if (!run->setup.observer->live)
		return AG_OK;
	if (run->call) { /* calls keep their pieces, so each must be a tree of its own */
		cJSON *said =
		    reasoning ? message_reasoning_delta(id, text) : message_delta(id, text);
		tool_call_piece(run->call, said);
		cJSON_Delete(said);
		return AG_OK;
	}
	if (!*piece || strcmp(piece_id(*piece), id) != 0)
		*piece = piece_new(run->setup.arena, id, reasoning);
	const cJSON *message = piece_next(*piece, text, &json);
	run_show_piece(run, message, json);
	return AG_OK;
}

ag_result ag_delta(ag_run *run, const char *text)
{
	return node_api_show_piece(run, &run->frame.text, run_text(run, text));
}

ag_result ag_reasoning_delta(ag_run *run, const char *text)
{
	return node_api_show_piece(run, &run->frame.reasoning, run_text(run, text));
}

ag_result ag_emit(ag_run *run, const char *name, cJSON *data)
{
	if (data && json_deeper_than(data, STORED_DEPTH)) {
		cJSON_Delete(data);
		return ag_fail(
		    run, "expected an event of at most %d levels of nesting", STORED_DEPTH);
	}
	cJSON *event = cJSON_CreateObject();
	run->frame.acts = true;
	json_add_str(event, "name", run_text(run, name));
	json_add_or_null(event, "data", json_adopt(data));
	if (run->call)
		tool_call_custom(run->call, event);
	else
		run_show_custom(run, event);
	cJSON_Delete(event);
	return AG_OK;
}

/* Whether a call before end (NULL: any) has that id. */
static bool message_has_call(const cJSON *message, const cJSON *end, const char *id)
{
	const cJSON *block = json_get(message, "content")->child;
	while (block != end && !(block_is_call(block) && json_str_is(block, "id", id)))
		block = block->next;
	return block != end;
}

static bool messages_have_call(const cJSON *messages, const char *id)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		if (message_has_call(message, NULL, id))
			return true;
	}
	return false;
}

/* Gives the call another id where its own is taken: some model servers count their calls anew with
 * every answer.  A result that the node itself adds follows its call. */
static void node_api_make_call_unique(ag_run *run, cJSON *message, cJSON *call)
{
	const char *id = json_str(call, "id");
	/* the id may be taken where the run does not see it: in what has left the context, or in
	 * what is said beside it */
	bool blind = run->thread.view.after || (run->apart && run->before->row) ||
	    others_have_any(run->hidden);
	bool taken = message_has_call(message, call, id) || blind ||
	    others_have(run->not_its, id) || messages_have_call(run_context(run), id) ||
	    messages_have_call(run->frame.messages, id);
	if (!taken && (!run->side || region_claim_call(run->side, id)))
		return;
	char *old = arena_strdup(run->setup.arena, id);
	chat_call_renew(message, call);
	if (!run->frame.renewed)
		run->frame.renewed = arena_json(run->setup.arena, cJSON_CreateObject());
	json_set(run->frame.renewed, old, cJSON_CreateString(json_str(call, "id")));
}

static void node_api_result_follow_call(const ag_run *run, cJSON *result)
{
	const char *call_id = json_str(result, "call_id");
	const char *renewed = call_id ? json_str(run->frame.renewed, call_id) : NULL;
	if (renewed)
		json_set(result, "call_id", cJSON_CreateString(renewed));
}

ag_result ag_message(ag_run *run, cJSON *message)
{
	struct error err = {0};
	size_t calls = 0;
	cJSON *block;
	if (json_deeper_than(message, STORED_DEPTH)) {
		cJSON_Delete(message);
		return ag_fail(
		    run, "expected a message of at most %d levels of nesting", STORED_DEPTH);
	}
	message = json_adopt(message);
	/* the thread may have one of that id */
	cJSON_DeleteItemFromObjectCaseSensitive(message, "message_id");
	cJSON *made =
	    message_normalise(message, "body.message", MESSAGE_FROM_NODE, run->setup.ids, &err);
	cJSON_Delete(message);
	if (!made) {
		ag_fail(run, "%s", err.detail);
		error_release(&err);
		return AG_ERROR;
	}
	cJSON_ArrayForEach(block, json_get(made, "content"))
		calls += block_is_call(block);
	if (calls > MOST_CALLS) {
		cJSON_Delete(made);
		return ag_fail(run, "expected a message of at most %d calls", MOST_CALLS);
	}
	cJSON_ArrayForEach(block, json_get(made, "content")) {
		if (block_is(block, "tool_result"))
			node_api_result_follow_call(run, block);
		if (!block_is_call(block))
			continue;
		node_api_make_call_unique(run, made, block);
		/* calls of tools that the client runs stand in blocks of their own type
		 * (doc/protocol-runs.md#client-side-tools) */
		if (!block_is(block, "tool_call") || !ag_remote_tool(run, json_str(block, "name")))
			continue;
		json_set(block, "type", cJSON_CreateString("remote_tool_call"));
		json_set(block, "tool_type", cJSON_CreateString("remote"));
	}
	message_fill_calls(made);
	if (*run->frame.open_id)
		json_set(made, "message_id", cJSON_CreateString(run->frame.open_id));
	run->frame.open_id[0] = '\0';
	run->frame.acts = true;
	if (run->call)
		tool_call_message(run->call, made);
	else
		run_add_message(run, made);
	return AG_OK;
}

ag_result ag_say(ag_run *run, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	char *text = xvasprintf(fmt, args);
	va_end(args);
	arena_defer(run->setup.arena, free, text);
	const char *rest = run_text(run, text);
	struct buf word = {0};
	if (*rest)
		run_note_piece(run);
	while (*rest && run->setup.observer->live) {
		size_t len = message_word(rest);
		buf_reset(&word);
		buf_add(&word, rest, len);
		ag_delta(run, buf_str(&word));
		rest += len;
	}
	buf_release(&word);
	cJSON *message = cJSON_CreateObject();
	cJSON_AddStringToObject(message, "role", "assistant");
	cJSON_AddStringToObject(message, "content", text);
	return ag_message(run, message);
}

/* ---- asking ---- */

cJSON *interrupt_new(const char *node, const char *reason, const cJSON *value)
{
	const cJSON *schema = json_get(value, "response_schema");
	cJSON *data = cJSON_IsObject(value) ? cJSON_Duplicate(value, true) : cJSON_CreateObject();
	if (value && !cJSON_IsObject(value) && !cJSON_IsNull(value))
		cJSON_AddItemToObject(data, "value", cJSON_Duplicate(value, true));
	char hex[HEX_ID_SIZE], id[HEX_ID_SIZE + 4];
	snprintf(id, sizeof(id), "int_%s", hex_id(hex));
	cJSON *object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "id", id);
	cJSON_AddStringToObject(object, "node", node);
	cJSON_AddStringToObject(object, "reason", reason);
	cJSON_AddStringToObject(object, "status", "interrupted");
	cJSON_AddNullToObject(object, "message");
	json_add_or_null(object, "value", cJSON_Duplicate(value, true));
	cJSON_AddItemToObject(object, "data", data);
	cJSON_AddNullToObject(object, "tool_call_id");
	json_add_or_null(object, "response_schema",
	    cJSON_IsObject(schema) ? cJSON_Duplicate(schema, true) : NULL);
	return object;
}

const cJSON *ag_answers(const ag_run *run)
{
	return run->answers;
}

const cJSON *run_question(const ag_run *run)
{
	return run->question;
}

ag_result ag_interrupt(ag_run *run, const char *reason, cJSON *value, const cJSON **answer)
{
	if (value && json_deeper_than(value, STORED_DEPTH)) {
		cJSON_Delete(value);
		return ag_fail(
		    run, "expected a question of at most %d levels of nesting", STORED_DEPTH);
	}
	run->frame.acts = true;
	run = run->call ? tool_call_turn(run->call) : run;
	if (!run) { /* a call before this one paused the run */
		cJSON_Delete(value);
		return AG_PAUSE;
	}
	const cJSON *given = cJSON_GetArrayItem(run->answers, run->frame.answers_used++);
	if (given) {
		cJSON_Delete(value);
		if (answer)
			*answer = given;
		return AG_OK;
	}
	value = json_adopt(value);
	cJSON *pause = interrupt_new(
	    run->frame.node->name, reason ? run_text(run, reason) : "input_required", value);
	run->frame.pause = arena_json(run->setup.arena, pause);
	cJSON_Delete(value);
	return AG_PAUSE;
}
