#include "graph/model_node.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "graph/document.h"
#include "graph/message.h"
#include "graph/offer.h"
#include "graph/run.h"

#include <stdlib.h>
#include <string.h>

/* What a model is told to do with what leaves its window. */
#define SUMMARY_PROMPT                                                                             \
	"You keep the notes of a long conversation.  You are given the notes so far and the next " \
	"part of the conversation.  Write the new notes: every fact, name, number, decision, "     \
	"wish and open question that matters later, nothing else.  Answer with the notes only."

static void free_names(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

void model_node_free(void *data)
{
	struct model_node *node = data;
	chat_model_free(node->chat);
	template_free(node->system);
	free_names(node->tools);
	free(node->tool_name);
	free(node->summary_prompt);
	free(node->output);
	free(node);
}

/* ---- asking ---- */

struct asking {
	ag_run *run;
	bool show;
};

static bool show_text(const char *piece, void *arg)
{
	const struct asking *asking = arg;
	if (asking->show)
		ag_delta(asking->run, piece);
	return true;
}

static bool show_reasoning(const char *piece, void *arg)
{
	const struct asking *asking = arg;
	if (asking->show)
		ag_reasoning_delta(asking->run, piece);
	return true;
}

static bool out_of_time(void *arg)
{
	return ag_time_left_ms(((struct asking *)arg)->run) == 0;
}

ag_result model_ask(ag_run *run, const struct model_question *question, cJSON **answer)
{
	struct asking asking = {run, question->show};
	struct chat_result result = {0};
	const struct chat_request request = {
	    .system = question->system,
	    .messages = question->messages,
	    .tools = question->tools,
	    .tool_count = question->tool_count,
	    .choice = question->choice,
	    .tool_name = question->tool_name,
	    .traceparent = run_traceparent(run),
	    .deadline_ms = clock_monotonic_ms() + ag_time_left_ms(run),
	    .on_text = show_text,
	    .on_reasoning = show_reasoning,
	    .media = offer_media,
	    .stop = out_of_time,
	    .arg = &asking,
	};
	*answer = NULL;
	if (chat_call(question->chat, &request, &result) == CHAT_DONE) {
		*answer = result.message;
		result.message = NULL;
	} else {
		ag_fail(run, "%s", result.error ? result.error : "the model did not answer");
	}
	chat_result_release(&result);
	return *answer ? AG_OK : AG_ERROR;
}

/* ---- the window ---- */

static void add_line(struct buf *out, const cJSON *message)
{
	const cJSON *block;
	buf_printf(out, "%s: ", message_role(message));
	message_text(message, out);
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		bool call = block_is_call(block);
		char *json = NULL;
		if (call || block_is(block, "tool_result"))
			json = json_print(json_get(block, call ? "args" : "output"));
		if (json)
			buf_printf(out, call ? "[calls %s %s]" : "[%s %s]",
			    call ? json_str(block, "name") : "result", json);
		free(json);
	}
	buf_putc(out, '\n');
}

/* The notes so far and the messages that leave, as the one message of a request of its own. */
static cJSON *summary_messages(const char *notes, const cJSON *context, size_t count)
{
	struct buf text = {0};
	const cJSON *message;
	if (notes)
		buf_printf(&text, "The notes so far:\n%s\n\n", notes);
	buf_puts(&text, "The next part of the conversation:\n");
	cJSON_ArrayForEach(message, context) {
		if (count-- == 0)
			break;
		add_line(&text, message);
	}
	cJSON *messages = cJSON_CreateArray();
	cJSON_AddItemToArray(messages, message_new("user", "notes", content_text(buf_str(&text))));
	buf_release(&text);
	return messages;
}

