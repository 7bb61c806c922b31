/* SPDX-License-Identifier: ISC */
/* Roles, parts and tool calls of such messages, turned into the service's messages and blocks. */
#include "base/fields.h"
#include "base/json/json.h"
#include "graph/message/media_url.h"
#include "graph/message/message.h"
#include "service/files/media_type.h"
#include "service/openai/openai_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- parts ---- */

struct openai_part {
	const char *type;
	const cJSON *text, *url, *data, *file_data, *file_id;
	const char *format, *filename;
};

#define PART_TEXT .kind = &field_json, .types = TYPE_STRING

static bool openai_file_data_is_url(const char *data)
{
	return strncasecmp(data, "data:", 5) == 0;
}

static bool openai_file_data_valid(const char *data)
{
	return openai_file_data_is_url(data) ? media_url_valid(data) : media_base64_valid(data);
}

static const struct field_row type_rows[] = {
    FIELD(openai_part, type, .kind = &field_text, .required = true), FIELDS_END};
static const struct field_row text_rows[] = {
    FIELD(openai_part, text, PART_TEXT, .required = true), FIELDS_END};
static const struct field_row refusal_rows[] = {
    FIELD_AT("refusal", openai_part, text, PART_TEXT, .required = true), FIELDS_END};
static const struct field_row image_rows[] = {
    FIELD(openai_part, url, PART_TEXT, .required = true, .valid = media_url_valid,
	.expected = MEDIA_URL_EXPECTED),
    FIELDS_END};
static const struct field_row audio_rows[] = {
    FIELD(openai_part, data, PART_TEXT, .required = true, .valid = media_base64_valid,
	.expected = "valid base64"),
    FIELD(openai_part, format, .kind = &field_text, .required = true), FIELDS_END};
static const struct field_row file_rows[] = {
    FIELD(openai_part, file_data, PART_TEXT, .valid = openai_file_data_valid,
	.expected = "valid base64, or a data URL with it"),
    FIELD(openai_part, file_id, PART_TEXT), FIELD(openai_part, filename, .kind = &field_text),
    FIELDS_END};

static cJSON *openai_text_part(struct call *call, const struct openai_part *part, const char *at)
{
	(void)call, (void)at;
	cJSON *block = json_typed("text");
	json_refer(block, "text", part->text);
	return block;
}

static cJSON *openai_image_part(struct call *call, const struct openai_part *part, const char *at)
{
	(void)call, (void)at;
	cJSON *block = json_typed("image");
	json_refer(block, "url", part->url);
	return block;
}

static cJSON *openai_audio_part(struct call *call, const struct openai_part *part, const char *at)
{
	bool mp3 = strcmp(part->format, "mp3") == 0;
	if (!mp3 && strcmp(part->format, "wav") != 0) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.format", at), "value_error",
		    "must be one of wav, mp3");
		return NULL;
	}
	cJSON *block = json_typed("audio");
	json_refer(block, "data_base64", part->data);
	json_add_str(block, "mime_type", mp3 ? "audio/mpeg" : "audio/wav");
	return block;
}

/* The bytes come as a data URL, or as their base64 alone, whose type the name tells. */
static cJSON *openai_file_part(struct call *call, const struct openai_part *part, const char *at)
{
	const char *data = cJSON_GetStringValue(part->file_data);
	const char *mime_type = part->filename ? media_type_of_name(part->filename) : NULL;
	bool is_url = data && openai_file_data_is_url(data);
	if (!data && !part->file_id) {
		error_wrong(
		    &call->error, at, "missing", "must be an object with file_data or file_id");
		return NULL;
	}
	if (!mime_type)
		mime_type = MEDIA_TYPE_UNKNOWN;
	cJSON *block = json_typed(
	    part->file_id ? "document" : media_type_block(is_url ? data + 5 : mime_type));
	if (part->filename)
		json_add_str(cJSON_AddObjectToObject(block, "media"), "filename", part->filename);
	if (part->file_id)
		json_refer(block, "file_id", part->file_id);
	else
		json_refer(block, is_url ? "url" : "data_base64", part->file_data);
	if (!part->file_id && !is_url)
		json_add_str(block, "mime_type", mime_type);
	return block;
}

/* The kinds of parts, and whether anybody or only a user may have them; a nested part has its
 * content in a member named like its type. */
static const struct part_kind {
	const char *type;
	bool nested, anybody;
	const struct field_row *rows;
	cJSON *(*read)(struct call *call, const struct openai_part *part, const char *at);
} part_kinds[] = {
    {"text", false, true, text_rows, openai_text_part},
    {"refusal", false, true, refusal_rows, openai_text_part},
    {"image_url", true, false, image_rows, openai_image_part},
    {"input_audio", true, false, audio_rows, openai_audio_part},
    {"file", true, false, file_rows, openai_file_part},
};

