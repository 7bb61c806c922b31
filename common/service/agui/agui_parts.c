/* SPDX-License-Identifier: ISC */
/* Messages, results and outcomes written out in the shapes that browsers know. */
#include "service/agui/agui.h"

#include "base/json/json.h"
#include "base/json/json_quote.h"
#include "graph/message/message.h"

/* ---- results ---- */

/* For a failed tool, what the model saw is written as a person would read it. */
void agui_put_output(struct buf *out, const cJSON *block)
{
	const cJSON *shown = json_get(block, "output");
	const cJSON *error = json_get(shown, "error");
	bool failed = cJSON_IsTrue(json_get(block, "is_error"));
	if (failed && cJSON_IsString(error))
		shown = error;
	bool empty = cJSON_IsString(shown) ? !*shown->valuestring
					   : !shown || cJSON_IsNull(shown) ||
		((cJSON_IsObject(shown) || cJSON_IsArray(shown)) && !shown->child);
	if (failed)
		buf_puts(out, "Error: ");
	if (failed && empty)
		buf_puts(out, "Tool failed");
	else if (cJSON_IsString(shown))
		buf_puts(out, shown->valuestring);
	else
		json_write(out, shown);
}

/* ---- whole messages ---- */

void agui_put_result_id(struct buf *out, const cJSON *message, const cJSON *block)
{
	const cJSON *first = json_get(message, "content")->child;
	while (!block_is(first, "tool_result"))
		first = first->next;
	buf_puts(out, message_id(message));
	if (block != first)
		buf_printf(out, "-%s", json_str(block, "call_id"));
}

/* The source of a media block; values can be large and are borrowed. */
static cJSON *agui_parts_shown_source(const cJSON *media)
{
	static const char *const sources[][2] = {
	    {"file", "file_id"}, {"url", "url"}, {"data", "data_base64"}};
	cJSON *source = cJSON_CreateObject();
	const cJSON *mime_type = json_opt(media, "mime_type");
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const cJSON *value = json_opt(media, sources[i][1]);
		if (!value)
			continue;
		cJSON_AddStringToObject(source, "type", sources[i][0]);
		json_refer(source, "value", value);
		break;
	}
	json_refer(source, "mimeType", mime_type);
	return source;
}

/* The content of a message: only a user's has parts, and only when it is more than text. */
static cJSON *agui_parts_shown_content(const cJSON *message)
{
	struct buf text = {0};
	bool has_media = false;
	cJSON *parts = cJSON_CreateArray();
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		const cJSON *media = json_opt(block, "media");
		if (!media && !block_is(block, "text"))
			continue;
		cJSON *part = json_append(parts, cJSON_CreateObject());
		cJSON_AddStringToObject(
		    part, "type", block_is(block, "data") ? "document" : json_str(block, "type"));
		if (media)
			cJSON_AddItemToObject(part, "source", agui_parts_shown_source(media));
		else
			cJSON_AddStringToObject(part, "text", json_str(block, "text"));
		has_media = has_media || media;
	}
	if (has_media && message_is(message, "user"))
		return parts;
	cJSON_Delete(parts);
	message_text(message, &text);
	cJSON *content = cJSON_CreateString(buf_str(&text));
	buf_release(&text);
	return content;
}

/* shown is taken over. */
static void agui_parts_put_shown(struct buf *out, cJSON *shown)
{
	char *text = json_print(shown);
	if (out->len && out->data[out->len - 1] == '}')
		buf_putc(out, ',');
	buf_puts(out, text);
	cJSON_free(text);
	cJSON_Delete(shown);
}

static cJSON *agui_parts_begin_shown(const char *id, const char *role)
{
	cJSON *shown = cJSON_CreateObject();
	cJSON_AddStringToObject(shown, "id", id);
	cJSON_AddStringToObject(shown, "role", role);
	return shown;
}

void agui_put_message(struct buf *out, const cJSON *message)
{
	const cJSON *calls = json_opt(message, "tools_calls"), *block;
	if (!message_is(message, "tool")) {
		cJSON *shown = agui_parts_begin_shown(message_id(message), message_role(message));
		cJSON_AddItemToObject(shown, "content", agui_parts_shown_content(message));
		if (message_is(message, "assistant") && calls)
			json_refer(shown, "toolCalls", calls);
		agui_parts_put_shown(out, shown);
		return;
	}
	/* each result is a message of its own in AG-UI */
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		struct buf text = {0};
		if (!block_is(block, "tool_result"))
			continue;
		agui_put_result_id(&text, message, block);
		cJSON *shown = agui_parts_begin_shown(buf_str(&text), "tool");
		buf_reset(&text);
		agui_put_output(&text, block);
		cJSON_AddStringToObject(shown, "content", buf_str(&text));
		cJSON_AddStringToObject(shown, "toolCallId", json_str(block, "call_id"));
		agui_parts_put_shown(out, shown);
		buf_release(&text);
	}
}

/* ---- interrupts ---- */

static void agui_parts_move(cJSON *out, const char *name, const cJSON *interrupt, const char *from)
{
	const cJSON *item = json_opt(interrupt, from);
	if (item)
		cJSON_AddItemToObject(out, name, cJSON_Duplicate(item, true));
}

static cJSON *agui_interrupt(const cJSON *interrupt)
{
	cJSON *shown = cJSON_CreateObject();
	agui_parts_move(shown, "id", interrupt, "id");
	agui_parts_move(shown, "reason", interrupt, "reason");
	agui_parts_move(shown, "message", interrupt, "message");
	agui_parts_move(shown, "toolCallId", interrupt, "tool_call_id");
	agui_parts_move(shown, "responseSchema", interrupt, "response_schema");
	cJSON *metadata = cJSON_AddObjectToObject(shown, "metadata");
	agui_parts_move(metadata, "value", interrupt, "value");
	agui_parts_move(metadata, "node", interrupt, "node");
	return shown;
}

cJSON *agui_outcome(const cJSON *interrupt, const cJSON *interrupts)
{
	cJSON *out = cJSON_CreateObject();
	const cJSON *each;
	cJSON_AddStringToObject(out, "type", "interrupt");
	cJSON *all = cJSON_AddArrayToObject(out, "interrupts");
	if (!interrupts)
		cJSON_AddItemToArray(all, agui_interrupt(interrupt));
	cJSON_ArrayForEach(each, interrupts)
		cJSON_AddItemToArray(all, agui_interrupt(each));
	return out;
}