/* The new notes, malloc'd; NULL when the model gave none. */
static char *sum_up(const struct model_node *node, ag_run *run, const char *notes,
    const cJSON *context, size_t count)
{
	cJSON *messages = summary_messages(notes, context, count), *answer;
	const struct model_question question = {
	    .chat = node->chat,
	    .system = node->summary_prompt ? node->summary_prompt : SUMMARY_PROMPT,
	    .messages = messages,
	    .choice = CHAT_TOOLS_NONE,
	};
	char *text = NULL;
	if (model_ask(run, &question, &answer) == AG_OK)
		text = ag_message_text(answer);
	cJSON_Delete(answer);
	cJSON_Delete(messages);
	if (text && *text)
		return text;
	free(text);
	return NULL;
}

/*
 * Cuts the context where it is past the window: *first is the first message that stays, *notes what
 * stands for the others, malloc'd or NULL.  Where the notes cannot be made the messages are not
 * shown this time, and stay.
 */
static void cut(const struct model_node *node, ag_run *run, const ag_state *state,
    const cJSON *context, const cJSON **first, char **notes)
{
	size_t count = window_cut(&node->window, context);
	const char *before = ag_summary(state);
	*first = cJSON_GetArrayItem(context, (int)count);
	*notes = before ? xstrdup(before) : NULL;
	if (!count)
		return;
	char *made = node->summary ? sum_up(node, run, before, context, count) : NULL;
	if (node->summary && !made) {
		ag_log(run, "the context could not be summed up and is shown in part only");
		return;
	}
	ag_trim(run, (*first)->prev, made);
	if (made) {
		free(*notes);
		*notes = made;
	}
}

/* The messages from first on, as references. */
static cJSON *messages_from(const cJSON *first)
{
	cJSON *messages = cJSON_CreateArray();
	for (; first; first = first->next)
		cJSON_AddItemReferenceToArray(messages, (cJSON *)first);
	return messages;
}

/* ---- the node ---- */

/* The prompt, and behind it the notes; malloc'd, or NULL when there is neither. */
static char *system_prompt(
    const struct model_node *node, ag_run *run, const ag_state *state, const char *notes)
{
	const struct values values = {run, state, NULL};
	char *prompt = node->system ? values_text(node->system, &values) : NULL;
	if (!notes || !*notes)
		return prompt;
	char *both = xasprintf("%s%sWhat was said before, in short:\n%s", prompt ? prompt : "",
	    prompt ? "\n\n" : "", notes);
	free(prompt);
	return both;
}

/* The answer's structured content, else its text. */
static cJSON *output_of(const cJSON *answer)
{
	const cJSON *parsed = json_opt(answer, "parsed_content");
	if (parsed)
		return cJSON_Duplicate(parsed, true);
	char *text = ag_message_text(answer);
	cJSON *item = cJSON_CreateString(text);
	free(text);
	return item;
}

/* Takes the answer over. */
static ag_result use(const struct model_node *node, ag_run *run, cJSON *answer)
{
	if (node->output && !message_has_calls(answer)) {
		ag_result result = ag_update(run, node->output, output_of(answer));
		if (result != AG_OK) {
			cJSON_Delete(answer);
			return result;
		}
	}
	if (!node->silent)
		return ag_message(run, answer);
	cJSON_Delete(answer);
	return AG_OK;
}

ag_result model_node_run(ag_run *run, const ag_state *state, void *data)
{
	const struct model_node *node = data;
	const cJSON *first;
	cJSON *answer;
	char *notes;
	struct offer offer;
	cut(node, run, state, ag_context(state), &first, &notes);
	char *system = system_prompt(node, run, state, notes);
	cJSON *messages = messages_from(first);
	offer_open(&offer, run, node->tools);
	const struct model_question question = {
	    .chat = node->chat,
	    .system = system,
	    .messages = messages,
	    .tools = offer.tools,
	    .tool_count = offer.count,
	    .choice = node->choice,
	    .tool_name = node->tool_name,
	    .show = !node->silent,
	};
	ag_result result = model_ask(run, &question, &answer);
	if (result == AG_OK)
		result = use(node, run, offer_mark(&offer, answer));
	offer_close(&offer);
	cJSON_Delete(messages);
	free(system);
	free(notes);
	return result;
}
