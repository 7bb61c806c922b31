/* SPDX-License-Identifier: ISC */
/* Gemini's generateContent. */
#include "base/json.h"
#include "base/json_members.h"
#include "base/memory.h"
#include "model/gemini_schema.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Stands for the signature of a call that another model made; Gemini 3 asks for one. */
#define NO_SIGNATURE "skip_thought_signature_validator"

/* ---- The request */

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);
	return len >= n && strcmp(text + len - n, end) == 0;
}

static char *gemini_url(const char *base_url, const char *model, bool stream)
{
	bool versioned = ends_in(base_url, "/v1beta") || ends_in(base_url, "/v1");
	const char *path = strchr(model, '/') ? "" : "models/";
	return xasprintf("%s%s/%s%s:%s", base_url, versioned ? "" : "/v1beta", path, model,
	    stream ? "streamGenerateContent?alt=sse" : "generateContent");
}

static cJSON *gemini_add_object(cJSON *array)
{
	cJSON *object = cJSON_CreateObject();
	cJSON_AddItemToArray(array, object);
	return object;
}

/* The parts of a content of that role at the end: turns of one role are one content. */
static cJSON *parts_for(cJSON *contents, const char *role)
{
	cJSON *last = contents->child ? contents->child->prev : NULL;
	const char *own = json_str(last, "role");
	if (own && strcmp(own, role) == 0)
		return json_get(last, "parts");
	cJSON *content = gemini_add_object(contents);
	json_add_str(content, "role", role);
	return cJSON_AddArrayToObject(content, "parts");
}

static void gemini_add_text(cJSON *parts, const char *text)
{
	json_add_str(gemini_add_object(parts), "text", text);
}

static void gemini_add_media(const struct chat_build *b, cJSON *parts, const cJSON *block)
{
	struct chat_part_media media;
	if (!chat_media_get(b, block, &media))
		return;
	if (media.kind == MEDIA_TEXT || !*media.mime_type) {
		char *note = chat_media_note(block, &media);
		gemini_add_text(parts, note);
		free(note);
	} else {
		bool bytes = media.kind == MEDIA_BYTES;
		cJSON *data = cJSON_AddObjectToObject(
		    gemini_add_object(parts), bytes ? "inlineData" : "fileData");
		json_add_str(data, "mimeType", media.mime_type);
		json_add_str(data, bytes ? "data" : "fileUri", media.text);
	}
	chat_media_free(&media);
}

/* What the reasoning blocks of a turn keep for its calls, and for its text.  By call, so that a
 * client's turn of many calls costs no more than it is long. */
struct signatures {
	cJSON *calls; /* object: text by call id */
	struct json_members by_call;
	char *text; /* or NULL */
};

static void note_signature(struct signatures *s, const cJSON *detail)
{
	const char *call = json_str(detail, "call"), *signature = json_str(detail, "signature");
	if (!signature)
		return;
	if (call)
		json_add_str(s->calls, call, signature);
	else if (!s->text)
		s->text = xstrdup(signature);
}

