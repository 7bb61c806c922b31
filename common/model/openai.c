/* SPDX-License-Identifier: ISC */
/* Chat completions, as OpenAI documents them and most other services and servers speak them. */
#include "base/json/json.h"
#include "base/memory.h"
#include "model/openai_parts.h"
#include "model/provider.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The member for a model's thoughts, which some servers want back. */
#define REASONING "reasoning_content"

/* ---- The request */

static char *openai_url(const char *base_url, const char *model, bool stream)
{
	(void)model, (void)stream;
	return openai_address(base_url, "chat/completions");
}

/* Which of the two audio formats is meant, or NULL. */
static const char *openai_audio_format(const cJSON *block, const char *mime_type)
{
	if (!chat_block_is(block, "audio"))
		return NULL;
	if (strcasestr(mime_type, "wav"))
		return "wav";
	return strcasestr(mime_type, "mp3") || strcasestr(mime_type, "mpeg") ? "mp3" : NULL;
}

static bool openai_takes(const cJSON *block, const char *mime_type)
{
	return chat_block_is(block, "image") || openai_audio_format(block, mime_type) ||
	    strcasecmp(mime_type, "application/pdf") == 0;
}

static void openai_add_media(const struct chat_build *b, cJSON *parts, const cJSON *block)
{
	const struct chat_part_media media = chat_media_next(b, block);
	bool bytes = media.kind == MEDIA_BYTES;
	const char *format = bytes ? openai_audio_format(block, media.mime_type) : NULL;
	if (chat_block_is(block, "image") && chat_media_is_whole(&media)) {
		char *url = openai_data_url(&media, "image/png");
		cJSON *part = json_append(parts, json_typed("image_url"));
		json_add_str(cJSON_AddObjectToObject(part, "image_url"), "url", url);
		free(url);
	} else if (format) {
		cJSON *part = json_append(parts, json_typed("input_audio"));
		cJSON *audio = cJSON_AddObjectToObject(part, "input_audio");
		json_add_str(audio, "data", media.text);
		json_add_str(audio, "format", format);
	} else if (bytes && strcasecmp(media.mime_type, "application/pdf") == 0) {
		char *data = openai_data_url(&media, "application/pdf");
		cJSON *part = json_append(parts, json_typed("file"));
		cJSON *file = cJSON_AddObjectToObject(part, "file");
		json_add_str(file, "filename", media.filename);
		json_add_str(file, "file_data", data);
		free(data);
	} else {
		char *note = chat_media_note(block, &media);
		json_add_str(json_append(parts, json_typed("text")), "text", note);
		free(note);
	}
}

static cJSON *openai_add_message(cJSON *messages, const char *role)
{
	cJSON *message = json_append(messages, cJSON_CreateObject());
	json_add_str(message, "role", role);
	return message;
}

static void openai_add_assistant(
    const struct chat_target *t, cJSON *messages, const struct chat_turn *turn, bool at_work)
{
	cJSON *message = NULL;
	for (size_t i = 0; i < turn->count; i++) {
		const cJSON *block = turn->blocks[i];
		if (!chat_block_is(block, "text") && !chat_block_is_call(block))
			continue;
		if (!message) {
			message = openai_add_message(messages, "assistant");
			openai_add_text(message, turn);
		}
		if (chat_block_is(block, "text"))
			continue;
		cJSON *calls = json_get(message, "tool_calls");
		if (!calls)
			calls = cJSON_AddArrayToObject(message, "tool_calls");
		cJSON *call = json_append(calls, cJSON_CreateObject());
		char *args = json_print(json_get(block, "args"));
		json_add_str(call, "id", json_str(block, "id"));
		json_add_str(call, "type", "function");
		cJSON *function = cJSON_AddObjectToObject(call, "function");
		json_add_str(function, "name", json_str(block, "name"));
		json_add_str(function, "arguments", args);
		free(args);
	}
	if (message)
		openai_return(t, turn, message);
	/* Servers that send reasoning_content want it back with the calls that it led to, while
	 * these are being worked on, and no later. */
	for (size_t i = 0; at_work && json_get(message, "tool_calls") && i < turn->count; i++) {
		const cJSON *block = turn->blocks[i];
		const cJSON *at = chat_block_is(block, "reasoning") ? chat_details(block) : NULL;
		for (cJSON *detail; (detail = chat_details_next(&at, "openai"));) {
			if (json_str_is(detail, "field", REASONING) &&
			    !json_get(message, REASONING))
				cJSON_AddStringToObject(
				    message, REASONING, json_str(block, "summary"));
			cJSON_Delete(detail);
		}
	}
}

static void openai_add_result(cJSON *messages, const char *call_id, const char *text)
{
	cJSON *message = openai_add_message(messages, "tool");
	json_add_str(message, "tool_call_id", call_id);
	json_add_str(message, "content", text);
}