/* A part as a block; NULL with the mistake set. */
static cJSON *openai_read_part(struct call *call, const cJSON *item, const char *at, bool user)
{
	struct openai_part part = {0};
	if (!fields_read_entry(&call->error, at, item, type_rows, &part))
		return NULL;
	const struct part_kind *kind = NULL;
	for (size_t i = 0; i < sizeof(part_kinds) / sizeof(part_kinds[0]); i++)
		if ((user || part_kinds[i].anybody) && strcmp(part_kinds[i].type, part.type) == 0)
			kind = &part_kinds[i];
	if (!kind) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.type", at), "value_error",
		    "must be %s", user ? "one of text, image_url, input_audio, file" : "text");
		return NULL;
	}
	if (kind->nested) {
		at = arena_printf(call->arena, "%s.%s", at, kind->type);
		item = json_opt(item, kind->type);
	}
	if (!fields_read_entry(&call->error, at, item, kind->rows, &part))
		return NULL;
	return kind->read(call, &part, at);
}

/* ---- content ---- */

/* Adds what was said to blocks. */
static void openai_read_content(struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *content = json_opt(item, "content"), *part;
	int i = 0;
	if (cJSON_IsString(content)) {
		cJSON *block = json_append(blocks, json_typed("text"));
		json_refer(block, "text", content);
	} else if (!cJSON_IsArray(content)) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.content", at),
		    content ? "type_error" : "missing", "must be a string or an array of parts");
	}
	const cJSON *parts = cJSON_IsArray(content) ? content : NULL;
	cJSON_ArrayForEach(part, parts) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		cJSON *block = openai_read_part(call, part,
		    arena_printf(call->arena, "%s.content[%d]", at, i++), message_is(item, "user"));
		if (block)
			cJSON_AddItemToArray(blocks, block);
	}
}

/* ---- tool calls ---- */

struct openai_call {
	const char *id, *type, *name, *arguments;
	const cJSON *function;
};

static const struct field_row call_rows[] = {
    FIELD(openai_call, id, .kind = &field_text, .required = true),
    FIELD(openai_call, function, FIELD_OBJECT, .required = true), FIELDS_END};
static const struct field_row call_function_rows[] = {
    FIELD(openai_call, name, .kind = &field_text, .required = true),
    FIELD(openai_call, arguments, .kind = &field_text, .required = true), FIELDS_END};

/* A call that the client has run; NULL with the mistake set. */
static cJSON *openai_read_call(struct call *call, const cJSON *item, const char *at)
{
	struct openai_call asked = {0};
	const char *function = arena_printf(call->arena, "%s.function", at);
	if (!fields_read_entry(&call->error, at, item, call_rows, &asked) ||
	    !fields_read_body(&call->error, function, asked.function, call_function_rows, &asked))
		return NULL;
	const char *text = *asked.arguments ? asked.arguments : "{}";
	enum json_fault fault;
	cJSON *args =
	    json_parse_within(text, strlen(text), JSON_REQUEST_DEPTH, &call->values, &fault);
	if (!cJSON_IsObject(args)) {
		cJSON_Delete(args);
		error_wrong(&call->error, arena_printf(call->arena, "%s.arguments", function),
		    "value_error", "%s",
		    fault == JSON_MANY ? json_fault_text(fault) : "must be a JSON object as text");
		return NULL;
	}
	cJSON *block = json_typed("remote_tool_call");
	json_add_str(block, "id", asked.id);
	json_add_str(block, "name", asked.name);
	json_add(block, "args", args);
	return block;
}

static void openai_read_calls(struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *calls = json_opt(item, "tool_calls"), *one;
	int i = 0;
	if (calls && !cJSON_IsArray(calls)) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.tool_calls", at),
		    "type_error", "must be an array");
		return;
	}
	cJSON_ArrayForEach(one, calls) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		cJSON *block = openai_read_call(
		    call, one, arena_printf(call->arena, "%s.tool_calls[%d]", at, i++));
		if (block)
			cJSON_AddItemToArray(blocks, block);
	}
}

/* What a tool said, as one text, is the output of the call that the message names. */
static void openai_read_result(struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *id = json_opt(item, "tool_call_id");
	struct buf text = {0};
	cJSON *said = cJSON_CreateObject();
	cJSON *parts = cJSON_AddArrayToObject(said, "content");
	if (!cJSON_IsString(id) || !*id->valuestring)
		error_wrong(&call->error, arena_printf(call->arena, "%s.tool_call_id", at),
		    id ? "type_error" : "missing", "must be a string that is not empty");
	openai_read_content(call, item, at, parts);
	message_text(said, &text);
	cJSON *block = json_append(blocks, json_typed("tool_result"));
	json_refer(block, "call_id", id);
	cJSON_AddStringToObject(block, "output", buf_str(&text));
	cJSON_Delete(said);
	buf_release(&text);
}

