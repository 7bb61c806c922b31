/* SPDX-License-Identifier: ISC */
/* A message to another agent, its answer as it comes, and its questions as pauses. */
#include "graph/nodes/nodes.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/run.h"
#include "tool/a2a/a2a_peer.h"

#include <stdlib.h>

#define MEMORY "a2a" /* the member of metadata */

/* What the latest message of this node says of the conversation, or NULL. */
static const cJSON *a2a_node_memory(ag_run *run, const ag_state *state)
{
	const cJSON *message, *memory, *found = NULL;
	cJSON_ArrayForEach(message, ag_context(state)) {
		memory = json_get(json_get(message, "metadata"), MEMORY);
		if (message_is(message, "assistant") &&
		    json_str_is(memory, "node", ag_node_name(run)))
			found = memory;
	}
	return found;
}

static void a2a_node_show(const char *piece, void *arg)
{
	ag_delta(arg, piece);
}

static void a2a_node_remember(cJSON *memory, ag_run *run, const struct a2a_exchange *x)
{
	json_add_str(memory, "node", ag_node_name(run));
	if (x->context)
		json_add_str(memory, "context_id", x->context);
	if (x->task)
		json_add_str(memory, "task_id", x->task);
}

static ag_result a2a_node_say(ag_run *run, const struct a2a_exchange *x)
{
	cJSON *message = cJSON_CreateObject();
	json_add_str(message, "role", "assistant");
	json_add_str(message, "content", buf_str(&x->answer));
	cJSON *metadata = json_add(message, "metadata", cJSON_CreateObject());
	a2a_node_remember(json_add(metadata, MEMORY, cJSON_CreateObject()), run, x);
	return ag_message(run, message);
}

/* Pauses for the peer's question.  What it has said so far comes again with the rest, because a
 * node that pauses has said nothing. */
static ag_result a2a_node_ask(ag_run *run, const struct a2a_exchange *x)
{
	const cJSON *answer;
	cJSON *value = cJSON_CreateObject();
	json_add_str(value, "question", buf_str(&x->question));
	cJSON *memory = json_add(value, MEMORY, cJSON_CreateObject());
	a2a_node_remember(memory, run, x);
	json_add(memory, "artifacts", cJSON_Duplicate(x->artifacts, true));
	json_add_str(memory, "said", buf_str(&x->answer));
	return ag_interrupt(run, NULL, value, &answer);
}

static ag_result a2a_node_end(ag_run *run, struct a2a_exchange *x, enum a2a_outcome outcome)
{
	switch (outcome) {
	case A2A_PEER_ASKS:
		return a2a_node_ask(run, x);
	case A2A_PEER_DONE:
		if (!x->answer.len)
			return ag_fail(run, "the agent gave no answer in text");
		return a2a_node_say(run, x);
	case A2A_PEER_FAILED:
		break;
	}
	return ag_fail(run, "the agent: %s", x->why);
}

ag_result a2a_node_run(ag_run *run, const ag_state *state, void *data)
{
	const struct a2a_node *node = data;
	run_limit_node(run, (double)node->timeout_ms / 1000);
	/* the latest question's counts; the earlier answers were told when they were given */
	const cJSON *answer = NULL;
	for (int i = cJSON_GetArraySize(ag_answers(run)); i > 0; i--)
		ag_interrupt(run, NULL, cJSON_CreateNull(), &answer);
	const cJSON *memory = answer ? json_get(run_question(run), MEMORY) : NULL;
	const char *said = json_str(memory, "said");
	if (!memory)
		memory = a2a_node_memory(run, state);
	char *text = answer || !node->text ? NULL : node->text(run, state, node->arg);
	bool says_data = cJSON_IsObject(answer) || cJSON_IsArray(answer);
	char *printed = answer && !says_data && !cJSON_IsString(answer) ? json_print(answer) : NULL;
	struct a2a_exchange x = {.text = printed ? printed
		: cJSON_IsString(answer)         ? answer->valuestring
		: text                           ? text
						 : ag_user_text(state),
	    .data = says_data ? answer : NULL,
	    .context_id = json_str(memory, "context_id"),
	    .task_id = said ? json_str(memory, "task_id") : NULL,
	    .told = json_get(memory, "artifacts"),
	    .trace = run_trace(run),
	    .deadline_ms = clock_monotonic_ms() + ag_time_left_ms(run),
	    .stop = run_stop_requested,
	    .on_text = a2a_node_show,
	    .arg = run};
	ag_result result = AG_ERROR;
	if (run_has_read(run)) {
		if (said && *said) {
			buf_printf(&x.answer, "%s\n\n", said);
			ag_delta(run, buf_str(&x.answer));
		}
		result = a2a_node_end(run, &x, a2a_peer_send(node->peer, &x));
	}
	a2a_exchange_release(&x);
	cJSON_free(printed);
	free(text);
	return result;
}