static void openai_build(const struct chat_build *b, cJSON *body)
{
	static const char *const same[] = {"temperature", "top_p", "top_k", "presence_penalty",
	    "frequency_penalty", "seed", "stop", "reasoning_effort"};
	static const struct openai_form form = {.message = openai_add_message,
	    .text_part = "text",
	    .media = openai_add_media,
	    .assistant = openai_add_assistant,
	    .result = openai_add_result,
	    .apart = true};
	const cJSON *format = json_opt(b->target->settings, "response_format");
	json_add_str(body, "model", b->target->model);
	cJSON *messages = cJSON_AddArrayToObject(body, "messages");
	if (*b->system)
		json_add_str(openai_add_message(messages, "system"), "content", b->system);
	openai_add_turns(b, messages, &form);
	openai_add_tools(b, body, &form);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		chat_copy_setting(b, same[i], body, same[i]);
	/* OpenAI's reasoning models know only the new name, other servers only the old one. */
	chat_copy_setting(
	    b, "max_tokens", body, b->target->at_home ? "max_completion_tokens" : "max_tokens");
	if (b->target->format != CHAT_FORMAT_TEXT) {
		cJSON *out = cJSON_AddObjectToObject(body, "response_format");
		json_add_str(out, "type", json_str(format, "type"));
		if (b->target->format == CHAT_FORMAT_SCHEMA)
			openai_add_schema(b, cJSON_AddObjectToObject(out, "json_schema"));
	}
	if (b->target->stream) {
		cJSON_AddTrueToObject(body, "stream");
		cJSON *options = cJSON_AddObjectToObject(body, "stream_options");
		cJSON_AddTrueToObject(options, "include_usage");
	}
}

/* ---- The answer */

/* A call's pieces go by their index.  Where a server sends none, an id that is new starts a call,
 * and pieces without an id go to the latest one. */
static int64_t openai_index_of(const struct chat_answer *a, const cJSON *call)
{
	int64_t index = 0;
	const char *id = json_str(call, "id");
	if (json_integer(json_opt(call, "index"), &index))
		return index;
	for (size_t i = a->count; i-- > 0;) {
		const struct chat_part *part = &a->parts[i];
		if (part->kind != PART_CALL)
			continue;
		if (!id || !*id || (part->id && strcmp(part->id, id) == 0))
			return part->index;
		if (part->index >= index)
			index = part->index < INT64_MAX ? part->index + 1 : INT64_MAX;
	}
	return index;
}

/* Whether a piece that goes to the part is the first one of another call all the same: some servers
 * number all calls 0, and some give no ids.  Others have a new id in every piece of a call, but its
 * name in the first one only. */
static bool openai_begins_another(const struct chat_part *part, const cJSON *call, bool beside)
{
	const char *id = json_str(call, "id"), *name = json_str(json_opt(call, "function"), "name");
	if (!name || !*name || !part->name)
		return false;
	if (beside && !json_opt(call, "index"))
		return true;
	if (id && *id && part->id)
		return strcmp(id, part->id) != 0;
	/* an object is whole with its last brace: it is not parsed for every piece with a name */
	const char *text = buf_str(&part->text);
	size_t len = part->text.len;
	while (len > 0 && strchr(" \t\r\n", text[len - 1]))
		len--;
	if (len == 0 || (text[strspn(text, " \t\r\n")] == '{' && text[len - 1] != '}'))
		return false;
	cJSON *whole = json_parse(text, len, JSON_REQUEST_DEPTH, NULL);
	cJSON_Delete(whole);
	return whole != NULL;
}

/* Takes a call or a piece of one; beside: it follows another one in the same array. */
static void openai_take_call(struct chat_answer *a, const cJSON *call, bool beside)
{
	const cJSON *function = json_opt(call, "function"), *args = json_opt(function, "arguments");
	int64_t index = openai_index_of(a, call);
	struct chat_part *part = chat_answer_part(a, PART_CALL, index);
	if (openai_begins_another(part, call, beside))
		part = chat_answer_part_new(a, PART_CALL, index);
	chat_part_name(a, part, json_str(call, "id"), json_str(function, "name"));
	if (cJSON_IsString(args)) {
		chat_answer_add(a, PART_CALL, index, args->valuestring);
	} else if (cJSON_IsObject(args)) {
		char *text = json_print(args);
		chat_answer_add(a, PART_CALL, index, text);
		free(text);
	}
	if (!json_opt(call, "extra_content"))
		return;
	char made[CHAT_CALL_ID];
	part = chat_answer_part(a, PART_CALL, index);
	if (!part->id) /* it needs one now */
		part->id = xstrdup(chat_call_id(made));
	char *id = xstrdup(part->id); /* the parts may move */
	openai_keep_extra(a, id, json_opt(call, "extra_content"));
	free(id);
}