static void signatures_init(struct signatures *s, const struct chat_turn *turn)
{
	*s = (struct signatures){.calls = cJSON_CreateObject()};
	for (size_t i = 0; i < turn->count; i++) {
		int at = 0;
		if (!chat_block_is(turn->blocks[i], "reasoning"))
			continue;
		for (cJSON *detail; (detail = chat_details_next(turn->blocks[i], "gemini", &at));) {
			note_signature(s, detail);
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

static void add_signature(cJSON *part, const char *signature)
{
	if (signature)
		json_add_str(part, "thoughtSignature", signature);
}

/* Whether the model is of that generation; it may be named with its place, "models/…". */
static bool is_of(const struct chat_target *target, const char *generation)
{
	const char *slash = strrchr(target->model, '/');
	const char *name = slash ? slash + 1 : target->model;
	return strncmp(name, generation, strlen(generation)) == 0;
}

/* The first of the calls that were made at once carries the signature. */
static void gemini_add_call(
    const struct chat_build *b, cJSON *parts, const struct signatures *s, const cJSON *block)
{
	const char *id = json_str(block, "id");
	const cJSON *own = id ? json_members_get(&s->by_call, id) : NULL;
	const cJSON *last = parts->child ? parts->child->prev : NULL;
	bool first = !json_get(last, "functionCall");
	bool strict = is_of(b->target, "gemini-3");
	cJSON *part = gemini_add_object(parts);
	cJSON *call = cJSON_AddObjectToObject(part, "functionCall");
	json_add_str(call, "name", json_str(block, "name"));
	cJSON_AddItemToObject(call, "args", cJSON_Duplicate(json_get(block, "args"), true));
	add_signature(part, own ? own->valuestring : first && strict ? NO_SIGNATURE : NULL);
}

static void gemini_add_assistant(
    const struct chat_build *b, cJSON *contents, const struct chat_turn *turn)
{
	cJSON *parts = parts_for(contents, "model");
	bool signed_text = false;
	struct signatures s;
	signatures_init(&s, turn);
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i];
		if (chat_block_is(block, "text")) {
			gemini_add_text(parts, json_str(block, "text"));
			if (!signed_text)
				add_signature(parts->child->prev, s.text);
			signed_text = true;
		} else if (chat_block_is_call(block)) {
			gemini_add_call(b, parts, &s, block);
		} else if (chat_block_is_media(block)) {
			gemini_add_media(b, parts, block);
		}
	}
	signatures_release(&s);
}

static void gemini_add_user(
    const struct chat_build *b, cJSON *contents, const struct chat_turn *turn)
{
	cJSON *parts = parts_for(contents, "user");
	for (size_t i = 0; i < turn->count; i++) {
		if (chat_block_is(turn->blocks[i], "text"))
			gemini_add_text(parts, json_str(turn->blocks[i], "text"));
		else
			gemini_add_media(b, parts, turn->blocks[i]);
	}
}

/* The name of the call that a result belongs to: calls is the turn before, and *next where it is
 * looked for, since results have the order of their calls. */
static const char *gemini_name_of(const struct chat_turn *calls, const char *call_id, size_t *next)
{
	while (call_id && *next < calls->count) {
		const cJSON *call = calls->blocks[(*next)++];
		const char *id = json_str(call, "id");
		if (chat_block_is_call(call) && id && strcmp(id, call_id) == 0)
			return json_str(call, "name");
	}
	return "";
}

static void gemini_add_results(
    cJSON *contents, const struct chat_turn *calls, const struct chat_turn *turn)
{
	cJSON *parts = parts_for(contents, "user");
	size_t next = 0;
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i], *output = json_get(block, "output");
		bool is_error = cJSON_IsTrue(json_get(block, "is_error"));
		cJSON *response =
		    cJSON_AddObjectToObject(gemini_add_object(parts), "functionResponse");
		json_add_str(
		    response, "name", gemini_name_of(calls, json_str(block, "call_id"), &next));
		if (cJSON_IsObject(output) && !is_error) {
			cJSON_AddItemToObject(response, "response", cJSON_Duplicate(output, true));
			continue;
		}
		cJSON *wrapped = cJSON_AddObjectToObject(response, "response");
		cJSON_AddItemToObject(wrapped, is_error ? "error" : "result",
		    output ? cJSON_Duplicate(output, true) : cJSON_CreateNull());
	}
}

/* A turn whose blocks all fell away leaves no content behind. */
static void gemini_drop_empty(cJSON *contents)
{
	cJSON *last = contents->child ? contents->child->prev : NULL;
	if (last && !json_get(last, "parts")->child)
		cJSON_Delete(cJSON_DetachItemViaPointer(contents, last));
}

