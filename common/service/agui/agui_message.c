/* SPDX-License-Identifier: ISC */
/* Roles and parts of such messages, turned into the service's messages and blocks. */
#include "service/agui/agui.h"

#include "base/json/json.h"
#include "base/texts.h"
#include "graph/message/media_url.h"
#include "graph/message/message.h"
#include "service/files/media_type.h"

#include <string.h>

bool agui_invalid(struct call *call, const char *field, const char *type, const char *expected)
{
	return error_field(&call->error, ERR_VALIDATION,
	    arena_printf(call->arena, "body.%s", field), type,
	    "Invalid AG-UI RunAgentInput: %s: %s", field, expected);
}

/* A member that has to be a string; NULL with the mistake set. */
static const char *agui_message_need_string(
    struct call *call, const cJSON *object, const char *at, const char *name)
{
	const cJSON *item = json_opt(object, name);
	if (!cJSON_IsString(item))
		agui_invalid(call, arena_printf(call->arena, "%s.%s", at, name),
		    item ? "type_error" : "missing", "must be a string");
	return cJSON_GetStringValue(item);
}

/* A member that may be absent; false with the mistake set when it is there and no string. */
static bool agui_message_may_be_string(
    struct call *call, const cJSON *object, const char *at, const char *name)
{
	const cJSON *item = json_opt(object, name);
	return !item || cJSON_IsString(item) ||
	    agui_invalid(call, arena_printf(call->arena, "%s.%s", at, name), "type_error",
		"must be a string");
}

/* ---- parts of a user message ---- */

static cJSON *agui_message_media_block(
    const char *type, const char *source, const cJSON *value, const cJSON *mime_type)
{
	cJSON *block = json_typed(type);
	json_refer(block, source, value);
	json_refer(block, "mime_type", mime_type);
	return block;
}

#define NOT_EMPTY "must be a string that is not empty"

static bool agui_message_filled(const char *value)
{
	return *value;
}

/* What AG-UI calls the kinds of a source, and what the members of a media object are called. */
static const struct source_kind {
	const char *type, *legacy, *member;
	bool needs_type;
	bool (*valid)(const char *value);
	const char *must;
} sources[] = {{"data", "data", "data_base64", true, media_base64_valid, "must be valid base64"},
    {"url", "url", "url", false, media_url_valid, "must be " MEDIA_URL_EXPECTED},
    {"file", "id", "file_id", false, agui_message_filled, NOT_EMPTY}};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

/* A member that has to be a string that is valid; false with the mistake set. */
static bool agui_message_need_valid(struct call *call, const cJSON *object, const char *at,
    const char *name, bool (*valid)(const char *value), const char *must)
{
	const char *value = agui_message_need_string(call, object, at, name);
	return value &&
	    (valid(value) ||
		agui_invalid(
		    call, arena_printf(call->arena, "%s.%s", at, name), "value_error", must));
}

/* Whether the member of object has a value of that kind, which is told by its name there. */
static bool agui_message_source_fits(struct call *call, const cJSON *object, const char *at,
    const char *name, const struct source_kind *kind)
{
	return (!kind->needs_type ||
		   agui_message_need_valid(
		       call, object, at, "mimeType", agui_message_filled, NOT_EMPTY)) &&
	    agui_message_need_valid(call, object, at, name, kind->valid, kind->must);
}

static cJSON *agui_message_media_part(struct call *call, const cJSON *part, const char *at)
{
	const cJSON *source = json_opt(part, "source");
	at = arena_printf(call->arena, "%s.source", at);
	if (!cJSON_IsObject(source)) {
		agui_invalid(call, at, source ? "type_error" : "missing", "must be an object");
		return NULL;
	}
	const char *type = agui_message_need_string(call, source, at, "type");
	if (!type || !agui_message_may_be_string(call, source, at, "mimeType"))
		return NULL;
	for (size_t i = 0; i < SOURCES; i++) {
		if (strcmp(type, sources[i].type) != 0)
			continue;
		if (!agui_message_source_fits(call, source, at, "value", &sources[i]))
			return NULL;
		return agui_message_media_block(json_str(part, "type"), sources[i].member,
		    json_get(source, "value"), json_opt(source, "mimeType"));
	}
	agui_invalid(call, arena_printf(call->arena, "%s.type", at), "value_error",
	    "must be one of data, url, file");
	return NULL;
}

