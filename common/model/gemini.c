/* SPDX-License-Identifier: ISC */
/* Gemini's generateContent. */
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/memory.h"
#include "model/gemini_schema.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

/* Stands for the signature of a call that another model made; Gemini 3 asks for one. */
#define NO_SIGNATURE "skip_thought_signature_validator"

/* ---- The request */

static bool gemini_ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);
	return len >= n && strcmp(text + len - n, end) == 0;
}

static char *gemini_url(const char *base_url, const char *model, bool stream)
{
	bool versioned = gemini_ends_in(base_url, "/v1beta") || gemini_ends_in(base_url, "/v1");
	const char *path = strchr(model, '/') ? "" : "models/";
	return xasprintf("%s%s/%s%s:%s", base_url, versioned ? "" : "/v1beta", path, model,
	    stream ? "streamGenerateContent?alt=sse" : "generateContent");
}

static void gemini_add_text(cJSON *parts, const char *text)
{
	json_add_str(json_append(parts, cJSON_CreateObject()), "text", text);
}

static bool gemini_takes(const cJSON *block, const char *mime_type)
{
	(void)block;
	return *mime_type;
}

static void gemini_add_media(const struct chat_build *b, cJSON *parts, const cJSON *block)
{
	const struct chat_part_media media = chat_media_next(b, block);
	if (!chat_media_is_whole(&media) || !*media.mime_type) {
		char *note = chat_media_note(block, &media);
		gemini_add_text(parts, note);
		free(note);
	} else {
		bool bytes = media.kind == MEDIA_BYTES;
		cJSON *data = cJSON_AddObjectToObject(
		    json_append(parts, cJSON_CreateObject()), bytes ? "inlineData" : "fileData");
		json_add_str(data, "mimeType", media.mime_type);
		json_add_str(data, bytes ? "data" : "fileUri", media.text);
	}
}

/* The signatures that the reasoning blocks of a turn keep for its calls and its text.  They are
 * looked up by call, so that a client's turn with many calls takes no longer than it is long. */
struct signatures {
	cJSON *calls; /* object: text by call id */
	struct json_members by_call;
	char *text; /* or NULL */
};

static void signatures_init(struct signatures *s, const struct chat_turn *turn)
{
	*s = (struct signatures){.calls = cJSON_CreateObject()};
	for (size_t i = 0; i < turn->count; i++) {
		if (!chat_block_is(turn->blocks[i], "reasoning"))
			continue;
		const cJSON *at = chat_details(turn->blocks[i]);
		for (cJSON *detail; (detail = chat_details_next(&at, "gemini"));) {
			const char *call = json_str(detail, "call");
			const char *signature = json_str(detail, "signature");
			if (signature && call)
				cJSON_AddStringToObject(s->calls, call, signature);
			else if (signature && !s->text)
				s->text = xstrdup(signature);
			cJSON_Delete(detail);
		}
	}
	json_members_init(&s->by_call, s->calls);
}

static void signatures_release(struct signatures *s)
{
	json_members_release(&s->by_call);
	cJSON_Delete(s->calls);
	free(s->text);
}

static void gemini_add_signature(cJSON *part, const char *signature)
{
	if (signature)
		json_add_str(part, "thoughtSignature", signature);
}

/* Whether the model is of that generation; it may be named with its place, "models/…". */
static bool gemini_is_of(const struct chat_target *target, const char *generation)
{
	const char *slash = strrchr(target->model, '/');
	const char *name = slash ? slash + 1 : target->model;
	return strncmp(name, generation, strlen(generation)) == 0;
}

static void gemini_add_assistant(
    const struct chat_build *b, cJSON *contents, const struct chat_turn *turn)
{
	cJSON *parts = chat_parts_for(contents, "model", "parts");
	bool signed_text = false, strict = gemini_is_of(b->target, "gemini-3");
	struct signatures s;
	signatures_init(&s, turn);
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i];
		if (chat_block_is(block, "text")) {
			gemini_add_text(parts, json_str(block, "text"));
			if (!signed_text)
				gemini_add_signature(json_last(parts), s.text);
			signed_text = true;
		} else if (chat_block_is_call(block)) {
			/* the first of the calls that were made at once carries the signature */
			const char *id = json_str(block, "id");
			const cJSON *own = id ? json_members_get(&s.by_call, id) : NULL;
			bool first = !json_get(json_last(parts), "functionCall");
			cJSON *part = json_append(parts, cJSON_CreateObject());
			cJSON *call = cJSON_AddObjectToObject(part, "functionCall");
			json_add_str(call, "name", json_str(block, "name"));
			json_add(call, "args", cJSON_Duplicate(json_get(block, "args"), true));
			if (own)
				gemini_add_signature(part, own->valuestring);
			else if (first && strict)
				gemini_add_signature(part, NO_SIGNATURE);
		} else if (chat_block_is_media(block)) {
			gemini_add_media(b, parts, block);
		}
	}
	signatures_release(&s);
}