static void gemini_add_turn(const struct chat_build *b, cJSON *contents, size_t i)
{
	const struct chat_turn *turn = &b->turns->items[i];
	switch (turn->role) {
	case ROLE_SYSTEM:
		return;
	case ROLE_USER:
		gemini_add_user(b, contents, turn);
		break;
	case ROLE_ASSISTANT:
		if (!contents->child)
			gemini_add_text(parts_for(contents, "user"), "(The conversation begins.)");
		gemini_add_assistant(b, contents, turn);
		break;
	case ROLE_TOOL:
		gemini_add_results(contents, turn - 1, turn);
		break;
	}
	gemini_drop_empty(contents);
}

static void add_contents(const struct chat_build *b, cJSON *body)
{
	cJSON *contents = cJSON_AddArrayToObject(body, "contents");
	if (*b->system)
		gemini_add_text(cJSON_AddArrayToObject(
				    cJSON_AddObjectToObject(body, "systemInstruction"), "parts"),
		    b->system);
	for (size_t i = 0; i < b->turns->count; i++)
		gemini_add_turn(b, contents, i);
	const char *last = json_str(contents->child ? contents->child->prev : NULL, "role");
	if (!last || strcmp(last, "model") == 0)
		gemini_add_text(parts_for(contents, "user"), "(Continue.)");
}

static void gemini_add_choice(const struct chat_request *request, cJSON *body)
{
	static const char *const modes[] = {[CHAT_TOOLS_AUTO] = "AUTO",
	    [CHAT_TOOLS_NONE] = "NONE",
	    [CHAT_TOOLS_REQUIRED] = "ANY",
	    [CHAT_TOOLS_NAMED] = "ANY"};
	if (request->choice == CHAT_TOOLS_AUTO)
		return;
	cJSON *config = cJSON_AddObjectToObject(
	    cJSON_AddObjectToObject(body, "toolConfig"), "functionCallingConfig");
	json_add_str(config, "mode", modes[request->choice]);
	if (request->choice == CHAT_TOOLS_NAMED)
		cJSON_AddItemToArray(cJSON_AddArrayToObject(config, "allowedFunctionNames"),
		    cJSON_CreateString(request->tool_name));
}

/* An object without properties is refused, so a tool without arguments has no parameters. */
static void gemini_add_parameters(cJSON *function, const cJSON *parameters)
{
	cJSON *schema = gemini_schema(parameters);
	if (json_get(schema, "properties"))
		cJSON_AddItemToObject(function, "parameters", schema);
	else
		cJSON_Delete(schema);
}

static void gemini_add_tools(const struct chat_build *b, cJSON *body)
{
	const struct chat_request *request = b->request;
	if (request->tool_count == 0)
		return;
	cJSON *tools = cJSON_AddArrayToObject(body, "tools");
	cJSON *functions = cJSON_AddArrayToObject(gemini_add_object(tools), "functionDeclarations");
	for (size_t i = 0; i < request->tool_count; i++) {
		const struct chat_tool *tool = &request->tools[i];
		cJSON *function = gemini_add_object(functions);
		json_add_str(function, "name", tool->name);
		json_add_str(function, "description", tool->description ? tool->description : "");
		if (tool->parameters)
			gemini_add_parameters(function, tool->parameters);
	}
	gemini_add_choice(request, body);
}

/* Levels came with Gemini 3, models before it refuse them; these are the numbers that Google names
 * for them. */
static void add_effort(const struct chat_build *b, cJSON *thinking, const char *effort)
{
	bool high = strcmp(effort, "high") == 0, medium = strcmp(effort, "medium") == 0;
	if (strcmp(effort, "none") == 0)
		json_add_int(thinking, "thinkingBudget", 0);
	else if (is_of(b->target, "gemini-2"))
		json_add_int(thinking, "thinkingBudget", high ? 24576 : medium ? 8192 : 1024);
	else
		json_add_str(thinking, "thinkingLevel", effort);
}

