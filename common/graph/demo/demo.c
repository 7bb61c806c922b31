/* SPDX-License-Identifier: ISC */
/* The nodes, route and tools of the built-in demo. */
#include "graph/demo/demo.h"

#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/memory.h"
#include "graph/message/message.h"
#include "graph/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- after a tool message ---- */

/* The latest message of an array that asks for tools, or NULL. */
static const cJSON *demo_asking_message(const cJSON *messages)
{
	const cJSON *message, *found = NULL;
	cJSON_ArrayForEach(message, messages) {
		if (message_has_calls(message))
			found = message;
	}
	return found;
}

/* The results after the message that asked, by the ids of their calls; both can be many where a
 * client sends the whole conversation. */
static cJSON *demo_results(const cJSON *asking)
{
	cJSON *results = cJSON_CreateObject();
	const cJSON *message = asking ? asking->next : NULL, *block;
	for (; message; message = message->next) {
		cJSON_ArrayForEach(block, json_get(message, "content")) {
			const char *id = json_str(block, "call_id");
			if (id && block_is(block, "tool_result"))
				json_refer(results, id, block);
		}
	}
	json_members_unique(results);
	return results;
}

/* The results in the order of the calls.  The history is read only when an earlier run asked. */
static ag_result demo_answer_results(struct demo *d)
{
	const cJSON *asking = demo_asking_message(run_messages(d->run)), *call;
	const char *prefix = NULL;
	struct buf outputs = {0};
	struct json_members by_call;
	if (!asking)
		asking = demo_asking_message(ag_context(d->state));
	cJSON *results = demo_results(asking);
	json_members_init(&by_call, results);
	cJSON_ArrayForEach(call, json_get(asking, "content")) {
		const cJSON *result =
		    block_is_call(call) ? json_members_get(&by_call, json_str(call, "id")) : NULL;
		if (!result)
			continue;
		buf_puts(&outputs, prefix ? ", " : "");
		if (!prefix)
			prefix = block_is(call, "remote_tool_call")      ? "remote: "
			    : cJSON_IsTrue(json_get(result, "is_error")) ? "tool failed: "
									 : "sum: ";
		const cJSON *output = json_get(result, "output");
		char *text =
		    cJSON_IsString(output) ? xstrdup(output->valuestring) : json_print(output);
		buf_puts(&outputs, text);
		free(text);
	}
	ag_result result = demo_say(d, prefix ? prefix : "", buf_str(&outputs));
	buf_release(&outputs);
	json_members_release(&by_call);
	cJSON_Delete(results);
	return result;
}

/*
 * Whether a tool message came after the last assistant message of this run: then its result is what
 * to act on, whatever user message came with it.  In a new turn, tool messages before the user's
 * only close calls that were never answered.  A run that goes on at a checkpoint and has no message
 * yet acts on those of the run before.
 */
static bool demo_has_results(ag_run *run, const ag_state *state)
{
	const cJSON *message;
	bool found = false, new_turn = run_is_new_turn(run);
	if (!new_turn && !run_messages(run)->child)
		return message_is(ag_last_message(state), "tool");
	cJSON_ArrayForEach(message, run_messages(run)) {
		bool ends = new_turn || message_is(message, "assistant");
		found = message_is(message, "tool") || (found && !ends);
	}
	return found;
}

/* A node that runs again after a pause acts on the command that paused it, whatever was said
 * meanwhile or came with the answer.  Only this one pauses; its answer needs no question. */
#define PAUSING_COMMAND "/ask"

static ag_result demo_agent_node(ag_run *run, const ag_state *state, void *data)
{
	bool again = ag_answers(run) != NULL;
	struct demo d = {.run = run,
	    .state = state,
	    .text = again ? PAUSING_COMMAND : ag_user_text(state),
	    .rest = ""};
	(void)data;
	if (!again && demo_has_results(run, state))
		return demo_answer_results(&d);
	return demo_answer(&d);
}

/* To the tools after a call, back to the agent while a slow or endless command goes on, else to the
 * end. */
static const char *demo_agent_route(const ag_state *state, void *data)
{
	const cJSON *last = ag_last_message(state);
	(void)data;
	if (message_has_calls(last))
		return "tools";
	char *said = ag_message_text(last);
	const char *asked = ag_user_text(state);
	bool again = (demo_is_command(asked, "/slow") && strncmp(said, "tick ", 5) == 0) ||
	    (demo_is_command(asked, "/loop") && strcmp(said, "again") == 0);
	free(said);
	return again ? "agent" : AG_END;
}

static ag_result demo_tool_add(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const cJSON *a = json_get(args, "a"), *b = json_get(args, "b");
	int64_t x, y, sum;
	double u, v;
	(void)data;
	if (json_integer(a, &x) && json_integer(b, &y) && !__builtin_add_overflow(x, y, &sum)) {
		*output = json_new_int(sum);
		return AG_OK;
	}
	if (!json_number(a, &u) || !json_number(b, &v))
		return ag_fail(run, "a and b must be numbers");
	*output = json_new_double(u + v);
	return AG_OK;
}

static ag_result demo_tool_fail(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	(void)args, (void)output, (void)data;
	return ag_fail(run, "demo failure");
}

void graph_demo_add(ag_graph *graph)
{
	ag_graph_tool(graph, "tools", "add", "Adds two numbers",
	    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{\"type\":"
	    "\"number\"}},\"required\":[\"a\",\"b\"]}",
	    demo_tool_add, NULL);
}

int graph_demo(ag_graph *graph)
{
	static const char *const targets[] = {"tools", "agent", AG_END, NULL};
	ag_graph_state_type(graph, "DemoState");
	ag_graph_field(graph, "notes", "array", AG_APPEND, NULL, "What /note was told");
	ag_graph_node(graph, "agent", demo_agent_node, NULL);
	ag_graph_tools(graph, "tools");
	graph_demo_add(graph);
	ag_graph_tool(graph, "tools", "fail", "Always fails", NULL, demo_tool_fail, NULL);
	ag_graph_edge(graph, AG_START, "agent");
	ag_graph_branch(graph, "agent", demo_agent_route, NULL, targets);
	ag_graph_edge(graph, "tools", "agent");
	return 0;
}