static void gemini_add_results(
    cJSON *contents, const struct chat_turn *calls, const struct chat_turn *turn)
{
	cJSON *parts = chat_parts_for(contents, "user", "parts");
	size_t next = 0;
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i], *output = json_get(block, "output");
		bool is_error = cJSON_IsTrue(json_get(block, "is_error"));
		cJSON *response = cJSON_AddObjectToObject(
		    json_append(parts, cJSON_CreateObject()), "functionResponse");
		/* results have the order of their calls, so the search for the name goes on */
		const char *call_id = json_str(block, "call_id"), *name = NULL;
		while (call_id && !name && next < calls->count) {
			const cJSON *call = calls->blocks[next++];
			if (chat_block_is_call(call) && json_str_is(call, "id", call_id))
				name = json_str(call, "name");
		}
		json_add_str(response, "name", name ? name : "");
		if (cJSON_IsObject(output) && !is_error) {
			cJSON_AddItemToObject(response, "response", cJSON_Duplicate(output, true));
			continue;
		}
		cJSON *wrapped = cJSON_AddObjectToObject(response, "response");
		json_add_or_null(
		    wrapped, is_error ? "error" : "result", cJSON_Duplicate(output, true));
	}
}

static void gemini_add_turn(const struct chat_build *b, cJSON *contents, size_t i)
{
	const struct chat_turn *turn = &b->turns->items[i];
	cJSON *parts;
	switch (turn->role) {
	case ROLE_SYSTEM:
		return;
	case ROLE_USER:
		parts = chat_parts_for(contents, "user", "parts");
		for (size_t k = 0; k < turn->count; k++) {
			if (chat_block_is(turn->blocks[k], "text"))
				gemini_add_text(parts, json_str(turn->blocks[k], "text"));
			else
				gemini_add_media(b, parts, turn->blocks[k]);
		}
		break;
	case ROLE_ASSISTANT:
		if (!contents->child)
			gemini_add_text(chat_parts_for(contents, "user", "parts"),
			    "(The conversation begins.)");
		gemini_add_assistant(b, contents, turn);
		break;
	case ROLE_TOOL:
		gemini_add_results(contents, turn - 1, turn);
		break;
	}
	/* all blocks may have been left out */
	cJSON *last = json_last(contents);
	if (last && !json_get(last, "parts")->child)
		cJSON_Delete(cJSON_DetachItemViaPointer(contents, last));
}

static void gemini_add_tools(const struct chat_build *b, cJSON *body)
{
	static const char *const modes[] = {[CHAT_TOOLS_AUTO] = "AUTO",
	    [CHAT_TOOLS_NONE] = "NONE",
	    [CHAT_TOOLS_REQUIRED] = "ANY",
	    [CHAT_TOOLS_NAMED] = "ANY"};
	const struct chat_request *request = b->request;
	if (request->tool_count == 0)
		return;
	cJSON *tools = cJSON_AddArrayToObject(body, "tools");
	cJSON *functions = cJSON_AddArrayToObject(
	    json_append(tools, cJSON_CreateObject()), "functionDeclarations");
	for (size_t i = 0; i < request->tool_count; i++) {
		const struct chat_tool *tool = &request->tools[i];
		cJSON *function = json_append(functions, cJSON_CreateObject());
		json_add_str(function, "name", tool->name);
		json_add_str(function, "description", tool->description ? tool->description : "");
		if (tool->parameters)
			gemini_add_parameters(function, tool->parameters);
	}
	if (request->choice == CHAT_TOOLS_AUTO)
		return;
	cJSON *config = cJSON_AddObjectToObject(
	    cJSON_AddObjectToObject(body, "toolConfig"), "functionCallingConfig");
	json_add_str(config, "mode", modes[request->choice]);
	if (request->choice == CHAT_TOOLS_NAMED)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(config, "allowedFunctionNames"),
		    cJSON_CreateString(request->tool_name));
}

