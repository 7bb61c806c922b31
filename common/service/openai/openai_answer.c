/* SPDX-License-Identifier: ISC */
/* What a turn said, asked and cost, written whole and in chunks. */
#include "service/openai/openai_internal.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "service/openai/openai.h"
#include "service/run/said.h"
#include "storage/runs.h"

#include <string.h>

/* ---- what came of it ---- */

/* The calls that wait at the client, an array of blocks in the arena, or NULL. */
static const cJSON *openai_calls(const struct turn *turn)
{
	if (turn->action == TURN_REPORT_WAITING)
		return turn->waiting;
	const char *text = turn->run ? run_thread(turn->run)->waiting_json : NULL;
	const cJSON *waiting = arena_json(turn->call->arena, json_parse_own(text));
	return json_get(waiting, "calls");
}

/* The usage, a new tree; null where there are answers and none says it, since zeroes would pass for
 * a price. */
static cJSON *openai_usage(const struct turn *turn)
{
	struct run_usage sum = {0};
	if (turn->run)
		sum = *run_spent_apart(turn->run);
	bool known = sum.total > 0, answered = false;
	for (const cJSON *message = turn_made(turn); message; message = message->next) {
		answered = message_is(message, "assistant") || answered;
		known = message_usage(message, &sum) || known;
	}
	if (answered && !known)
		return cJSON_CreateNull();
	cJSON *usage = cJSON_CreateObject();
	json_add_int(usage, "prompt_tokens", sum.prompt);
	json_add_int(usage, "completion_tokens", sum.completion);
	json_add_int(usage, "total_tokens", sum.total);
	cJSON *details = json_add(usage, "completion_tokens_details", cJSON_CreateObject());
	json_add_int(details, "reasoning_tokens", sum.reasoning);
	return usage;
}

/* A call as clients see it; index is its number in a chunk, below 0 for none. */
static cJSON *openai_call_view(const cJSON *block, int index)
{
	cJSON *view = cJSON_CreateObject();
	char *arguments = json_print(json_get(block, "args"));
	if (index >= 0)
		json_add_int(view, "index", index);
	json_add_str(view, "id", json_str(block, "id"));
	json_add_str(view, "type", "function");
	cJSON *function = json_add(view, "function", cJSON_CreateObject());
	json_add_str(function, "name", json_str(block, "name"));
	json_add_str(function, "arguments", arguments);
	cJSON_free(arguments);
	return view;
}

/* ---- the whole answer ---- */

/* The members that answers and chunks begin with. */
static cJSON *openai_head(const struct turn *turn, const char *object)
{
	struct call *call = turn->call;
	cJSON *head = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(head, "id", arena_printf(call->arena, "chatcmpl-%s", turn->run_id));
	json_add_str(head, "object", object);
	json_add_int(head, "created", clock_now() / 1000000);
	json_add_str(head, "model", openai_model(call->service->config));
	json_add(head, "system_fingerprint", cJSON_CreateNull());
	if (!turn->apart)
		json_add_str(head, "thread_id", turn->thread.thread_id);
	return head;
}

cJSON *openai_completion(const struct turn *turn)
{
	const cJSON *calls = openai_calls(turn), *block;
	struct buf text = {0};
	cJSON *answer = openai_head(turn, "chat.completion");
	cJSON *choice = cJSON_CreateObject(), *message;
	json_append(json_add(answer, "choices", cJSON_CreateArray()), choice);
	json_add_int(choice, "index", 0);
	message = json_add(choice, "message", cJSON_CreateObject());
	json_add_str(message, "role", "assistant");
	turn_answer(turn, &text);
	json_add_str(message, "content", calls && !text.len ? NULL : buf_str(&text));
	json_add(message, "refusal", cJSON_CreateNull());
	buf_reset(&text);
	turn_reasoning(turn, &text);
	if (text.len)
		json_add_str(message, "reasoning_content", buf_str(&text));
	if (calls) {
		cJSON *views = json_add(message, "tool_calls", cJSON_CreateArray());
		cJSON_ArrayForEach(block, calls)
			cJSON_AddItemToArray(views, openai_call_view(block, -1));
	}
	json_add(choice, "logprobs", cJSON_CreateNull());
	json_add_str(choice, "finish_reason", calls ? "tool_calls" : "stop");
	cJSON *usage = openai_usage(turn);
	if (cJSON_IsNull(usage))
		cJSON_Delete(usage);
	else
		json_add(answer, "usage", usage);
	buf_release(&text);
	return answer;
}

