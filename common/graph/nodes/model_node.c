/* SPDX-License-Identifier: ISC */
/* The prompt, the window, the question, and what is done with the answer. */
#include "graph/nodes/model_node.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "graph/document/document.h"
#include "graph/message/message.h"
#include "graph/nodes/ask.h"
#include "graph/nodes/offer.h"
#include "graph/nodes/recall.h"
#include "graph/run.h"

#include <stdlib.h>

void model_node_free(void *data)
{
	struct model_node *node = data;
	chat_model_free(node->chat);
	template_free(node->system);
	free(node->tools);
	free(node->tool_name);
	free(node->shortening.prompt);
	cJSON_Delete(node->recall);
	free(node->output);
	free(node);
}

/* ---- What the model is shown */

static void model_node_add_part(struct buf *prompt, const char *heading, const char *text)
{
	if (!text || !*text)
		return;
	buf_printf(prompt, "%s%s%s", prompt->len ? "\n\n" : "", heading, text);
}

/* The system prompt, malloc'd; "" when there is nothing to say. */
static char *model_node_system_prompt(
    const struct model_node *node, ag_run *run, const ag_state *state, const char *notes)
{
	const struct values values = {run, state, NULL};
	char *own = node->system ? values_text(node->system, &values) : NULL;
	char *memories = node->recall ? recall(run, state, node->recall) : NULL;
	struct buf prompt = {0};
	model_node_add_part(&prompt, "", own);
	model_node_add_part(
	    &prompt, "What is known of the user from earlier conversations:\n", memories);
	model_node_add_part(&prompt, "What was said before, in short:\n", notes);
	free(memories);
	free(own);
	return buf_detach(&prompt);
}

/* The messages from first on, as references.  Where a turn is so long that the question of this run
 * has left, that still stands before them: nobody can answer without it. */
static cJSON *model_node_messages_from(const ag_run *run, const cJSON *first)
{
	cJSON *messages = cJSON_CreateArray();
	const cJSON *asked = first;
	while (asked && !message_is(asked, "user"))
		asked = asked->next;
	const cJSON *question = asked ? NULL : message_last(run_messages(run), "user");
	if (question)
		cJSON_AddItemReferenceToArray(messages, (cJSON *)question);
	for (; first; first = first->next)
		cJSON_AddItemReferenceToArray(messages, (cJSON *)first);
	return messages;
}

/* ---- What becomes of its answer */

/* Takes the answer over.  A state field gets its structured content, else its text. */
static ag_result model_node_use(const struct model_node *node, ag_run *run, cJSON *answer)
{
	bool calls = message_has_calls(answer);
	if (node->output && !calls) {
		const cJSON *parsed = json_opt(answer, "parsed_content");
		char *text = ag_message_text(answer);
		ag_update(run, node->output,
		    parsed ? cJSON_Duplicate(parsed, true) : cJSON_CreateString(text));
		free(text);
	}
	if (!node->silent)
		return ag_message(run, answer);
	model_spent(run, answer);
	cJSON_Delete(answer);
	return calls ? ag_fail(run, "the model asked for a tool, and has none") : AG_OK;
}

/* ---- The node */

ag_result model_node_run(ag_run *run, const ag_state *state, void *data)
{
	const struct model_node *node = data;
	const cJSON *context = run_context(run);
	struct offer offer;
	cJSON *answer;
	char *notes;
	if (!context)
		return AG_ERROR;
	const cJSON *first = shorten(&node->shortening, node->chat, run, context, &notes);
	char *system = model_node_system_prompt(node, run, state, notes);
	cJSON *messages = model_node_messages_from(run, first);
	const cJSON *last = ag_last_message(state);
	bool forced = node->choice == CHAT_TOOLS_REQUIRED || node->choice == CHAT_TOOLS_NAMED;
	/* a model that was forced to call is not forced again once the result is there */
	bool made = forced && last && message_is(last, "tool");
	offer_open(&offer, run, node->tools);
	const struct model_question question = {
	    .chat = node->chat,
	    .system = system,
	    .messages = messages,
	    .tools = offer.tools,
	    .tool_count = offer.count,
	    .choice = made || !offer.count ? CHAT_TOOLS_AUTO : node->choice,
	    .tool_name = node->tool_name,
	    .show = !node->silent,
	};
	ag_result result = model_ask(run, &question, &answer);
	if (result == AG_OK)
		result = model_node_use(node, run, offer_mark(&offer, answer));
	offer_close(&offer);
	cJSON_Delete(messages);
	free(system);
	free(notes);
	return result;
}