static void gemini_add_thinking(const struct chat_build *b, cJSON *config)
{
	const cJSON *settings = b->target->settings;
	const char *effort = json_str(settings, "reasoning_effort");
	bool none = json_str_is(settings, "reasoning_effort", "none");
	bool high = json_str_is(settings, "reasoning_effort", "high");
	bool medium = json_str_is(settings, "reasoning_effort", "medium");
	bool budget = json_opt(settings, "reasoning_tokens") != NULL;
	if (!effort && !budget)
		return;
	cJSON *thinking = cJSON_AddObjectToObject(config, "thinkingConfig");
	if (budget)
		chat_copy_setting(b, "reasoning_tokens", thinking, "thinkingBudget");
	else if (none)
		json_add_int(thinking, "thinkingBudget", 0);
	else if (gemini_is_of(b->target, "gemini-2"))
		/* Levels came with Gemini 3, models before it refuse them; these are the numbers
		 * that Google names for them. */
		json_add_int(thinking, "thinkingBudget", high ? 24576 : medium ? 8192 : 1024);
	else
		json_add_str(thinking, "thinkingLevel", effort);
	if (!none)
		cJSON_AddTrueToObject(thinking, "includeThoughts");
}

static void gemini_build(const struct chat_build *b, cJSON *body)
{
	static const char *const names[][2] = {{"temperature", "temperature"}, {"top_p", "topP"},
	    {"top_k", "topK"}, {"max_tokens", "maxOutputTokens"}, {"seed", "seed"},
	    {"presence_penalty", "presencePenalty"}, {"frequency_penalty", "frequencyPenalty"}};
	cJSON *contents = cJSON_AddArrayToObject(body, "contents");
	if (*b->system)
		gemini_add_text(cJSON_AddArrayToObject(
				    cJSON_AddObjectToObject(body, "systemInstruction"), "parts"),
		    b->system);
	for (size_t i = 0; i < b->turns->count; i++)
		gemini_add_turn(b, contents, i);
	if (!contents->child || json_str_is(json_last(contents), "role", "model"))
		gemini_add_text(chat_parts_for(contents, "user", "parts"), "(Continue.)");
	gemini_add_tools(b, body);
	cJSON *config = cJSON_CreateObject();
	const cJSON *stop = json_opt(b->target->settings, "stop");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		chat_copy_setting(b, names[i][0], config, names[i][1]);
	if (cJSON_IsString(stop))
		json_append(
		    cJSON_AddArrayToObject(config, "stopSequences"), cJSON_Duplicate(stop, true));
	else
		chat_copy_setting(b, "stop", config, "stopSequences");
	gemini_add_thinking(b, config);
	const cJSON *format = json_get(b->target->settings, "response_format");
	if (b->target->format != CHAT_FORMAT_TEXT)
		json_add_str(config, "responseMimeType", "application/json");
	if (b->target->format == CHAT_FORMAT_SCHEMA)
		json_add(config, "responseSchema", gemini_schema(json_get(format, "schema")));
	if (config->child)
		cJSON_AddItemToObject(body, "generationConfig", config);
	else
		cJSON_Delete(config);
}

/* ---- The answer */

static const char *const reasons[][2] = {{"STOP", "stop"}, {"MAX_TOKENS", "length"},
    {"SAFETY", "content_filter"}, {"RECITATION", "content_filter"}, {"BLOCKLIST", "content_filter"},
    {"PROHIBITED_CONTENT", "content_filter"}, {"SPII", "content_filter"}, {NULL, NULL}};

/* Thoughts are counted beside the answer; in usages they are part of it, as others count them. */
static void gemini_take_usage(struct chat_answer *a, const cJSON *usage)
{
	struct chat_usage *u = &a->usage;
	int64_t answer = u->completion - u->reasoning;
	const cJSON *detail;
	chat_usage_take(&u->prompt, usage, "promptTokenCount");
	chat_usage_take(&answer, usage, "candidatesTokenCount");
	chat_usage_take(&u->reasoning, usage, "thoughtsTokenCount");
	chat_usage_take(&u->cache_read, usage, "cachedContentTokenCount");
	chat_usage_take(&u->total, usage, "totalTokenCount");
	cJSON_ArrayForEach(detail, json_opt(usage, "promptTokensDetails")) {
		if (json_str_is(detail, "modality", "IMAGE"))
			chat_usage_take(&u->image, detail, "tokenCount");
		else if (json_str_is(detail, "modality", "AUDIO"))
			chat_usage_take(&u->audio, detail, "tokenCount");
	}
	u->completion = answer + u->reasoning;
}

