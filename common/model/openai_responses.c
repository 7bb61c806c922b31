/* SPDX-License-Identifier: ISC */
/*
 * OpenAI's responses.  The conversation is sent whole and nothing is stored there; what a model has
 * thought goes back to it, sealed, with the calls it led to, as long as these are being worked on.
 */
#include "base/json/json.h"
#include "base/memory.h"
#include "model/openai_parts.h"
#include "model/provider.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- The request */

static char *responses_url(const char *base_url, const char *model, bool stream)
{
	(void)model, (void)stream;
	return openai_address(base_url, "responses");
}

static cJSON *responses_add_message(cJSON *input, const char *role)
{
	cJSON *message = json_append(input, json_typed("message"));
	json_add_str(message, "role", role);
	return message;
}

/* Appends a part of that type, whose text stands under name. */
static void responses_add_part(cJSON *parts, const char *type, const char *name, const char *value)
{
	json_add_str(json_append(parts, json_typed(type)), name, value);
}

static bool responses_is_pdf(const cJSON *block, const struct chat_part_media *media)
{
	bool unknown = !*media->mime_type && chat_block_is(block, "document");
	return strcasecmp(media->mime_type, "application/pdf") == 0 ||
	    (unknown && media->kind == MEDIA_URL);
}

static bool responses_takes(const cJSON *block, const char *mime_type)
{
	return chat_block_is(block, "image") || strcasecmp(mime_type, "application/pdf") == 0;
}

static void responses_add_media(const struct chat_build *b, cJSON *parts, const cJSON *block)
{
	const struct chat_part_media media = chat_media_next(b, block);
	char *text;
	if (chat_block_is(block, "image") && chat_media_is_whole(&media)) {
		text = openai_data_url(&media, "image/png");
		responses_add_part(parts, "input_image", "image_url", text);
	} else if (media.kind == MEDIA_BYTES && responses_is_pdf(block, &media)) {
		text = openai_data_url(&media, "application/pdf");
		responses_add_part(parts, "input_file", "file_data", text);
		json_add_str(json_last(parts), "filename", media.filename);
	} else if (media.kind == MEDIA_URL && responses_is_pdf(block, &media)) {
		text = openai_data_url(&media, "application/pdf");
		responses_add_part(parts, "input_file", "file_url", text);
	} else {
		text = chat_media_note(block, &media);
		responses_add_part(parts, "input_text", "text", text);
	}
	free(text);
}

/* Moves the values that a block of reasoning keeps for this model under that name to out. */
static void responses_kept(
    const struct chat_target *t, const cJSON *block, const char *name, cJSON *out)
{
	const cJSON *at = chat_details(block);
	for (cJSON *detail; (detail = chat_details_next(&at, "openai"));) {
		cJSON *value = json_get(detail, "value");
		if (cJSON_IsObject(value) && json_str_is(detail, "model", t->model) &&
		    json_str_is(detail, "returns", name))
			json_append(out, cJSON_DetachItemViaPointer(detail, value));
		cJSON_Delete(detail);
	}
}

/* Adds what the assistant said.  Reasoning is refused without what it led to, so it waits for
 * that. */
static void responses_add_assistant(
    const struct chat_target *t, cJSON *input, const struct chat_turn *turn, bool at_work)
{
	cJSON *kept = cJSON_CreateArray(), *waiting = cJSON_CreateArray();
	/* by the numbers of the turn's texts; borrowed from kept */
	const char **phases = xcalloc(turn->count, sizeof(*phases));
	const cJSON *item;
	size_t texts = 0;
	int64_t text;
	for (size_t i = 0; i < turn->count; i++)
		if (chat_block_is(turn->blocks[i], "reasoning"))
			responses_kept(t, turn->blocks[i], "phase", kept);
	cJSON_ArrayForEach(item, kept) {
		if (json_integer(json_opt(item, "text"), &text) && text >= 0 &&
		    text < (int64_t)turn->count && !phases[text])
			phases[text] = json_str(item, "phase");
	}
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i];
		bool is_text = chat_block_is(block, "text");
		if (at_work && chat_block_is(block, "reasoning"))
			responses_kept(t, block, "reasoning", waiting);
		if (!is_text && !chat_block_is_call(block))
			continue;
		while (waiting->child)
			json_append(input, cJSON_DetachItemViaPointer(waiting, waiting->child));
		if (!is_text) {
			cJSON *call = json_append(input, json_typed("function_call"));
			char *args = json_print(json_get(block, "args"));
			json_add_str(call, "call_id", json_str(block, "id"));
			json_add_str(call, "name", json_str(block, "name"));
			json_add_str(call, "arguments", args);
			free(args);
			continue;
		}
		cJSON *message = responses_add_message(input, "assistant");
		const char *phase = phases[texts++];
		json_add_str(message, "content", json_str(block, "text"));
		if (phase)
			cJSON_AddStringToObject(message, "phase", phase);
	}
	free(phases);
	cJSON_Delete(waiting);
	cJSON_Delete(kept);
}