/* A message, or a delta of it: they have the same members. */
static void openai_take_message(struct chat_answer *a, const cJSON *message)
{
	static const char *const fields[] = {REASONING, "reasoning"};
	const cJSON *content = json_opt(message, "content"), *part;
	const cJSON *calls = json_opt(message, "tool_calls"), *call;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const char *text = json_str(message, fields[i]);
		if (!text || !*text)
			continue;
		chat_answer_add(a, PART_REASONING, 0, text);
		struct chat_part *reasoning = chat_answer_part(a, PART_REASONING, 0);
		if (i == 0 && !reasoning->details) {
			cJSON *detail = cJSON_CreateObject();
			json_add_str(detail, "provider", "openai");
			json_add_str(detail, "field", fields[i]);
			chat_answer_detail(a, 0, detail);
		}
		break;
	}
	openai_keep_details(a, json_opt(message, "reasoning_details"));
	if (cJSON_IsString(content))
		chat_answer_add(a, PART_TEXT, 0, content->valuestring);
	cJSON_ArrayForEach(part, content) /* from some servers */
		chat_answer_add(a, PART_TEXT, 0, json_str(part, "text"));
	chat_answer_refuse(a, 0, json_str(message, "refusal"));
	cJSON_ArrayForEach(call, calls)
		openai_take_call(a, call, call != calls->child);
}

static void openai_take_rest(struct chat_answer *a, const cJSON *data, const cJSON *choice)
{
	static const char *const reasons[][2] = {{"function_call", "tool_calls"}, {NULL, NULL}};
	const char *finish = json_str(choice, "finish_reason");
	struct chat_usage *u = &a->usage;
	const cJSON *usage = json_opt(data, "usage");
	usage = usage ? usage : json_opt(choice, "usage"); /* Moonshot's, in streams */
	const cJSON *in = json_opt(usage, "prompt_tokens_details");
	const cJSON *out = json_opt(usage, "completion_tokens_details");
	int64_t audio_in = 0, audio_out = 0;
	chat_answer_model(a, json_str(data, "model"));
	chat_usage_take(&u->prompt, usage, "prompt_tokens");
	chat_usage_take(&u->completion, usage, "completion_tokens");
	chat_usage_take(&u->total, usage, "total_tokens");
	chat_usage_take(&u->cache_read, usage, "prompt_cache_hit_tokens");
	chat_usage_take(&u->cache_read, in, "cached_tokens");
	chat_usage_take(&u->image, in, "image_tokens");
	chat_usage_take(&u->reasoning, out, "reasoning_tokens");
	chat_usage_take(&audio_in, in, "audio_tokens");
	chat_usage_take(&audio_out, out, "audio_tokens");
	if (audio_in + audio_out > 0)
		u->audio = audio_in + audio_out;
	if (!finish || !*finish) /* "" is null, to some servers */
		return;
	if (strcmp(finish, "error") == 0) /* Mistral, OpenRouter, vLLM */
		chat_answer_fault(a, FAULT_PASSES, "failed while it answered: no reason given");
	openai_keep_end(a);
	chat_answer_finish(a, finish, reasons);
	a->ended = true;
}

static void openai_take_event(struct chat_answer *a, const char *name, const cJSON *data)
{
	(void)name;
	const cJSON *choices = json_opt(data, "choices");
	const cJSON *choice = cJSON_IsArray(choices) ? choices->child : NULL;
	if (chat_answer_error(a, data) || chat_answer_error(a, choice))
		return;
	openai_take_message(a, json_opt(choice, "delta"));
	openai_take_rest(a, data, choice);
}

static void openai_take_whole(struct chat_answer *a, const cJSON *body)
{
	const cJSON *choices = json_opt(body, "choices");
	const cJSON *choice = cJSON_IsArray(choices) ? choices->child : NULL;
	const cJSON *message = json_opt(choice, "message");
	if (chat_answer_error(a, body) || chat_answer_error(a, choice))
		return;
	if (!message) {
		char *said = chat_error_message(body); /* some servers answer 200 to anything */
		chat_answer_fault(a, FAULT_PASSES, "gave an answer without a message%s%s",
		    said ? ": " : "", said ? said : "");
		free(said);
		return;
	}
	openai_take_message(a, message);
	openai_take_rest(a, body, choice);
	openai_keep_end(a);
	a->ended = true;
}

const struct chat_provider chat_openai = {.name = "openai",
    .home = "https://api.openai.com/v1",
    .url_env = "OPENAI_BASE_URL",
    .key_envs = {"OPENAI_API_KEY"},
    .key_header = "Authorization",
    .key_prefix = "Bearer ",
    .failures = METRIC_FAILED_OPENAI,
    .url = openai_url,
    .build = openai_build,
    .take_event = openai_take_event,
    .take_whole = openai_take_whole,
    .takes = openai_takes,
    .text_path = {"choices", "delta", "content"}};
