/* SPDX-License-Identifier: ISC */
/* Anthropic's messages. */
#include "base/json/json.h"
#include "base/json/json_members.h"
#include "base/memory.h"
#include "model/provider.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_MAX_TOKENS 8192

/* ---- The request */

static char *anthropic_url(const char *base_url, const char *model, bool stream)
{
	(void)model, (void)stream;
	size_t len = strlen(base_url);
	bool versioned = len > 3 && strcmp(base_url + len - 3, "/v1") == 0;
	return xasprintf("%s%s/messages", base_url, versioned ? "" : "/v1");
}

static bool anthropic_is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n\v\f")] == '\0';
}

/* A block without a word is refused. */
static void anthropic_add_text(cJSON *content, const char *text)
{
	if (anthropic_is_blank(text))
		return;
	json_add_str(json_append(content, json_typed("text")), "text", text);
}

/* What the provider reads a medium of that type as: image, document, or NULL. */
static const char *anthropic_readable(const cJSON *block, const char *mime_type)
{
	if (chat_block_is(block, "image") || strncasecmp(mime_type, "image/", 6) == 0)
		return "image";
	return strcasecmp(mime_type, "application/pdf") == 0 ? "document" : NULL;
}

static bool anthropic_takes(const cJSON *block, const char *mime_type)
{
	return anthropic_readable(block, mime_type);
}

static void anthropic_add_media(const struct chat_build *b, cJSON *content, const cJSON *block)
{
	const struct chat_part_media media = chat_media_next(b, block);
	const char *type =
	    chat_media_is_whole(&media) ? anthropic_readable(block, media.mime_type) : NULL;
	if (media.kind == MEDIA_URL && !*media.mime_type && chat_block_is(block, "document"))
		type = "document";
	cJSON *source =
	    type ? cJSON_AddObjectToObject(json_append(content, json_typed(type)), "source") : NULL;
	if (!type) {
		char *note = chat_media_note(block, &media);
		anthropic_add_text(content, note);
		free(note);
	} else if (media.kind == MEDIA_URL) {
		json_add_str(source, "type", "url");
		json_add_str(source, "url", media.text);
	} else {
		json_add_str(source, "type", "base64");
		json_add_str(
		    source, "media_type", *media.mime_type ? media.mime_type : "image/png");
		json_add_str(source, "data", media.text);
	}
}

/* Thinking comes back with its signature, which it has once.  Without one it is refused, so
 * thinking of other providers is left out. */
static void anthropic_add_thinking(cJSON *content, const cJSON *block)
{
	const cJSON *at = chat_details(block);
	bool added = false;
	for (cJSON *detail; (detail = chat_details_next(&at, "anthropic"));) {
		const char *signature = json_str(detail, "signature");
		const char *redacted = json_str(detail, "redacted");
		if (redacted) {
			json_add_str(json_append(content, json_typed("redacted_thinking")), "data",
			    redacted);
		} else if (signature && !added) {
			cJSON *part = json_append(content, json_typed("thinking"));
			added = true;
			json_add_str(part, "thinking", json_str(block, "summary"));
			json_add_str(part, "signature", signature);
		}
		cJSON_Delete(detail);
	}
}