static void responses_add_result(cJSON *input, const char *call_id, const char *text)
{
	cJSON *result = json_append(input, json_typed("function_call_output"));
	json_add_str(result, "call_id", call_id);
	json_add_str(result, "output", text);
}

/* Whether it is known as a model that reasons; others refuse to be asked for what they thought. */
static bool responses_reasons(const char *model)
{
	const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
	if (name[0] == 'o' && isdigit((unsigned char)name[1]))
		return true;
	return strncmp(name, "gpt-", 4) == 0 && strtol(name + 4, NULL, 10) >= 5 &&
	    !strstr(name, "-chat");
}

static void responses_build(const struct chat_build *b, cJSON *body)
{
	static const struct openai_form form = {.message = responses_add_message,
	    .text_part = "input_text",
	    .media = responses_add_media,
	    .assistant = responses_add_assistant,
	    .result = responses_add_result};
	const cJSON *format = json_opt(b->target->settings, "response_format");
	const char *effort = json_str(b->target->settings, "reasoning_effort");
	json_add_str(body, "model", b->target->model);
	cJSON *input = cJSON_AddArrayToObject(body, "input");
	if (*b->system)
		json_add_str(body, "instructions", b->system);
	openai_add_turns(b, input, &form);
	openai_add_tools(b, body, &form);
	chat_copy_setting(b, "temperature", body, "temperature");
	chat_copy_setting(b, "top_p", body, "top_p");
	chat_copy_setting(b, "max_tokens", body, "max_output_tokens");
	if (effort) {
		cJSON *reasoning = cJSON_AddObjectToObject(body, "reasoning");
		json_add_str(reasoning, "effort", effort);
		if (strcmp(effort, "none") != 0)
			json_add_str(reasoning, "summary", "auto");
	}
	if (effort || responses_reasons(b->target->model))
		json_append(cJSON_AddArrayToObject(body, "include"),
		    cJSON_CreateString("reasoning.encrypted_content"));
	if (b->target->format != CHAT_FORMAT_TEXT) {
		cJSON *out =
		    cJSON_AddObjectToObject(cJSON_AddObjectToObject(body, "text"), "format");
		json_add_str(out, "type", json_str(format, "type"));
		if (b->target->format == CHAT_FORMAT_SCHEMA)
			openai_add_schema(b, out);
	}
	cJSON_AddFalseToObject(body, "store");
	if (b->target->stream)
		cJSON_AddTrueToObject(body, "stream");
}

/* ---- The answer */

static bool responses_has(const struct chat_answer *a, enum chat_part_kind kind, int64_t index)
{
	for (size_t i = a->count; i-- > 0;)
		if (a->parts[i].kind == kind && a->parts[i].index == index)
			return a->parts[i].text.len > 0;
	return false;
}

/* A part of reasoning begins: a summary has several. */
static void responses_separate(struct chat_answer *a, int64_t index)
{
	if (responses_has(a, PART_REASONING, index))
		chat_answer_add(a, PART_REASONING, index, "\n\n");
}

/* Takes an item of reasoning.  With its seal, or from an open model with its text, it goes back
 * later; without either it only names what was not stored. */
static void responses_take_reasoning(struct chat_answer *a, const cJSON *item, int64_t index)
{
	const cJSON *summary = json_opt(item, "summary"), *content = json_opt(item, "content");
	const cJSON *part;
	if (!responses_has(a, PART_REASONING, index)) {
		cJSON_ArrayForEach(part, summary) {
			responses_separate(a, index);
			chat_answer_add(a, PART_REASONING, index, json_str(part, "text"));
		}
		cJSON_ArrayForEach(part, content)
			chat_answer_add(a, PART_REASONING, index, json_str(part, "text"));
	}
	if (!json_str(item, "encrypted_content") && !(content && content->child))
		return;
	cJSON *value = cJSON_Duplicate(item, true);
	cJSON_DeleteItemFromObjectCaseSensitive(value, "status");
	openai_keep(a, index, "reasoning", NULL, value);
}