static void gemini_keep_signature(struct chat_answer *a, const char *signature, const char *call_id)
{
	if (!signature || !*signature)
		return;
	cJSON *detail = cJSON_CreateObject();
	json_add_str(detail, "provider", "gemini");
	if (call_id)
		json_add_str(detail, "call", call_id);
	json_add_str(detail, "signature", signature);
	chat_answer_detail(a, 0, detail);
}

static void gemini_take_part(struct chat_answer *a, const cJSON *part)
{
	const char *signature = json_str(part, "thoughtSignature"), *text = json_str(part, "text");
	bool thought = cJSON_IsTrue(json_opt(part, "thought"));
	const cJSON *call = json_opt(part, "functionCall");
	if (!call) {
		chat_answer_add(a, thought ? PART_REASONING : PART_TEXT, 0, text);
		gemini_keep_signature(a, signature, NULL);
		return;
	}
	const cJSON *args = json_opt(call, "args");
	char *arguments = args ? json_print(args) : xstrdup("{}");
	char made[CHAT_CALL_ID];
	const char *own = json_str(call, "id");
	int64_t index = (int64_t)a->count;
	struct chat_part *block = chat_answer_part(a, PART_CALL, index);
	chat_part_name(a, block, own && *own ? own : chat_call_id(made), json_str(call, "name"));
	chat_answer_add(a, PART_CALL, index, arguments);
	free(arguments);
	if (a->fault) /* it may have no id */
		return;
	char *id = xstrdup(block->id); /* the parts may move */
	gemini_keep_signature(a, signature, id);
	free(id);
}

/* Only the first candidate is looked at: no more than one is asked for. */
static void gemini_take_event(struct chat_answer *a, const char *name, const cJSON *data)
{
	static const char *const calls[][2] = {{"stop", "tool_calls"}, {NULL, NULL}};
	const cJSON *candidates = json_opt(data, "candidates"), *part;
	const cJSON *candidate = cJSON_IsArray(candidates) ? candidates->child : NULL;
	const char *blocked = json_str(json_opt(data, "promptFeedback"), "blockReason");
	const char *finish = json_str(candidate, "finishReason");
	(void)name;
	if (chat_answer_error(a, data))
		return;
	if (blocked)
		chat_answer_fault(a, FAULT_STAYS, "refused the prompt (%s)", blocked);
	chat_answer_model(a, json_str(data, "modelVersion"));
	gemini_take_usage(a, json_opt(data, "usageMetadata"));
	cJSON_ArrayForEach(part, json_opt(json_opt(candidate, "content"), "parts"))
		gemini_take_part(a, part);
	if (json_str_is(candidate, "finishReason", "MALFORMED_FUNCTION_CALL"))
		chat_answer_fault(a, FAULT_PASSES, "wrote a tool call that is malformed");
	chat_answer_finish(a, finish, reasons);
	a->ended = a->ended || finish;
	/* calls end with STOP as well */
	for (size_t i = 0; a->finish && i < a->count; i++) {
		if (a->parts[i].kind == PART_CALL && strcmp(a->finish, "stop") == 0)
			chat_answer_finish(a, "stop", calls);
	}
}

static void gemini_take_whole(struct chat_answer *a, const cJSON *body)
{
	gemini_take_event(a, "", body);
	if (!a->ended)
		chat_answer_fault(a, FAULT_PASSES, "gave an answer without a candidate");
}

const struct chat_provider chat_gemini = {.name = "gemini",
    .home = "https://generativelanguage.googleapis.com",
    .url_env = "GEMINI_BASE_URL",
    .key_envs = {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
    .key_header = "x-goog-api-key",
    .key_prefix = "",
    .failures = METRIC_FAILED_GEMINI,
    .url = gemini_url,
    .build = gemini_build,
    .take_event = gemini_take_event,
    .take_whole = gemini_take_whole,
    .takes = gemini_takes,
    .assistant_media = true,
    .user_first_and_last = true};