static void gemini_add_thinking(const struct chat_build *b, cJSON *config)
{
	const char *effort = json_str(b->target->settings, "reasoning_effort");
	bool budget = json_opt(b->target->settings, "reasoning_tokens") != NULL;
	bool none = effort && strcmp(effort, "none") == 0;
	if (!effort && !budget)
		return;
	cJSON *thinking = cJSON_AddObjectToObject(config, "thinkingConfig");
	if (budget)
		chat_copy_setting(b, "reasoning_tokens", thinking, "thinkingBudget");
	else
		add_effort(b, thinking, effort);
	if (!none)
		cJSON_AddTrueToObject(thinking, "includeThoughts");
}

static void gemini_add_format(const struct chat_build *b, cJSON *config)
{
	enum chat_format format = chat_target_format(b->target);
	if (format == CHAT_FORMAT_TEXT)
		return;
	json_add_str(config, "responseMimeType", "application/json");
	if (format == CHAT_FORMAT_SCHEMA)
		cJSON_AddItemToObject(config, "responseSchema",
		    gemini_schema(
			json_get(json_get(b->target->settings, "response_format"), "schema")));
}

static void gemini_add_config(const struct chat_build *b, cJSON *body)
{
	static const char *const names[][2] = {{"temperature", "temperature"}, {"top_p", "topP"},
	    {"top_k", "topK"}, {"max_tokens", "maxOutputTokens"}, {"seed", "seed"},
	    {"presence_penalty", "presencePenalty"}, {"frequency_penalty", "frequencyPenalty"}};
	cJSON *config = cJSON_CreateObject();
	const cJSON *stop = json_opt(b->target->settings, "stop");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		chat_copy_setting(b, names[i][0], config, names[i][1]);
	if (cJSON_IsString(stop))
		cJSON_AddItemToArray(
		    cJSON_AddArrayToObject(config, "stopSequences"), cJSON_Duplicate(stop, true));
	else
		chat_copy_setting(b, "stop", config, "stopSequences");
	gemini_add_thinking(b, config);
	gemini_add_format(b, config);
	if (config->child)
		cJSON_AddItemToObject(body, "generationConfig", config);
	else
		cJSON_Delete(config);
}

static void gemini_build(const struct chat_build *b, cJSON *body)
{
	add_contents(b, body);
	gemini_add_tools(b, body);
	gemini_add_config(b, body);
}

/* ---- The answer */

static const char *const reasons[][2] = {{"STOP", "stop"}, {"MAX_TOKENS", "length"},
    {"SAFETY", "content_filter"}, {"RECITATION", "content_filter"}, {"BLOCKLIST", "content_filter"},
    {"PROHIBITED_CONTENT", "content_filter"}, {"SPII", "content_filter"}, {NULL, NULL}};

static void take_modalities(struct chat_usage *u, const cJSON *details)
{
	const cJSON *detail;
	cJSON_ArrayForEach(detail, details) {
		const char *modality = json_str(detail, "modality");
		if (modality && strcmp(modality, "IMAGE") == 0)
			chat_usage_take(&u->image, detail, "tokenCount");
		else if (modality && strcmp(modality, "AUDIO") == 0)
			chat_usage_take(&u->audio, detail, "tokenCount");
	}
}

/* Thoughts are counted beside the answer; in usages they are part of it, as others count them. */
static void gemini_take_usage(struct chat_answer *a, const cJSON *usage)
{
	struct chat_usage *u = &a->usage;
	int64_t answer = u->completion - u->reasoning;
	chat_usage_take(&u->prompt, usage, "promptTokenCount");
	chat_usage_take(&answer, usage, "candidatesTokenCount");
	chat_usage_take(&u->reasoning, usage, "thoughtsTokenCount");
	chat_usage_take(&u->cache_read, usage, "cachedContentTokenCount");
	chat_usage_take(&u->total, usage, "totalTokenCount");
	take_modalities(u, json_opt(usage, "promptTokensDetails"));
	u->completion = answer + u->reasoning;
}

static void keep_signature(struct chat_answer *a, const char *signature, const char *call_id)
{
	if (!signature || !*signature)
		return;
	cJSON *detail = cJSON_CreateObject();
	json_add_str(detail, "provider", "gemini");
	if (call_id)
		json_add_str(detail, "call", call_id);
	json_add_str(detail, "signature", signature);
	chat_part_details(chat_answer_part(a, PART_REASONING, 0), detail);
}

