/* SPDX-License-Identifier: ISC */
/* Messages for such clients: roles become types, blocks parts, calls and their cost members of
 * their own. */
#include "service/langgraph/lg_message.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "graph/message/message.h"

/* ---- parts ---- */

/* A media block in the form of LangChain's data blocks. */
static cJSON *lg_media_part(const cJSON *block, const char *type)
{
	const cJSON *media = json_get(block, "media");
	const char *data = json_str(media, "data_base64"), *url = json_str(block, "url");
	const char *file_id = json_str(block, "file_id"), *mime_type = json_str(block, "mime_type");
	cJSON *part = json_typed(type);
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

/* What kind of media a block has, in the words of such a client; NULL: none. */
static const char *lg_media_type(const cJSON *block)
{
	static const char *const media[][2] = {{"image", "image"}, {"audio", "audio"},
	    {"video", "video"}, {"document", "file"}, {"data", "file"}};
	for (size_t i = 0; i < sizeof(media) / sizeof(media[0]); i++)
		if (block_is(block, media[i][0]))
			return media[i][1];
	return NULL;
}

/* Appends the content as a plain string where it has no media, since most pages expect one. */
static void lg_put_content(struct buf *out, const cJSON *message)
{
	const cJSON *blocks = json_get(message, "content"), *block;
	bool texts = true;
	cJSON_ArrayForEach(block, blocks)
		texts = texts && !lg_media_type(block);
	if (texts) {
		struct buf text = {0};
		message_text(message, &text);
		json_quote(out, buf_str(&text));
		buf_release(&text);
		return;
	}
	cJSON *parts = cJSON_CreateArray();
	cJSON_ArrayForEach(block, blocks) {
		/* other blocks have another place, or none, in such a message */
		const char *type = lg_media_type(block);
		if (type) {
			cJSON_AddItemToArray(parts, lg_media_part(block, type));
		} else if (block_is(block, "text")) {
			cJSON *part = json_append(parts, json_typed("text"));
			json_add_str(part, "text", json_str(block, "text"));
		}
	}
	json_write(out, parts);
	cJSON_Delete(parts);
}

/* ---- members ---- */

void lg_put_text(struct buf *out, const char *before, const char *text)
{
	buf_puts(out, before);
	json_quote(out, text);
}

void lg_put_number(struct buf *out, const char *before, int64_t number)
{
	buf_puts(out, before);
	buf_int(out, number);
}

void lg_put_members(struct buf *out, const cJSON *object)
{
	const cJSON *member;
	cJSON_ArrayForEach(member, object) {
		buf_putc(out, ',');
		json_quote(out, member->string);
		buf_putc(out, ':');
		json_write(out, member);
	}
}

/* ---- what types have of their own ---- */

/* The calls of a piece once more, in the form by which clients put pieces together.  They count
 * from 1: to some clients 0 is the text before. */
static void lg_put_call_chunks(struct buf *out, const cJSON *message)
{
	const cJSON *block;
	int64_t index = 1;
	buf_puts(out, ",\"tool_call_chunks\":[");
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block))
			continue;
		char *args = json_print(json_get(block, "args"));
		lg_put_number(out, index > 1 ? ",{\"index\":" : "{\"index\":", index);
		lg_put_text(out, ",\"id\":", json_str(block, "id"));
		lg_put_text(out, ",\"name\":", json_str(block, "name"));
		lg_put_text(out, ",\"args\":", args);
		buf_puts(out, ",\"type\":\"tool_call_chunk\"}");
		cJSON_free(args);
		index++;
	}
	buf_putc(out, ']');
}

static void lg_put_calls(struct buf *out, const cJSON *message)
{
	const cJSON *block;
	const char *between = "";
	buf_puts(out, ",\"tool_calls\":[");
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block))
			continue;
		buf_puts(out, between);
		lg_put_text(out, "{\"id\":", json_str(block, "id"));
		lg_put_text(out, ",\"name\":", json_str(block, "name"));
		buf_puts(out, ",\"args\":");
		json_write(out, json_get(block, "args"));
		buf_puts(out, ",\"type\":\"tool_call\"}");
		between = ",";
	}
	buf_puts(out, "],\"invalid_tool_calls\":[]");
	if (*between && cJSON_IsTrue(json_get(message, "delta")))
		lg_put_call_chunks(out, message);
}

/* The result in a tool message, or NULL: then it is told like any message. */
static const cJSON *lg_result(const cJSON *message)
{
	const cJSON *block;
	if (!message_is(message, "tool"))
		return NULL;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (block_is(block, "tool_result"))
			return block;
	}
	return NULL;
}

/* ---- the message ---- */

static const char *lg_type(const cJSON *message)
{
	if (message_is(message, "assistant"))
		return cJSON_IsTrue(json_get(message, "delta")) ? "AIMessageChunk" : "ai";
	return message_is(message, "user") ? "human" : message_role(message);
}

/* The reasoning of a message, or of a piece, which has it as a block. */
static const char *lg_reasoning(const cJSON *message)
{
	const char *whole = json_str(message, "reasoning");
	const cJSON *first = json_get(message, "content");
	first = first ? first->child : NULL;
	return whole ? whole : block_is(first, "reasoning") ? json_str(first, "summary") : NULL;
}

void lg_message_write(struct buf *out, const cJSON *message)
{
	const char *reasoning = lg_reasoning(message);
	const char *model = json_str(json_get(message, "metadata"), "model");
	const cJSON *result = lg_result(message), *output = json_get(result, "output");
	int64_t given = 0, made = 0;
	lg_put_text(out, "{\"type\":", lg_type(message));
	lg_put_text(out, ",\"id\":", message_id(message));
	buf_puts(out, ",\"content\":");
	if (!result) {
		lg_put_content(out, message);
	} else if (cJSON_IsString(output)) {
		json_quote(out, output->valuestring);
	} else {
		char *text = json_print(output);
		json_quote(out, text);
		cJSON_free(text);
	}
	buf_puts(out, ",\"additional_kwargs\":{");
	if (reasoning)
		lg_put_text(out, "\"reasoning_content\":", reasoning);
	buf_puts(out, "},\"response_metadata\":{");
	if (model)
		lg_put_text(out, "\"model_name\":", model);
	buf_putc(out, '}');
	if (message_is(message, "assistant")) {
		lg_put_calls(out, message);
		if (message_tokens(message, &given, &made)) {
			lg_put_number(out, ",\"usage_metadata\":{\"input_tokens\":", given);
			lg_put_number(out, ",\"output_tokens\":", made);
			lg_put_number(out, ",\"total_tokens\":", given + made);
			buf_putc(out, '}');
		}
	} else if (message_is(message, "tool")) {
		lg_put_text(out, ",\"tool_call_id\":", json_str(result, "call_id"));
		lg_put_text(out, ",\"status\":",
		    cJSON_IsTrue(json_get(result, "is_error")) ? "error" : "success");
	}
	buf_putc(out, '}');
}

cJSON *lg_message_view(const cJSON *message)
{
	struct buf text = {0};
	lg_message_write(&text, message);
	cJSON *view = cJSON_CreateRaw(buf_str(&text));
	buf_release(&text);
	return view;
}

void lg_message_put(struct buf *out, const char *json)
{
	cJSON *message = json_parse_own(json);
	lg_message_write(out, message);
	cJSON_Delete(message);
}
