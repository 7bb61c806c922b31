/* SPDX-License-Identifier: ISC */
/* Results with text and structure, and a notification for each node. */
#include "service/mcp/mcp_answer.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "graph/state.h"
#include "service/run/said.h"

#include <string.h>

#define TOKEN_MAX 256 /* most bytes of a token, which each notification repeats */

/* ---- results ---- */

cJSON *mcp_result(struct call *call, const struct mcp_request *rq)
{
	const struct environment *env = &call->service->config->env;
	cJSON *result = arena_json(call->arena, cJSON_CreateObject());
	if (!rq->version->stateless)
		return result;
	json_add_str(result, "resultType", "complete");
	cJSON *meta = json_add(result, "_meta", cJSON_CreateObject());
	cJSON *info = json_add(meta, MCP_META_SERVER, cJSON_CreateObject());
	json_add_str(info, "name", env->app_name);
	json_add_str(info, "version", env->app_version);
	return result;
}

static void mcp_add_text(cJSON *result, const char *text)
{
	cJSON *block = json_typed("text");
	json_add_str(block, "text", text);
	json_append(json_add(result, "content", cJSON_CreateArray()), block);
}

static void mcp_add_structure(
    cJSON *result, const struct turn *turn, const char *status, const char *answer)
{
	cJSON *out = json_add(result, "structuredContent", cJSON_CreateObject());
	json_add_str(out, "thread_id", turn->thread.thread_id);
	json_add_str(out, "run_id", turn->run_id);
	json_add_str(out, "status", status);
	json_add_str(out, "answer", answer);
	json_add_or_null(out, "interrupt", turn_interrupt(turn));
	turn_add_interrupts(turn, out);
}

cJSON *mcp_result_of(const struct turn *turn, const struct mcp_request *rq)
{
	struct call *call = turn->call;
	const struct thread *thread = turn->run ? run_thread(turn->run) : &turn->thread;
	struct buf text = {0}, answer = {0};
	cJSON *result = mcp_result(call, rq);
	turn_texts(turn, &answer);
	turn_answer(turn, &text);
	if (turn_question(turn))
		buf_printf(&text,
		    SAID_BETWEEN "The agent waits for an answer. To give it, call this tool again "
				 "with \"thread_id\": \"%s\" and the answer as \"message\".",
		    turn->thread.thread_id);
	mcp_add_text(result, buf_str(&text));
	mcp_add_structure(result, turn, run_status_name(thread->status), buf_str(&answer));
	cJSON_AddFalseToObject(result, "isError");
	buf_release(&text);
	buf_release(&answer);
	return result;
}

cJSON *mcp_result_failed(struct call *call, const struct turn *turn, const struct mcp_request *rq)
{
	struct error_view view;
	cJSON *result = mcp_result(call, rq);
	call_error_view(call, &view);
	mcp_add_text(result, view.detail);
	if (turn)
		mcp_add_structure(result, turn, "error", "");
	cJSON_AddTrueToObject(result, "isError");
	return result;
}

/* ---- notifications ---- */

static void mcp_on_event(struct run_observer *observer, ag_run *run, const struct run_event *event)
{
	struct mcp_writer *writer = (struct mcp_writer *)observer;
	struct buf *line = &writer->line;
	(void)run;
	if (event->kind != RUN_NODE_STARTS || !writer->token)
		return;
	buf_reset(line);
	buf_puts(line,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
	    "\"params\":{\"progressToken\":");
	json_write(line, writer->token);
	buf_puts(line, ",\"progress\":");
	buf_int(line, ++writer->progress);
	buf_puts(line, ",\"message\":");
	json_quote(line, event->node);
	buf_puts(line, "}}");
	gate_send(&writer->gate, line);
}

static void mcp_on_settled(struct run_observer *observer, bool ok)
{
	struct mcp_writer *writer = (struct mcp_writer *)observer;
	if (writer->token)
		gate_settle(&writer->gate, ok);
}

void mcp_writer_init(
    struct mcp_writer *writer, const struct mcp_request *rq, const struct mcp_post *post)
{
	const cJSON *token = post->events ? json_opt(rq->meta, "progressToken") : NULL;
	int64_t number;
	*writer =
	    (struct mcp_writer){.observer = {.event = mcp_on_event, .settled = mcp_on_settled}};
	bool fits = cJSON_IsString(token) ? strlen(token->valuestring) <= TOKEN_MAX
					  : json_integer(token, &number);
	if (!fits)
		return;
	writer->token = token;
	writer->observer.live = true;
	gate_init(&writer->gate, post->sink);
}

void mcp_writer_release(struct mcp_writer *writer)
{
	if (writer->token)
		gate_release(&writer->gate);
	buf_release(&writer->line);
}

void mcp_writer_end(struct mcp_writer *writer, const cJSON *message)
{
	gate_open(&writer->gate);
	buf_reset(&writer->line);
	json_write(&writer->line, message);
	gate_send(&writer->gate, &writer->line);
}