/* ---- errors ---- */

static const char *openai_error_type(int status)
{
	switch (status) {
	case 401:
		return "authentication_error";
	case 403:
		return "permission_error";
	case 429:
		return "rate_limit_error";
	default:
		return status < 500 ? "invalid_request_error" : "server_error";
	}
}

cJSON *openai_error(struct call *call, const struct error_view *view)
{
	cJSON *body = arena_json(call->arena, cJSON_CreateObject());
	cJSON *error = json_add(body, "error", cJSON_CreateObject());
	/* the member that the first mistake is in, "messages[0].role" */
	const cJSON *loc = view->details ? json_get(view->details->child, "loc") : NULL;
	const char *first = loc && loc->child ? cJSON_GetStringValue(loc->child) : NULL;
	struct buf path = {0};
	if (first && strcmp(first, "node") != 0)
		error_put_path(&path, loc->child->next);
	json_add_str(error, "message", view->detail);
	json_add_str(error, "type", openai_error_type(view->status));
	json_add_str(error, "param", path.len ? buf_str(&path) : NULL);
	buf_release(&path);
	json_add_str(error, "code", view->code);
	return body;
}

/* ---- chunks ---- */

static void openai_line(struct openai_writer *writer, const char *text)
{
	buf_reset(&writer->line);
	buf_puts(&writer->line, text);
	gate_send(&writer->gate, &writer->line);
}

/* A chunk of one choice: between openai_open_delta and openai_close_delta its delta is written. */
static void openai_open_delta(struct openai_writer *writer)
{
	buf_reset(&writer->line);
	buf_add(&writer->line, writer->head.data, writer->head.len);
	buf_puts(&writer->line, ",\"choices\":[{\"index\":0,\"delta\":{");
}

static void openai_close_delta(struct openai_writer *writer, const char *reason)
{
	buf_puts(&writer->line, "},\"logprobs\":null,\"finish_reason\":");
	json_quote(&writer->line, reason);
	buf_puts(&writer->line, writer->usage ? "}],\"usage\":null}" : "}]}");
	gate_send(&writer->gate, &writer->line);
}

static void openai_begin(struct openai_writer *writer)
{
	if (writer->begun)
		return;
	writer->begun = true;
	openai_open_delta(writer);
	buf_puts(&writer->line, "\"role\":\"assistant\",\"content\":\"\",\"refusal\":null");
	openai_close_delta(writer, NULL);
}

static void openai_write_text(struct openai_writer *writer, const char *name, const char *text)
{
	openai_open_delta(writer);
	buf_putc(&writer->line, '"');
	buf_puts(&writer->line, name);
	buf_puts(&writer->line, "\":");
	json_quote(&writer->line, text);
	openai_close_delta(writer, NULL);
}

/* Writes a piece of the message with this id. */
static void openai_write_piece(
    struct openai_writer *writer, struct openai_strand *strand, const char *id, const char *text)
{
	if (!text || !*text)
		return;
	if (strcmp(buf_str(&strand->message), id) != 0) {
		buf_reset(&strand->message);
		buf_puts(&strand->message, id);
		if (strand->begun)
			openai_write_text(writer, strand->name, SAID_BETWEEN);
	}
	strand->begun = true;
	openai_write_text(writer, strand->name, text);
}

/* ---- what the run tells ---- */

/* Of a message, what was not streamed is one piece. */
static void openai_on_whole(struct openai_writer *writer, const cJSON *message)
{
	struct buf text = {0};
	const char *id = message_id(message);
	if (!message_is(message, "assistant") || strcmp(buf_str(&writer->content.message), id) == 0)
		return;
	if (strcmp(buf_str(&writer->reasoning.message), id) != 0)
		openai_write_piece(writer, &writer->reasoning, id, json_str(message, "reasoning"));
	message_text(message, &text);
	openai_write_piece(writer, &writer->content, id, buf_str(&text));
	buf_release(&text);
}

