/* SPDX-License-Identifier: ISC */
/* Matching results with the calls that wait, and closing those that nobody answered. */
#include "service/run/answers.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "graph/message/message.h"
#include "service/thread/messages.h"

#include <string.h>

static const cJSON *answers_find(const cJSON *calls, const char *id)
{
	const cJSON *call;
	cJSON_ArrayForEach(call, calls) {
		if (strcmp(json_str(call, "id"), id) == 0)
			return call;
	}
	return NULL;
}

const char *answers_call(const cJSON *message)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (block_is(block, "tool_result"))
			return json_str(block, "call_id");
	}
	return NULL;
}

static bool answers_need_call_id(struct call *call, int waiting)
{
	return error_set(&call->error, ERR_INVALID_INPUT,
	    "A tool message needs a call_id: %d remote tool calls are waiting", waiting);
}

/* A tool message of plain text that names no call answers the only one that waits. */
static bool answers_name_call(struct call *call, cJSON *message, const cJSON *waiting)
{
	int count = cJSON_GetArraySize(waiting);
	struct buf text = {0};
	if (count != 1)
		return answers_need_call_id(call, count);
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is(block, "text"))
			return answers_need_call_id(call, count);
	}
	message_text(message, &text);
	cJSON *result = message_tool_result(
	    "", json_str(waiting->child, "id"), cJSON_CreateString(buf_str(&text)), false);
	json_set(message, "content", cJSON_DetachItemFromObjectCaseSensitive(result, "content"));
	cJSON_Delete(result);
	buf_release(&text);
	return true;
}

/* Takes the results of one message and counts them.  A call can be answered once, and only while it
 * waits. */
static bool answers_take_results(
    struct call *call, const cJSON *message, const cJSON *asked, cJSON *calls, int *answered)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *id = block_is(block, "tool_result") ? json_str(block, "call_id") : NULL;
		if (!id)
			continue;
		const cJSON *waits = answers_find(calls, id);
		if (!waits && answers_find(asked, id))
			return error_set(&call->error, ERR_INVALID_INPUT,
			    "Each tool call can be answered only once");
		if (!waits)
			return error_set(&call->error, ERR_INVALID_INPUT,
			    "No remote tool call '%s' is waiting for a result", id);
		cJSON_Delete(cJSON_DetachItemViaPointer(calls, (cJSON *)waits));
		(*answered)++;
	}
	return true;
}

/* Moves the messages of from that are no tool messages, or with tools_too all, to the end of to. */
static void answers_move(cJSON *from, cJSON *to, bool tools_too)
{
	cJSON *message = from->child;
	while (message) {
		cJSON *next = message->next;
		if (tools_too || !message_is(message, "tool"))
			cJSON_AddItemToArray(to, cJSON_DetachItemViaPointer(from, message));
		message = next;
	}
}

bool answers_match(struct call *call, cJSON *bring, cJSON *calls, int *answered)
{
	const cJSON *asked = arena_json(call->arena, cJSON_Duplicate(calls, true));
	cJSON *message;
	cJSON_ArrayForEach(message, bring) {
		bool results = answers_call(message), is_tool = message_is(message, "tool");
		if (!results && !is_tool)
			continue;
		if ((!results && !answers_name_call(call, message, asked)) ||
		    !answers_take_results(call, message, asked, calls, answered))
			return false;
		/* tools nodes and models only look at the block */
		if (!is_tool)
			return error_set(&call->error, ERR_INVALID_INPUT,
			    "A tool result needs a message with the role tool");
	}
	/* answers first, then the rest, each in its own order */
	cJSON *rest = cJSON_CreateArray();
	answers_move(bring, rest, false);
	answers_move(rest, bring, true);
	cJSON_Delete(rest);
	return true;
}

/* Does without cJSON_InsertItemInArray, which in Debian 12 refuses every place but the first. */
void answers_close(struct call *call, cJSON *bring, const cJSON *calls)
{
	cJSON *rest = cJSON_CreateArray();
	const cJSON *item;
	char id[UUID_SIZE];
	answers_move(bring, rest, true);
	cJSON_ArrayForEach(item, calls) {
		cJSON *output = cJSON_CreateObject();
		cJSON_AddStringToObject(output, "error", "No result was provided");
		cJSON_AddItemToArray(bring,
		    message_tool_result(
			id_make(&call->service->ids, id), json_str(item, "id"), output, true));
	}
	answers_move(rest, bring, true);
	cJSON_Delete(rest);
}

bool answers_none_waiting(struct call *call, const cJSON *bring)
{
	const cJSON *message;
	int answered = 0;
	cJSON *none = arena_json(call->arena, cJSON_CreateArray());
	cJSON_ArrayForEach(message, bring) {
		bool results = answers_call(message);
		if (!results && message_is(message, "tool"))
			return answers_need_call_id(call, 0);
		if (results && !answers_take_results(call, message, none, none, &answered))
			return false;
	}
	return true;
}

/* ---- a conversation that is sent again ---- */

bool answers_calls_known(struct call *call, const struct thread *thread, const struct run_input *in)
{
	const struct message_known *known = NULL;
	const cJSON *message;
	int i = -1;
	cJSON_ArrayForEach(message, in->messages) {
		i++;
		if (!message_has_calls(message))
			continue;
		if (!known)
			known = messages_known(call, thread, in->messages, in->given_id);
		if (!known)
			return false;
		if (!known[i].known)
			return error_wrong(
			    &call->error, in->at[i], "value_error", RUN_INPUT_NO_CALLS);
	}
	return true;
}

/* Sets the members to true whose call the stored message answers, or makes for a tool of the
 * server, which nobody else answers. */
static bool answers_search(void *arg, const char *id, const char *body_json)
{
	const struct json_members *calls = arg;
	const cJSON *block;
	(void)id;
	if (!strstr(body_json, "\"tool_result\"") && !strstr(body_json, "\"tool_call\""))
		return true;
	cJSON *message = json_parse_own(body_json);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const char *call_id =
		    json_str(block, block_is(block, "tool_call") ? "id" : "call_id");
		cJSON *known = call_id ? json_members_get(calls, call_id) : NULL;
		if (known)
			known->type = cJSON_True;
	}
	cJSON_Delete(message);
	return true;
}

bool answers_drop_known(struct call *call, const struct thread *thread, struct run_input *in)
{
	struct storage *storage = call->service->storage;
	const struct page all = {.limit = INT64_MAX};
	/* a member for each call that the request answers, all false */
	cJSON *answers = arena_json(call->arena, cJSON_CreateObject());
	struct json_members calls;
	const cJSON *given;
	cJSON_ArrayForEach(given, in->messages) {
		const char *call_id = answers_call(given);
		if (call_id)
			cJSON_AddFalseToObject(answers, call_id);
	}
	json_members_unique(answers);
	if (!thread->row || !answers->child)
		return true;
	json_members_init(&calls, answers);
	bool ok = storage->threads->message_list(
	    storage, &call->ctx, thread->row, NULL, &all, answers_search, &calls, &call->error);
	size_t i = 0, kept = 0;
	for (cJSON *message = ok ? in->messages->child : NULL, *next; message; message = next) {
		const char *call_id = answers_call(message);
		next = message->next;
		if (call_id && cJSON_IsTrue(json_members_get(&calls, call_id)))
			cJSON_Delete(cJSON_DetachItemViaPointer(in->messages, message));
		else
			in->given_id[kept++] = in->given_id[i];
		i++;
	}
	json_members_release(&calls);
	return ok;
}