/* Keeps the phase of a text: some models want it back as the remark, or the answer, that it was. */
static void responses_keep_phase(struct chat_answer *a, const char *phase)
{
	int64_t texts = 0, index = 0;
	for (size_t i = 0; i < a->count; i++) {
		texts += a->parts[i].kind == PART_TEXT;
		index = a->parts[i].kind == PART_REASONING ? a->parts[i].index : index;
	}
	cJSON *value = cJSON_CreateObject();
	json_add_int(value, "text", texts - 1);
	json_add_str(value, "phase", phase);
	openai_keep(a, index, "phase", NULL, value);
}

/* An item that is complete; its text has come before, where it was streamed. */
static void responses_take_item(struct chat_answer *a, const cJSON *item, int64_t index)
{
	const cJSON *part;
	if (chat_block_is(item, "reasoning")) {
		responses_take_reasoning(a, item, index);
	} else if (chat_block_is(item, "function_call")) {
		struct chat_part *call = chat_answer_part(a, PART_CALL, index);
		chat_part_name(a, call, json_str(item, "call_id"), json_str(item, "name"));
		if (call->text.len == 0)
			chat_answer_add(a, PART_CALL, index, json_str(item, "arguments"));
	} else if (chat_block_is(item, "message")) {
		const cJSON *content = json_opt(item, "content");
		if (responses_has(a, PART_TEXT, index))
			content = NULL;
		cJSON_ArrayForEach(part, content) {
			chat_answer_add(a, PART_TEXT, index, json_str(part, "text"));
			chat_answer_refuse(a, index, json_str(part, "refusal"));
		}
		if (json_str(item, "phase") && responses_has(a, PART_TEXT, index))
			responses_keep_phase(a, json_str(item, "phase"));
	}
}

static void responses_take_output(struct chat_answer *a, const cJSON *response)
{
	const cJSON *item;
	int64_t index = 0;
	cJSON_ArrayForEach(item, json_opt(response, "output"))
		responses_take_item(a, item, index++);
}

static void responses_take_rest(struct chat_answer *a, const cJSON *response)
{
	static const char *const reasons[][2] = {
	    {"max_output_tokens", "length"}, {"incomplete", "length"}, {NULL, NULL}};
	const char *why = json_str(json_opt(response, "incomplete_details"), "reason");
	const char *end = "stop";
	const cJSON *usage = json_opt(response, "usage");
	const cJSON *in = json_opt(usage, "input_tokens_details");
	const cJSON *out = json_opt(usage, "output_tokens_details");
	for (size_t i = 0; i < a->count; i++)
		if (a->parts[i].kind == PART_CALL)
			end = "tool_calls";
	if (json_str_is(response, "status", "incomplete"))
		end = why ? why : "incomplete";
	chat_answer_model(a, json_str(response, "model"));
	chat_usage_take(&a->usage.prompt, usage, "input_tokens");
	chat_usage_take(&a->usage.completion, usage, "output_tokens");
	chat_usage_take(&a->usage.total, usage, "total_tokens");
	chat_usage_take(&a->usage.cache_read, in, "cached_tokens");
	chat_usage_take(&a->usage.cache_creation, in, "cache_write_tokens");
	chat_usage_take(&a->usage.reasoning, out, "reasoning_tokens");
	chat_answer_finish(a, end, reasons);
	a->ended = true;
}

/* data is an event error, which is the error or has it, or a response that failed. */
static void responses_take_error(struct chat_answer *a, const cJSON *data)
{
	static const char *const lasting[] = {"invalid_", "image_", "unsupported_",
	    "insufficient_quota", "context_length_exceeded", "data_residency_mismatch",
	    "bio_policy", "misalignment_"};
	const cJSON *error = json_opt(data, "error");
	const char *code = json_str(error ? error : data, "code");
	char *message = chat_error_message(data);
	enum chat_fault kind = FAULT_PASSES;
	for (size_t i = 0; code && i < sizeof(lasting) / sizeof(*lasting); i++)
		if (strncmp(code, lasting[i], strlen(lasting[i])) == 0)
			kind = FAULT_STAYS;
	chat_answer_fault(a, kind, "failed while it answered: %s",
	    message    ? message
		: code ? code
		       : "no reason given");
	free(message);
}

