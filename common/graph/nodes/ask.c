/* SPDX-License-Identifier: ISC */
/* One question with its streamed answer, which is asked again when its form is wrong. */
#include "graph/nodes/ask.h"

#include "base/json/json.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "graph/message/message.h"
#include "graph/nodes/offer.h"
#include "graph/run_internal.h"
#include "tool/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One call */

struct asking {
	ag_run *run; /* first, for offer_media */
	bool text, reasoning;
};

static bool ask_show_text(const char *piece, void *arg)
{
	const struct asking *asking = arg;
	if (asking->text)
		ag_delta(asking->run, piece);
	return true;
}

static bool ask_show_reasoning(const char *piece, void *arg)
{
	const struct asking *asking = arg;
	if (asking->reasoning)
		ag_reasoning_delta(asking->run, piece);
	return true;
}

static bool ask_out_of_time(void *arg)
{
	return ag_time_left_ms(((struct asking *)arg)->run) == 0;
}

/* *format is what the answer has to be, NULL for text. */
static ag_result ask_once(
    struct asking *asking, const struct model_question *q, cJSON **answer, const cJSON **format)
{
	ag_run *run = asking->run;
	struct chat_result result = {0};
	const struct chat_request request = {
	    .system = q->system,
	    .messages = q->messages,
	    .tools = q->tools,
	    .tool_count = q->tool_count,
	    .choice = q->choice,
	    .tool_name = q->tool_name,
	    .plain = q->plain,
	    .trace = run_trace(run),
	    .deadline_ms = clock_monotonic_ms() + ag_time_left_ms(run),
	    .on_text = asking->text ? ask_show_text : NULL,
	    .on_reasoning = asking->reasoning ? ask_show_reasoning : NULL,
	    .media = offer_media,
	    .stop = ask_out_of_time,
	    .arg = asking,
	};
	*answer = NULL;
	if (chat_call(q->chat, &request, &result) == CHAT_DONE) {
		*answer = result.message;
		*format = result.format;
		result.message = NULL;
	} else {
		ag_fail(run, "%s", result.error ? result.error : "the model did not answer");
	}
	chat_result_release(&result);
	return *answer ? AG_OK : AG_ERROR;
}

/* ---- Structured answers */

static bool ask_fits(const cJSON *format, const cJSON *answer, char why[SCHEMA_WHY_SIZE])
{
	const cJSON *value = json_opt(answer, "parsed_content");
	const cJSON *form = json_opt(format, "schema");
	if (!format || message_has_calls(answer))
		return true;
	if (value && form) {
		struct problems problems = {0};
		struct schema *schema = schema_compile(form, "schema", &problems);
		bool fits = !schema || schema_accepts(schema, value, "answer", why);
		schema_free(schema);
		problems_release(&problems);
		return fits;
	}
	if (value && cJSON_IsObject(value))
		return true;
	snprintf(why, SCHEMA_WHY_SIZE, "answer: expected %s",
	    value ? "a JSON object" : "JSON and nothing else");
	return false;
}

/* The conversation with the answer in it, as references, and what is wrong with that. */
static cJSON *ask_with_complaint(const cJSON *messages, const cJSON *answer, const char *why)
{
	cJSON *all = cJSON_CreateArray();
	const cJSON *message;
	char *text = xasprintf("This answer does not have the form that was asked for: %s.  Answer "
			       "again, in that form and with nothing else.",
	    why);
	cJSON_ArrayForEach(message, messages)
		cJSON_AddItemReferenceToArray(all, (cJSON *)message);
	cJSON_AddItemReferenceToArray(all, (cJSON *)answer);
	cJSON_AddItemToArray(all, message_new("user", "complaint", content_text(text)));
	free(text);
	return all;
}

void model_spent(ag_run *run, const cJSON *answer)
{
	message_usage(answer, &run->usage);
	message_count_tokens(answer);
}

/* Whether the model, or its provider, refuses an answer: it would do so again. */
static bool ask_is_refused(const cJSON *answer)
{
	return json_str_is(json_get(answer, "metadata"), "finish_reason", "content_filter");
}

/* Fails with an answer that is not of the form, of which only the cost remains. */
static ag_result ask_fail(ag_run *run, cJSON **answer, const char *why)
{
	const char *end = json_str(json_get(*answer, "metadata"), "finish_reason");
	bool cut = end && strcmp(end, "stop") != 0;
	char *text = ag_message_text(*answer);
	if (ask_is_refused(*answer))
		ag_fail(run, "the model refused to answer, or its answer was withheld%s%s",
		    *text ? ": " : "", text);
	else
		ag_fail(run, "the model gave no answer of the form that it was asked for: %s%s%s",
		    why, cut ? "; it ended with " : "", cut ? end : "");
	free(text);
	model_spent(run, *answer);
	cJSON_Delete(*answer);
	*answer = NULL;
	return AG_ERROR;
}

/* What the refused answer cost counts with the new one. */
static void ask_add_usages(cJSON *answer, const cJSON *refused)
{
	cJSON *usages = json_opt(answer, "usages");
	const cJSON *number;
	cJSON_ArrayForEach(number, json_opt(refused, "usages")) {
		int64_t more;
		if (!cJSON_IsObject(usages) || !json_integer(number, &more))
			continue;
		more += json_int(usages, number->string, 0);
		json_set(usages, number->string, json_new_int(more));
	}
}

static ag_result ask_again(
    struct asking *asking, const struct model_question *question, cJSON **answer, const char *first)
{
	char why[SCHEMA_WHY_SIZE];
	cJSON *refused = *answer, *all = ask_with_complaint(question->messages, refused, first);
	struct model_question again = *question;
	const cJSON *format = NULL;
	again.messages = all;
	asking->reasoning = false; /* the first answer's was shown */
	ag_result result = ask_once(asking, &again, answer, &format);
	if (result == AG_OK)
		ask_add_usages(*answer, refused);
	else
		model_spent(asking->run, refused);
	if (result == AG_OK && !ask_fits(format, *answer, why))
		result = ask_fail(asking->run, answer, why);
	cJSON_Delete(all);
	cJSON_Delete(refused);
	return result;
}

ag_result model_ask(ag_run *run, const struct model_question *question, cJSON **answer)
{
	const bool text = question->show && !chat_model_wants_json(question->chat);
	struct asking asking = {run, text, question->show};
	const cJSON *format = NULL;
	char why[SCHEMA_WHY_SIZE];
	ag_result result = ask_once(&asking, question, answer, &format);
	if (result == AG_OK && !ask_fits(format, *answer, why))
		result = ask_is_refused(*answer) ? ask_fail(run, answer, why)
						 : ask_again(&asking, question, answer, why);
	run->frame.cut = run->frame.cut || message_is_cut(*answer);
	return result;
}