/* ---- messages ---- */

static const char *const openai_roles[][2] = {{"system", "system"}, {"developer", "system"},
    {"user", "user"}, {"assistant", "assistant"}, {"tool", "tool"}};

static const char *openai_role(struct call *call, const cJSON *item, const char *at)
{
	const cJSON *role = json_opt(item, "role");
	if (!cJSON_IsObject(item)) {
		error_wrong(&call->error, at, "type_error", "must be an object");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(openai_roles) / sizeof(openai_roles[0]); i++) {
		if (cJSON_IsString(role) && strcmp(role->valuestring, openai_roles[i][0]) == 0)
			return openai_roles[i][1];
	}
	error_wrong(&call->error, arena_printf(call->arena, "%s.role", at),
	    !role                      ? "missing"
		: cJSON_IsString(role) ? "value_error"
				       : "type_error",
	    "must be one of system, developer, user, assistant, tool");
	return NULL;
}

cJSON *openai_message_read(struct call *call, const cJSON *item, const char *at)
{
	size_t mistakes = call->error.mistakes;
	cJSON *message = NULL, *plain;
	const char *role = openai_role(call, item, at);
	if (!role)
		return NULL;
	plain = cJSON_CreateObject();
	json_add_str(plain, "role", role);
	cJSON *blocks = cJSON_AddArrayToObject(plain, "content");
	if (message_is(item, "tool")) {
		openai_read_result(call, item, at, blocks);
	} else if (message_is(item, "assistant")) {
		if (json_opt(item, "content")) /* calls may stand in its place */
			openai_read_content(call, item, at, blocks);
		openai_read_calls(call, item, at, blocks);
	} else {
		openai_read_content(call, item, at, blocks);
	}
	if (call->error.mistakes == mistakes)
		message = message_normalise(
		    plain, at, MESSAGE_FROM_CLIENT, &call->service->ids, &call->error);
	cJSON_Delete(plain);
	return message;
}

/* ---- calls and answers ---- */

/* Calls of one id that wait for their answers. */
struct openai_asked {
	const char *id;
	size_t left;
};

struct openai_calls {
	struct openai_asked *items; /* sorted by id */
	size_t count;
	size_t left; /* calls that wait, of all ids */
};

static int openai_call_order(const void *left, const void *right)
{
	return strcmp(
	    ((const struct openai_asked *)left)->id, ((const struct openai_asked *)right)->id);
}

/* Notes the calls of a message. */
static void openai_calls_ask(struct openai_calls *calls, struct arena *arena, const cJSON *message)
{
	const cJSON *content = json_get(message, "content"), *block;
	size_t room = (size_t)cJSON_GetArraySize(content) + 1;
	*calls = (struct openai_calls){.items = arena_alloc(arena, room * sizeof(*calls->items))};
	cJSON_ArrayForEach(block, content) {
		if (block_is_call(block))
			calls->items[calls->left++] =
			    (struct openai_asked){json_str(block, "id"), 1};
	}
	qsort(calls->items, calls->left, sizeof(*calls->items), openai_call_order);
	for (size_t i = 0; i < calls->left; i++) {
		if (i > 0 && strcmp(calls->items[calls->count - 1].id, calls->items[i].id) == 0)
			calls->items[calls->count - 1].left++;
		else
			calls->items[calls->count++] = calls->items[i];
	}
}

/* Takes the call that a tool message answers out of those that wait. */
static bool openai_calls_take(struct openai_calls *calls, const cJSON *message)
{
	const struct openai_asked sought = {
	    json_str(json_get(message, "content")->child, "call_id"), 0};
	struct openai_asked *found = calls->count
	    ? bsearch(&sought, calls->items, calls->count, sizeof(sought), openai_call_order)
	    : NULL;
	if (!found || !found->left)
		return false;
	found->left--;
	calls->left--;
	return true;
}

void openai_messages_answer(struct call *call, const cJSON *messages)
{
	struct openai_calls waiting = {0};
	const cJSON *message;
	const char *must = NULL;
	int i = 0, asked = 0;
	cJSON_ArrayForEach(message, messages) {
		if (message_is(message, "tool")) {
			if (!openai_calls_take(&waiting, message))
				must = "behind the message with the call that it answers";
		} else if (waiting.left) {
			i = asked;
			must = "followed by an answer to each of its tool_calls";
		} else {
			openai_calls_ask(&waiting, call->arena, message);
			asked = i;
		}
		if (must)
			break;
		i++;
	}
	if (!must && waiting.left) {
		i = asked;
		must = "followed by an answer to each of its tool_calls";
	}
	if (must)
		error_wrong(&call->error, arena_printf(call->arena, "body.messages[%d]", i),
		    "value_error", "must be %s", must);
}
