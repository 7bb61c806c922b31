/* SPDX-License-Identifier: ISC */
/* Messages for such clients: roles become types, blocks parts, calls and their cost members of
 * their own. */
#include "service/langgraph/lg_message.h"

#include "base/json/json.h"
#include "graph/message/message.h"

#include <string.h>

/* ---- parts ---- */

/* Of media in the form of LangChain's data blocks. */
static cJSON *lg_media_part(const cJSON *block, const char *type)
{
	const cJSON *media = json_get(block, "media");
	const char *data = json_str(media, "data_base64"), *url = json_str(block, "url");
	const char *file_id = json_str(block, "file_id"), *mime_type = json_str(block, "mime_type");
	cJSON *part = cJSON_CreateObject();
	json_add_str(part, "type", strcmp(type, "document") == 0 ? "file" : type);
	json_add_str(part, "source_type", data ? "base64" : file_id ? "id" : "url");
	if (data)
		json_add_str(part, "data", data);
	else if (file_id)
		json_add_str(part, "id", file_id);
	else
		json_add_str(part, "url", url);
	if (mime_type)
		json_add_str(part, "mime_type", mime_type);
	if (json_str(media, "filename"))
		json_add_str(json_add(part, "metadata", cJSON_CreateObject()), "name",
		    json_str(media, "filename"));
	return part;
}

/* The part of a block; NULL of one that has another place, or none, in such a message. */
static cJSON *lg_part(const cJSON *block)
{
	static const char *const media[] = {"image", "audio", "video", "document", "data"};
	const char *type = json_str(block, "type");
	if (block_is(block, "text")) {
		cJSON *part = cJSON_CreateObject();
		json_add_str(part, "type", "text");
		json_add_str(part, "text", json_str(block, "text"));
		return part;
	}
	for (size_t i = 0; type && i < sizeof(media) / sizeof(media[0]); i++) {
		if (strcmp(type, media[i]) == 0)
			return lg_media_part(block, i == 4 ? "file" : type);
	}
	return NULL;
}

/* A text where there is nothing else, as most pages take content for one. */
static cJSON *lg_content(const cJSON *message)
{
	const cJSON *block;
	cJSON *parts = cJSON_CreateArray(), *part;
	bool texts = true;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if ((part = lg_part(block))) {
			cJSON_AddItemToArray(parts, part);
			texts = texts && block_is(block, "text");
		}
	}
	if (!texts)
		return parts;
	struct buf text = {0};
	cJSON_Delete(parts);
	message_text(message, &text);
	cJSON *content = cJSON_CreateString(buf_str(&text));
	buf_release(&text);
	return content;
}

/* ---- what types have of their own ---- */

static void lg_add_calls(cJSON *view, const cJSON *message)
{
	cJSON *calls = json_add(view, "tool_calls", cJSON_CreateArray());
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block))
			continue;
		cJSON *call = json_append(calls, cJSON_CreateObject());
		json_add_str(call, "id", json_str(block, "id"));
		json_add_str(call, "name", json_str(block, "name"));
		json_add(call, "args", cJSON_Duplicate(json_get(block, "args"), true));
		json_add_str(call, "type", "tool_call");
	}
	json_add(view, "invalid_tool_calls", cJSON_CreateArray());
}

static void lg_add_usage(cJSON *view, const cJSON *message)
{
	int64_t in = 0, out = 0;
	if (!message_tokens(message, &in, &out))
		return;
	cJSON *usage = json_add(view, "usage_metadata", cJSON_CreateObject());
	json_add_int(usage, "input_tokens", in);
	json_add_int(usage, "output_tokens", out);
	json_add_int(usage, "total_tokens", in + out);
}

static void lg_add_result(cJSON *view, const cJSON *message)
{
	const cJSON *block, *result = NULL;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!result && block_is(block, "tool_result"))
			result = block;
	}
	const cJSON *output = json_get(result, "output");
	if (result && cJSON_IsString(output)) {
		json_set(view, "content", cJSON_CreateString(output->valuestring));
	} else if (result) {
		char *text = json_print(output);
		json_set(view, "content", cJSON_CreateString(text));
		cJSON_free(text);
	}
	json_add_str(view, "tool_call_id", json_str(result, "call_id"));
	json_add_str(
	    view, "status", cJSON_IsTrue(json_get(result, "is_error")) ? "error" : "success");
}

/* ---- the message ---- */

static const char *lg_type(const cJSON *message)
{
	if (message_is(message, "assistant"))
		return cJSON_IsTrue(json_get(message, "delta")) ? "AIMessageChunk" : "ai";
	return message_is(message, "user") ? "human" : message_role(message);
}

/* What was thought, whole, or in a piece as a block. */
static const char *lg_reasoning(const cJSON *message)
{
	const char *whole = json_str(message, "reasoning");
	const cJSON *first = json_get(message, "content");
	first = first ? first->child : NULL;
	return whole ? whole : block_is(first, "reasoning") ? json_str(first, "summary") : NULL;
}

cJSON *lg_message_view(const cJSON *message)
{
	cJSON *view = cJSON_CreateObject();
	const char *reasoning = lg_reasoning(message);
	const char *model = json_str(json_get(message, "metadata"), "model");
	json_add_str(view, "type", lg_type(message));
	json_add_str(view, "id", message_id(message));
	json_add(view, "content", lg_content(message));
	cJSON *more = json_add(view, "additional_kwargs", cJSON_CreateObject());
	if (reasoning)
		json_add_str(more, "reasoning_content", reasoning);
	cJSON *of_model = json_add(view, "response_metadata", cJSON_CreateObject());
	if (model)
		json_add_str(of_model, "model_name", model);
	if (message_is(message, "assistant")) {
		lg_add_calls(view, message);
		lg_add_usage(view, message);
	} else if (message_is(message, "tool")) {
		lg_add_result(view, message);
	}
	return view;
}

void lg_message_put(struct buf *out, const char *json)
{
	cJSON *message = json_parse(json, strlen(json), JSON_TRUSTED_DEPTH, NULL);
	cJSON *view = lg_message_view(message);
	json_write(out, view);
	cJSON_Delete(view);
	cJSON_Delete(message);
}