/* The part that older clients send for every kind of media. */
static cJSON *agui_message_binary_part(struct call *call, const cJSON *part, const char *at)
{
	const char *mime_type = agui_message_need_string(call, part, at, "mimeType");
	if (!mime_type || !agui_message_may_be_string(call, part, at, "filename"))
		return NULL;
	for (size_t i = 0; i < SOURCES; i++) {
		const cJSON *value = json_opt(part, sources[i].legacy);
		if (!value)
			continue;
		if (!agui_message_source_fits(call, part, at, sources[i].legacy, &sources[i]))
			return NULL;
		cJSON *block = agui_message_media_block(media_type_block(mime_type),
		    sources[i].member, value, json_get(part, "mimeType"));
		json_refer(cJSON_AddObjectToObject(block, "media"), "filename",
		    json_opt(part, "filename"));
		return block;
	}
	agui_invalid(call, at, "missing", "must have one of data, url, id");
	return NULL;
}

/* A part as a block; NULL when it is empty text, or with the mistake set. */
static cJSON *agui_message_read_part(struct call *call, const cJSON *part, const char *at)
{
	static const char *const media[] = {"image", "audio", "video", "document", NULL};
	if (!cJSON_IsObject(part)) {
		agui_invalid(call, at, "type_error", "must be an object");
		return NULL;
	}
	const char *type = agui_message_need_string(call, part, at, "type");
	if (!type)
		return NULL;
	if (strcmp(type, "text") == 0) {
		const char *text = agui_message_need_string(call, part, at, "text");
		return text && *text ? block_text(text) : NULL;
	}
	if (strcmp(type, "binary") == 0)
		return agui_message_binary_part(call, part, at);
	if (texts_has(media, type))
		return agui_message_media_part(call, part, at);
	agui_invalid(call, arena_printf(call->arena, "%s.type", at), "value_error",
	    "must be one of text, image, audio, video, document, binary");
	return NULL;
}

/* ---- messages ---- */

static void agui_message_user_content(
    struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *content = json_opt(item, "content"), *part;
	int i = 0;
	if (cJSON_IsString(content) && *content->valuestring)
		json_append(blocks, block_text(content->valuestring));
	else if (!cJSON_IsString(content) && !cJSON_IsArray(content))
		agui_invalid(call, arena_printf(call->arena, "%s.content", at),
		    content ? "type_error" : "missing", "must be a string or an array of parts");
	const cJSON *parts = cJSON_IsArray(content) ? content : NULL;
	cJSON_ArrayForEach(part, parts) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		cJSON *block = agui_message_read_part(
		    call, part, arena_printf(call->arena, "%s.content[%d]", at, i++));
		if (block)
			json_append(blocks, block);
	}
}

static void agui_message_tool_content(
    struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *content = json_opt(item, "content"), *error = json_opt(item, "error");
	const char *call_id = agui_message_need_string(call, item, at, "toolCallId");
	if (!agui_message_may_be_string(call, item, at, "error") || !call_id)
		return;
	if (!error && !cJSON_IsString(content) && !cJSON_IsArray(content)) {
		agui_invalid(call, arena_printf(call->arena, "%s.content", at),
		    content ? "type_error" : "missing", "must be a string or an array of parts");
		return;
	}
	cJSON *block = json_typed("tool_result");
	cJSON_AddStringToObject(block, "call_id", call_id);
	json_refer(block, "output", error ? error : content);
	cJSON_AddBoolToObject(block, "is_error", error != NULL);
	cJSON_AddItemToArray(blocks, block);
}

/* The service's rule for message ids; one is assigned for a blank one. */
static bool agui_message_id_valid(const char *id)
{
	return id_blank(id) || id_valid(id);
}

cJSON *agui_message_read(struct call *call, const cJSON *item, const char *at)
{
	struct error err = {0};
	size_t mistakes = call->error.mistakes;
	cJSON *message = NULL, *plain = cJSON_CreateObject();
	json_refer(plain, "message_id", json_get(item, "id"));
	json_refer(plain, "role", json_get(item, "role"));
	cJSON *blocks = cJSON_AddArrayToObject(plain, "content");
	agui_message_need_valid(call, item, at, "id", agui_message_id_valid,
	    "must be 1 to 255 characters without control characters");
	if (message_is(item, "user"))
		agui_message_user_content(call, item, at, blocks);
	else
		agui_message_tool_content(call, item, at, blocks);
	if (call->error.mistakes == mistakes)
		message = message_normalise(plain, arena_printf(call->arena, "body.%s", at),
		    MESSAGE_FROM_CLIENT, &call->service->ids, &err);
	if (error_is_set(&err)) /* what the rules for all messages refuse beyond */
		agui_invalid(call, at, "value_error", err.detail);
	error_release(&err);
	cJSON_Delete(plain);
	return message;
}