/* ---- Events; index is that of the item they are about */

static void responses_on_text(struct chat_answer *a, const cJSON *data, int64_t index)
{
	chat_answer_add(a, PART_TEXT, index, json_str(data, "delta"));
}

static void responses_on_refusal(struct chat_answer *a, const cJSON *data, int64_t index)
{
	chat_answer_refuse(a, index, json_str(data, "delta"));
}

static void responses_on_reasoning(struct chat_answer *a, const cJSON *data, int64_t index)
{
	chat_answer_add(a, PART_REASONING, index, json_str(data, "delta"));
}

static void responses_on_summary(struct chat_answer *a, const cJSON *data, int64_t index)
{
	(void)data;
	responses_separate(a, index);
}

static void responses_on_arguments(struct chat_answer *a, const cJSON *data, int64_t index)
{
	chat_answer_add(a, PART_CALL, index, json_str(data, "delta"));
}

static void responses_on_all_arguments(struct chat_answer *a, const cJSON *data, int64_t index)
{
	if (!responses_has(a, PART_CALL, index))
		chat_answer_add(a, PART_CALL, index, json_str(data, "arguments"));
}

/* Takes the name of a call that begins; other items are still empty. */
static void responses_on_begin(struct chat_answer *a, const cJSON *data, int64_t index)
{
	const cJSON *item = json_opt(data, "item");
	if (chat_block_is(item, "function_call"))
		chat_part_name(a, chat_answer_part(a, PART_CALL, index), json_str(item, "call_id"),
		    json_str(item, "name"));
}

static void responses_on_item(struct chat_answer *a, const cJSON *data, int64_t index)
{
	responses_take_item(a, json_opt(data, "item"), index);
}

/* The end of a response; servers that do not stream have everything in this event. */
static void responses_on_end(struct chat_answer *a, const cJSON *data, int64_t index)
{
	const cJSON *response = json_opt(data, "response");
	(void)index;
	if (a->count == 0)
		responses_take_output(a, response);
	responses_take_rest(a, response);
}

static void responses_on_error(struct chat_answer *a, const cJSON *data, int64_t index)
{
	const cJSON *response = json_opt(data, "response");
	(void)index;
	responses_take_error(a, response ? response : data);
}

static void responses_take_event(struct chat_answer *a, const char *name, const cJSON *data)
{
	static const struct {
		const char *type;
		void (*take)(struct chat_answer *a, const cJSON *data, int64_t index);
	} events[] = {
	    {"response.output_text.delta", responses_on_text},
	    {"response.refusal.delta", responses_on_refusal},
	    {"response.function_call_arguments.delta", responses_on_arguments},
	    {"response.function_call_arguments.done", responses_on_all_arguments},
	    {"response.reasoning_summary_text.delta", responses_on_reasoning},
	    {"response.reasoning_text.delta", responses_on_reasoning},
	    {"response.reasoning_summary_part.added", responses_on_summary},
	    {"response.output_item.added", responses_on_begin},
	    {"response.output_item.done", responses_on_item},
	    {"response.completed", responses_on_end},
	    {"response.incomplete", responses_on_end},
	    {"response.failed", responses_on_error},
	    {"error", responses_on_error},
	};
	const char *type = json_str(data, "type");
	int64_t index = 0;
	json_integer(json_opt(data, "output_index"), &index);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (strcmp(type ? type : name, events[i].type) == 0) {
			events[i].take(a, data, index);
			return;
		}
	}
}

static void responses_take_whole(struct chat_answer *a, const cJSON *body)
{
	if (json_opt(body, "error") || json_str_is(body, "status", "failed")) {
		responses_take_error(a, body);
	} else if (!cJSON_IsArray(json_opt(body, "output"))) {
		chat_answer_fault(a, FAULT_PASSES, "gave an answer without output");
	} else {
		responses_take_output(a, body);
		responses_take_rest(a, body);
	}
}

const struct chat_provider chat_openai_responses = {.name = "openai",
    .home = "https://api.openai.com/v1",
    .url_env = "OPENAI_BASE_URL",
    .key_envs = {"OPENAI_API_KEY"},
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .failures = METRIC_FAILED_OPENAI,
    .url = responses_url,
    .build = responses_build,
    .take_event = responses_take_event,
    .take_whole = responses_take_whole,
    .takes = responses_takes};