static void openai_on_event(
    struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct openai_writer *writer = (struct openai_writer *)observer;
	const cJSON *block;
	(void)run;
	switch (event->kind) {
	case RUN_NODE_STARTS:
		openai_begin(writer);
		gate_cork(&writer->gate, false);
		return;
	case RUN_PIECE:
		/* a branch's pieces would mix with those of others; its message comes whole */
		if (event->branch)
			return;
		block = json_get(event->message, "content")->child;
		if (block_is(block, "text"))
			openai_write_piece(writer, &writer->content, message_id(event->message),
			    json_str(block, "text"));
		else if (block_is(block, "reasoning"))
			openai_write_piece(writer, &writer->reasoning, message_id(event->message),
			    json_str(block, "summary"));
		return;
	case RUN_MESSAGE:
		openai_on_whole(writer, event->message);
		gate_cork(&writer->gate, event->json != NULL);
		return;
	case RUN_CUSTOM: /* chats have no place for it */
	case RUN_ATTEMPT_FAILS:
	case RUN_SUBGRAPH_ENDS:
		return;
	case RUN_NODE_ENDS:
		gate_cork(&writer->gate, true);
		return;
	}
}

static void openai_on_settled(struct run_observer *observer, bool ok)
{
	gate_settle(&((struct openai_writer *)observer)->gate, ok);
}

/* ---- the writer ---- */

void openai_writer_init(
    struct openai_writer *writer, struct turn *turn, bool usage, struct chunk_sink *sink)
{
	*writer = (struct openai_writer){
	    .observer = {.live = true, .event = openai_on_event, .settled = openai_on_settled},
	    .turn = turn,
	    .usage = usage,
	    .content = {.name = "content"},
	    .reasoning = {.name = "reasoning_content"},
	};
	json_write(&writer->head, openai_head(turn, "chat.completion.chunk"));
	writer->head.data[--writer->head.len] = '\0'; /* the brace that ends it */
	gate_init(&writer->gate, sink);
}

void openai_writer_release(struct openai_writer *writer)
{
	gate_release(&writer->gate);
	buf_release(&writer->head);
	buf_release(&writer->line);
	buf_release(&writer->content.message);
	buf_release(&writer->reasoning.message);
}

/* When the run's start could not be written, what came before is lost,
 * and the stream begins here. */
static void openai_open_end(struct openai_writer *writer)
{
	if (!gate_open(&writer->gate))
		writer->begun = false;
	gate_cork(&writer->gate, true);
	openai_begin(writer);
}

static void openai_close_end(struct openai_writer *writer)
{
	openai_line(writer, "[DONE]");
	gate_cork(&writer->gate, false);
}

void openai_writer_finish(struct openai_writer *writer)
{
	const cJSON *calls = openai_calls(writer->turn);
	const char *question = turn_question(writer->turn);
	openai_open_end(writer);
	if (question)
		openai_write_piece(writer, &writer->content, "", question);
	if (calls) {
		const cJSON *block;
		int index = 0;
		cJSON_ArrayForEach(block, calls) {
			cJSON *view = openai_call_view(block, index++);
			openai_open_delta(writer);
			buf_puts(&writer->line, "\"tool_calls\":[");
			json_write(&writer->line, view);
			buf_putc(&writer->line, ']');
			openai_close_delta(writer, NULL);
			cJSON_Delete(view);
		}
	}
	openai_open_delta(writer);
	openai_close_delta(writer, calls ? "tool_calls" : "stop");
	if (writer->usage) {
		cJSON *usage = openai_usage(writer->turn);
		buf_reset(&writer->line);
		buf_add(&writer->line, writer->head.data, writer->head.len);
		buf_puts(&writer->line, ",\"choices\":[],\"usage\":");
		json_write(&writer->line, usage);
		buf_putc(&writer->line, '}');
		cJSON_Delete(usage);
		gate_send(&writer->gate, &writer->line);
	}
	openai_close_end(writer);
}

void openai_writer_fail(struct openai_writer *writer)
{
	struct call *call = writer->turn->call;
	struct error_view view;
	call_error_view(call, &view);
	openai_open_end(writer);
	char *text = json_print(openai_error(call, &view));
	openai_line(writer, text);
	cJSON_free(text);
	openai_close_end(writer);
}