static void gemini_take_call(struct chat_answer *a, const cJSON *call, const char *signature)
{
	const cJSON *args = json_opt(call, "args");
	char *text = args ? json_print(args) : xstrdup("{}");
	char id[CHAT_CALL_ID];
	const char *own = json_str(call, "id");
	int64_t index = (int64_t)a->count;
	struct chat_part *part = chat_answer_part(a, PART_CALL, index);
	chat_part_name(part, own && *own ? own : chat_call_id(id), json_str(call, "name"));
	chat_answer_add(a, PART_CALL, index, text);
	free(text);
	char *kept = xstrdup(part->id);
	keep_signature(a, signature, kept);
	free(kept);
}

static void gemini_take_part(struct chat_answer *a, const cJSON *part)
{
	const char *signature = json_str(part, "thoughtSignature"), *text = json_str(part, "text");
	bool thought = cJSON_IsTrue(json_opt(part, "thought"));
	if (json_opt(part, "functionCall")) {
		gemini_take_call(a, json_opt(part, "functionCall"), signature);
		return;
	}
	chat_answer_add(a, thought ? PART_REASONING : PART_TEXT, 0, text);
	keep_signature(a, signature, NULL);
}

static void take_candidate(struct chat_answer *a, const cJSON *candidate)
{
	const char *finish = json_str(candidate, "finishReason");
	const cJSON *part;
	cJSON_ArrayForEach(part, json_opt(json_opt(candidate, "content"), "parts"))
		gemini_take_part(a, part);
	if (!finish)
		return;
	if (strcmp(finish, "MALFORMED_FUNCTION_CALL") == 0)
		chat_answer_fault(a, true, "wrote a tool call that is malformed");
	chat_answer_finish(a, finish, reasons);
	a->ended = true;
}

/* Only the first candidate is looked at: no more than one is asked for. */
static void gemini_take_event(struct chat_answer *a, const char *name, const cJSON *data)
{
	(void)name;
	const cJSON *candidates = json_opt(data, "candidates");
	const char *blocked = json_str(json_opt(data, "promptFeedback"), "blockReason");
	const char *model = json_str(data, "modelVersion");
	if (chat_answer_error(a, data))
		return;
	if (blocked)
		chat_answer_fault(a, false, "refused the prompt (%s)", blocked);
	if (model && *model && !a->model)
		a->model = xstrdup(model);
	gemini_take_usage(a, json_opt(data, "usageMetadata"));
	if (cJSON_IsArray(candidates) && candidates->child)
		take_candidate(a, candidates->child);
}

static bool calls_something(const struct chat_answer *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->parts[i].kind == PART_CALL)
			return true;
	return false;
}

/* Calls end with STOP as well. */
static void take_event_and_calls(struct chat_answer *a, const char *name, const cJSON *data)
{
	static const char *const calls[][2] = {{"stop", "tool_calls"}, {NULL, NULL}};
	gemini_take_event(a, name, data);
	if (a->finish && calls_something(a)) {
		char *finish = xstrdup(a->finish);
		chat_answer_finish(a, finish, calls);
		free(finish);
	}
}

static void gemini_take_whole(struct chat_answer *a, const cJSON *body)
{
	take_event_and_calls(a, "", body);
	if (!a->ended)
		chat_answer_fault(a, true, "gave an answer without a candidate");
}

const struct chat_provider chat_gemini = {.name = "gemini",
    .home = "https://generativelanguage.googleapis.com",
    .url_env = "GEMINI_BASE_URL",
    .key_envs = {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
    .key_header = "x-goog-api-key",
    .key_prefix = "",
    .url = gemini_url,
    .build = gemini_build,
    .take_event = take_event_and_calls,
    .take_whole = gemini_take_whole,
    .user_first_and_last = true};