/* Adds the id of a call.  It may be another provider's, and other characters are refused. */
static void anthropic_add_id(cJSON *part, const char *name, const char *id)
{
	char *mended = xstrdup(id ? id : "");
	for (char *p = mended; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			*p = '_';
	json_add_str(part, name, mended);
	free(mended);
}

static void anthropic_add_block(const struct chat_build *b, cJSON *content, const cJSON *block)
{
	if (chat_block_is(block, "text")) {
		anthropic_add_text(content, json_str(block, "text"));
	} else if (chat_block_is(block, "reasoning")) {
		anthropic_add_thinking(content, block);
	} else if (chat_block_is_call(block)) {
		cJSON *part = json_append(content, json_typed("tool_use"));
		anthropic_add_id(part, "id", json_str(block, "id"));
		json_add_str(part, "name", json_str(block, "name"));
		json_add(part, "input", cJSON_Duplicate(json_get(block, "args"), true));
	} else if (chat_block_is(block, "tool_result")) {
		cJSON *part = json_append(content, json_typed("tool_result"));
		char *text = chat_output_text(block);
		anthropic_add_id(part, "tool_use_id", json_str(block, "call_id"));
		bool is_error = cJSON_IsTrue(json_get(block, "is_error"));
		if (!anthropic_is_blank(text))
			json_add_str(part, "content", text);
		else if (is_error) /* without a reason it is refused */
			json_add_str(part, "content", "(It failed without a word.)");
		if (is_error)
			cJSON_AddTrueToObject(part, "is_error");
		free(text);
	} else {
		anthropic_add_media(b, content, block);
	}
}

static void anthropic_add_messages(const struct chat_build *b, cJSON *body)
{
	cJSON *messages = cJSON_AddArrayToObject(body, "messages");
	for (size_t i = 0; i < b->turns->count; i++) {
		const struct chat_turn *turn = &b->turns->items[i];
		if (turn->role == ROLE_SYSTEM)
			continue;
		bool assistant = turn->role == ROLE_ASSISTANT;
		if (assistant && !messages->child)
			anthropic_add_text(chat_parts_for(messages, "user", "content"),
			    "(The conversation begins.)");
		cJSON *content =
		    chat_parts_for(messages, assistant ? "assistant" : "user", "content");
		for (size_t j = 0; j < turn->count; j++)
			anthropic_add_block(b, content, turn->blocks[j]);
		/* all blocks may have been left out (another provider's reasoning) */
		if (!content->child)
			cJSON_Delete(cJSON_DetachItemViaPointer(messages, json_last(messages)));
	}
	if (!messages->child || json_str_is(json_last(messages), "role", "assistant"))
		anthropic_add_text(chat_parts_for(messages, "user", "content"), "(Continue.)");
}

/* A conversation with calls in it is refused without tools.  So a model that has none is told which
 * there were, and that it cannot use them. */
static void anthropic_add_past_tools(const struct chat_build *b, cJSON *body)
{
	/* each name once, even where a client tells of many calls */
	cJSON *names = cJSON_CreateObject();
	for (size_t i = b->turns->count; i-- > 0;) {
		const struct chat_turn *turn = &b->turns->items[i];
		for (size_t j = turn->count; j-- > 0;) {
			const cJSON *block = turn->blocks[j];
			const char *name =
			    chat_block_is_call(block) ? json_str(block, "name") : NULL;
			if (name)
				cJSON_AddNullToObject(names, name);
		}
	}
	json_members_unique(names);
	const cJSON *name = json_last(names);
	cJSON *tools = name ? cJSON_AddArrayToObject(body, "tools") : NULL;
	for (; name; name = name == names->child ? NULL : name->prev) {
		cJSON *tool = json_append(tools, cJSON_CreateObject());
		json_add_str(tool, "name", name->string);
		json_add_str(cJSON_AddObjectToObject(tool, "input_schema"), "type", "object");
	}
	if (tools)
		json_add_str(cJSON_AddObjectToObject(body, "tool_choice"), "type", "none");
	cJSON_Delete(names);
}

static void anthropic_add_tools(const struct chat_build *b, cJSON *body)
{
	static const char *const types[] = {[CHAT_TOOLS_AUTO] = "auto",
	    [CHAT_TOOLS_NONE] = "none",
	    [CHAT_TOOLS_REQUIRED] = "any",
	    [CHAT_TOOLS_NAMED] = "tool"};
	const struct chat_request *request = b->request;
	if (request->tool_count == 0) {
		anthropic_add_past_tools(b, body);
		return;
	}
	cJSON *tools = cJSON_AddArrayToObject(body, "tools");
	for (size_t i = 0; i < request->tool_count; i++) {
		const struct chat_tool *tool = &request->tools[i];
		cJSON *item = json_append(tools, cJSON_CreateObject());
		json_add_str(item, "name", tool->name);
		if (tool->description)
			json_add_str(item, "description", tool->description);
		cJSON *schema = tool->parameters ? cJSON_Duplicate(tool->parameters, true)
						 : cJSON_CreateObject();
		if (!json_get(schema, "type"))
			json_add_str(schema, "type", "object");
		cJSON_AddItemToObject(item, "input_schema", schema);
	}
	bool single = cJSON_IsFalse(json_opt(b->target->settings, "parallel_tool_calls"));
	if (request->choice == CHAT_TOOLS_AUTO && !single)
		return;
	cJSON *choice = cJSON_AddObjectToObject(body, "tool_choice");
	json_add_str(choice, "type", types[request->choice]);
	if (request->choice == CHAT_TOOLS_NAMED)
		json_add_str(choice, "name", request->tool_name);
	if (single && request->choice != CHAT_TOOLS_NONE)
		cJSON_AddTrueToObject(choice, "disable_parallel_tool_use");
}

/* Whether the model may think: only with a free choice of tools, and not from the middle of a turn
 * on: the calls whose results are sent now must have come with thinking of this provider. */
static bool anthropic_may_think(const struct chat_request *request, const cJSON *body)
{
	bool free_choice = request->choice == CHAT_TOOLS_AUTO || request->choice == CHAT_TOOLS_NONE;
	if (request->tool_count > 0 && !free_choice)
		return false;
	const cJSON *messages = json_get(body, "messages"), *last = json_last(messages);
	const cJSON *first = last ? json_get(last, "content")->child : NULL;
	if (!chat_block_is(first, "tool_result") || last == messages->child)
		return true;
	first = json_get(last->prev, "content")->child;
	return chat_block_is(first, "thinking") || chat_block_is(first, "redacted_thinking");
}

static cJSON *anthropic_output_config(cJSON *body)
{
	cJSON *config = json_get(body, "output_config");
	return config ? config : cJSON_AddObjectToObject(body, "output_config");
}

/* Adds how much to think: a number of tokens is a budget, an effort leaves it to the model. */
static void anthropic_add_reasoning(const struct chat_build *b, cJSON *body)
{
	const cJSON *settings = b->target->settings;
	const char *effort = json_str(settings, "reasoning_effort");
	bool none = json_str_is(settings, "reasoning_effort", "none");
	bool budget = json_opt(settings, "reasoning_tokens") != NULL;
	if (effort && !none)
		json_add_str(anthropic_output_config(body), "effort",
		    strcmp(effort, "minimal") == 0 ? "low" : effort);
	if (none || (!budget && !effort) || !anthropic_may_think(b->request, body))
		return;
	cJSON *thinking = cJSON_AddObjectToObject(body, "thinking");
	json_add_str(thinking, "type", budget ? "enabled" : "adaptive");
	if (budget)
		chat_copy_setting(b, "reasoning_tokens", thinking, "budget_tokens");
}

static void anthropic_build(const struct chat_build *b, cJSON *body)
{
	static const char *const same[] = {"temperature", "top_p", "top_k"};
	static const char only_json[] = "Answer with one JSON object and nothing else.";
	const struct chat_target *t = b->target;
	const cJSON *stop = json_opt(t->settings, "stop");
	bool object = t->format == CHAT_FORMAT_OBJECT;
	int64_t budget = 0;
	json_add_str(body, "model", t->model);
	/* the answer needs room beside what may be thought */
	json_integer(json_opt(t->settings, "reasoning_tokens"), &budget);
	if (json_opt(t->settings, "max_tokens"))
		chat_copy_setting(b, "max_tokens", body, "max_tokens");
	else
		json_add_int(body, "max_tokens", DEFAULT_MAX_TOKENS + budget);
	if (object || !anthropic_is_blank(b->system)) {
		char *text = xasprintf("%s%s%s", b->system, object && *b->system ? "\n\n" : "",
		    object ? only_json : "");
		json_add_str(body, "system", text);
		free(text);
	}
	anthropic_add_messages(b, body);
	anthropic_add_tools(b, body);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		chat_copy_setting(b, same[i], body, same[i]);
	if (cJSON_IsString(stop))
		json_append(
		    cJSON_AddArrayToObject(body, "stop_sequences"), cJSON_Duplicate(stop, true));
	else
		chat_copy_setting(b, "stop", body, "stop_sequences");
	anthropic_add_reasoning(b, body);
	if (t->format == CHAT_FORMAT_SCHEMA) {
		const cJSON *format = json_get(t->settings, "response_format");
		cJSON *out = cJSON_AddObjectToObject(anthropic_output_config(body), "format");
		json_add_str(out, "type", "json_schema");
		json_add(out, "schema", cJSON_Duplicate(json_get(format, "schema"), true));
	}
	if (t->stream)
		cJSON_AddTrueToObject(body, "stream");
}

/* ---- The answer */

static const char *const reasons[][2] = {{"end_turn", "stop"}, {"stop_sequence", "stop"},
    {"max_tokens", "length"}, {"model_context_window_exceeded", "length"},
    {"tool_use", "tool_calls"}, {"refusal", "content_filter"}, {NULL, NULL}};

/* Cached tokens are not in input_tokens; in usages they are, as other providers count them. */
static void anthropic_take_usage(struct chat_answer *a, const cJSON *usage)
{
	struct chat_usage *u = &a->usage;
	int64_t fresh = u->prompt - u->cache_creation - u->cache_read;
	chat_usage_take(&fresh, usage, "input_tokens");
	chat_usage_take(&u->completion, usage, "output_tokens");
	chat_usage_take(&u->cache_creation, usage, "cache_creation_input_tokens");
	chat_usage_take(&u->cache_read, usage, "cache_read_input_tokens");
	chat_usage_take(&u->reasoning, json_opt(usage, "output_tokens_details"), "thinking_tokens");
	u->prompt = fresh + u->cache_creation + u->cache_read;
}

static void anthropic_add_detail(
    struct chat_answer *a, int64_t index, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	cJSON *detail = cJSON_CreateObject();
	json_add_str(detail, "provider", "anthropic");
	json_add_str(detail, name, value);
	chat_answer_detail(a, index, detail);
}

/* Takes a block, whole or as it starts: then it is empty but for its names. */
static void anthropic_take_block(struct chat_answer *a, const cJSON *block, int64_t index)
{
	const cJSON *input = json_opt(block, "input");
	if (chat_block_is(block, "text")) {
		chat_answer_add(a, PART_TEXT, index, json_str(block, "text"));
	} else if (chat_block_is(block, "thinking")) {
		chat_answer_add(a, PART_REASONING, index, json_str(block, "thinking"));
		anthropic_add_detail(a, index, "signature", json_str(block, "signature"));
	} else if (chat_block_is(block, "redacted_thinking")) {
		anthropic_add_detail(a, index, "redacted", json_str(block, "data"));
	} else if (chat_block_is(block, "tool_use")) {
		struct chat_part *part = chat_answer_part(a, PART_CALL, index);
		chat_part_name(a, part, json_str(block, "id"), json_str(block, "name"));
		/* some servers that speak like Anthropic write the arguments as a text */
		char *text = cJSON_IsString(input) ? xstrdup(input->valuestring)
		    : input && input->child        ? json_print(input)
						   : NULL;
		chat_answer_add(a, PART_CALL, index, text);
		free(text);
	}
}

static bool anthropic_has_call(const struct chat_answer *a, int64_t index)
{
	for (size_t i = a->count; i-- > 0;)
		if (a->parts[i].kind == PART_CALL && a->parts[i].index == index)
			return true;
	return false;
}

static void anthropic_take_event(struct chat_answer *a, const char *name, const cJSON *data)
{
	const char *type = json_str(data, "type");
	const cJSON *delta = json_opt(data, "delta");
	int64_t index = 0;
	type = type ? type : name;
	json_integer(json_opt(data, "index"), &index);
	if (chat_answer_error(a, data))
		return;
	if (strcmp(type, "message_start") == 0) {
		chat_answer_model(a, json_str(json_opt(data, "message"), "model"));
		anthropic_take_usage(a, json_opt(json_opt(data, "message"), "usage"));
	} else if (strcmp(type, "content_block_start") == 0) {
		anthropic_take_block(a, json_opt(data, "content_block"), index);
	} else if (strcmp(type, "content_block_delta") == 0) {
		chat_answer_add(a, PART_TEXT, index, json_str(delta, "text"));
		chat_answer_add(a, PART_REASONING, index, json_str(delta, "thinking"));
		/* not of calls that the provider makes itself, which have no part */
		if (anthropic_has_call(a, index))
			chat_answer_add(a, PART_CALL, index, json_str(delta, "partial_json"));
		anthropic_add_detail(a, index, "signature", json_str(delta, "signature"));
	} else if (strcmp(type, "message_delta") == 0) {
		chat_answer_finish(a, json_str(delta, "stop_reason"), reasons);
		anthropic_take_usage(a, json_opt(data, "usage"));
	} else if (strcmp(type, "message_stop") == 0) {
		a->ended = true;
	}
}

static void anthropic_take_whole(struct chat_answer *a, const cJSON *body)
{
	const cJSON *content = json_opt(body, "content"), *block;
	int64_t index = 0;
	if (chat_answer_error(a, body))
		return;
	if (!cJSON_IsArray(content)) {
		chat_answer_fault(a, FAULT_PASSES, "gave an answer without content");
		return;
	}
	chat_answer_model(a, json_str(body, "model"));
	cJSON_ArrayForEach(block, content)
		anthropic_take_block(a, block, index++);
	anthropic_take_usage(a, json_opt(body, "usage"));
	chat_answer_finish(a, json_str(body, "stop_reason"), reasons);
	a->ended = true;
}

const struct chat_provider chat_anthropic = {.name = "anthropic",
    .home = "https://api.anthropic.com",
    .url_env = "ANTHROPIC_BASE_URL",
    .key_envs = {"ANTHROPIC_API_KEY"},
    .key_header = "x-api-key",
    .key_prefix = "",
    .failures = METRIC_FAILED_ANTHROPIC,
    .header = {"anthropic-version", "2023-06-01"},
    .url = anthropic_url,
    .build = anthropic_build,
    .take_event = anthropic_take_event,
    .take_whole = anthropic_take_whole,
    .takes = anthropic_takes,
    .assistant_media = true,
    .text_path = {"delta", "text"},
    .user_first_and_last = true};
