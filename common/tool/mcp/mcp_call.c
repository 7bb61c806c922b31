/* SPDX-License-Identifier: ISC */
/* A call of a server's tool: once more in a new session where the old one had ended, and again with
 * answers as long as the server asks for something. */
#include "tool/mcp/mcp.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "tool/mcp/mcp_internal.h"
#include "tool/mcp/mcp_version.h"

#include <stdio.h>
#include <string.h>

#define MOST_ROUNDS 10   /* how often a server may ask in one call */
#define LOAD_REST_MS 250 /* before the next try at a server that wants one and asks nothing */

/* Makes one try; NULL with why. */
static cJSON *mcp_call_once(struct mcp_server *server, const struct mcp_call *call,
    const cJSON *params, char why[MCP_WHY_SIZE], bool *unsent)
{
	struct mcp_tools *tools = mcp_server_tools(server, call->wait, why);
	*unsent = false;
	if (!tools)
		return NULL;
	const struct mcp_tool *tool = mcp_tools_get(tools, call->tool);
	struct mcp_asked asked = {.method = "tools/call",
	    .params = cJSON_Duplicate(params, true),
	    .wait = call->wait,
	    .call = call,
	    .parameters = tool ? tool->parameters : NULL};
	cJSON *reply = mcp_exchange(server, &asked, why);
	*unsent = asked.unsent;
	mcp_tools_release(tools);
	return reply;
}

static cJSON *mcp_call_twice(struct mcp_server *server, const struct mcp_call *call,
    const cJSON *params, char why[MCP_WHY_SIZE])
{
	bool unsent;
	cJSON *reply = mcp_call_once(server, call, params, why, &unsent);
	if (!reply && unsent) /* the session had ended unnoticed */
		reply = mcp_call_once(server, call, params, why, &unsent);
	if (!reply)
		return NULL;
	int64_t code = 0;
	json_integer(json_opt(json_get(reply, "error"), "code"), &code);
	pthread_mutex_lock(&server->lock);
	unsigned session = server->session;
	/* the session was good for something: the next failure is the first one again */
	server->failures = 0;
	pthread_mutex_unlock(&server->lock);
	if (code == MCP_UNSUPPORTED_VERSION)
		mcp_lose(server, session, "the server does not speak this version any more");
	return reply;
}

/* The answer to one of the questions in a result, a new tree; NULL with why. */
static cJSON *mcp_answer_input(
    const struct mcp_call *call, const cJSON *question, char why[MCP_WHY_SIZE])
{
	const char *method = json_str(question, "method");
	cJSON *answer = NULL;
	if (method && strcmp(method, "elicitation/create") == 0 && call->ask) {
		snprintf(why, MCP_WHY_SIZE, "nobody answered what the server asks");
		return call->ask(json_get(question, "params"), &answer, call->arg) ? answer : NULL;
	}
	answer = method ? mcp_own_answer(method) : NULL;
	if (!answer)
		snprintf(why, MCP_WHY_SIZE, "the server asks for %.100s, which this client has not",
		    method ? method : "nothing");
	return answer;
}

/* Turns the parameters into those of the next try, with answers to what the result asks; false with
 * why. */
static bool mcp_answer_inputs(
    const struct mcp_call *call, const cJSON *result, cJSON *params, char why[MCP_WHY_SIZE])
{
	const cJSON *questions = json_opt(result, "inputRequests"), *question;
	const cJSON *state = json_opt(result, "requestState");
	cJSON *answers = cJSON_CreateObject(), *answer;
	cJSON_DeleteItemFromObjectCaseSensitive(params, "inputResponses");
	cJSON_DeleteItemFromObjectCaseSensitive(params, "requestState");
	cJSON_ArrayForEach(question, questions) {
		if (!question->string)
			snprintf(why, MCP_WHY_SIZE, "the server asks without naming its questions");
		if (!question->string || !(answer = mcp_answer_input(call, question, why))) {
			cJSON_Delete(answers);
			return false;
		}
		cJSON_AddItemToObject(answers, question->string, answer);
	}
	if (answers->child)
		cJSON_AddItemToObject(params, "inputResponses", answers);
	else
		cJSON_Delete(answers);
	if (cJSON_IsString(state))
		cJSON_AddStringToObject(params, "requestState", state->valuestring);
	if (!questions)
		clock_sleep_ms(LOAD_REST_MS);
	return true;
}

/* Calls until the server has all that it asks for; its reply, or NULL with why. */
static cJSON *mcp_call_through(
    struct mcp_server *server, const struct mcp_call *call, char why[MCP_WHY_SIZE])
{
	cJSON *params = cJSON_CreateObject(), *reply;
	json_add_str(params, "name", call->tool);
	cJSON_AddItemToObject(params, "arguments", cJSON_Duplicate(call->args, true));
	for (int round = 0;; round++) {
		reply = mcp_call_twice(server, call, params, why);
		const cJSON *result = json_get(reply, "result");
		const char *type = json_str(result, "resultType");
		if (!type || strcmp(type, "complete") == 0)
			break;
		bool asks = strcmp(type, "input_required") == 0;
		if (!asks)
			snprintf(
			    why, MCP_WHY_SIZE, "the result is of an unknown type, %.60s", type);
		else if (round == MOST_ROUNDS)
			snprintf(why, MCP_WHY_SIZE, "the server asks again and again");
		if (asks && round < MOST_ROUNDS && mcp_answer_inputs(call, result, params, why)) {
			cJSON_Delete(reply);
			continue;
		}
		cJSON_Delete(reply);
		reply = NULL;
		break;
	}
	cJSON_Delete(params);
	return reply;
}

bool mcp_server_call(
    struct mcp_server *server, const struct mcp_call *call, cJSON **output, char why[MCP_WHY_SIZE])
{
	struct mcp_wait wait = *call->wait;
	struct mcp_call own = *call;
	int64_t deadline = clock_monotonic_ms() + server->settings.timeout_ms;
	bool is_error;
	own.wait = &wait;
	*output = NULL;
	*why = '\0';
	if (deadline < wait.deadline_ms)
		wait.deadline_ms = deadline;
	cJSON *reply = mcp_call_through(server, &own, why);
	if (!reply)
		return false;
	const cJSON *result = json_get(reply, "result");
	if (result)
		*output = mcp_output(result, &is_error);
	else
		mcp_error_text(json_get(reply, "error"), why);
	cJSON_Delete(reply);
	return result && !is_error;
}
