/* SPDX-License-Identifier: ISC */
/* Parts as blocks, and blocks as parts, in both versions. */
#include "service/a2a/a2a_message.h"

#include "base/fields.h"
#include "base/id.h"
#include "base/json/json.h"
#include "graph/message/media_url.h"
#include "graph/message/message.h"
#include "service/a2a/a2a_request.h"
#include "service/files/media_type.h"

#include <string.h>

/* ---- parts of a client ---- */

/* A part in either version; exactly one of the first four is there. */
struct a2a_part {
	const cJSON *text, *raw, *url, *data;
	const char *media_type, *filename, *kind;
	const cJSON *file;
};

#define PART_TEXT .kind = &field_json, .types = TYPE_STRING
#define PART_BASE64 PART_TEXT, .valid = media_base64_valid, .expected = "valid base64"
#define PART_URL PART_TEXT, .valid = media_url_valid, .expected = MEDIA_URL_EXPECTED

static const struct field_row part_rows[] = {FIELD(a2a_part, text, PART_TEXT),
    FIELD(a2a_part, raw, PART_BASE64), FIELD(a2a_part, url, PART_URL),
    FIELD_AT("mediaType", a2a_part, media_type, .kind = &field_filled),
    FIELD(a2a_part, filename, .kind = &field_filled), FIELDS_END};
static const struct field_row old_part_rows[] = {
    FIELD(a2a_part, kind, .kind = &field_text, .required = true), FIELD(a2a_part, text, PART_TEXT),
    FIELD(a2a_part, file, FIELD_OBJECT), FIELDS_END};
static const struct field_row old_file_rows[] = {FIELD_AT("bytes", a2a_part, raw, PART_BASE64),
    FIELD_AT("uri", a2a_part, url, PART_URL),
    FIELD_AT("mimeType", a2a_part, media_type, .kind = &field_filled),
    FIELD_AT("name", a2a_part, filename, .kind = &field_filled), FIELDS_END};

/* Reads a part of version 0.3, where a member says of which kind it is. */
static bool a2a_part_read_old(
    struct call *call, const char *at, const cJSON *item, struct a2a_part *part)
{
	const char *kinds[] = {"text", "file", "data"};
	const char *below = arena_printf(call->arena, "body.params.%s", at);
	size_t kind = 0;
	if (!fields_read_body(&call->error, below, item, old_part_rows, part))
		return false;
	while (kind < 3 && strcmp(kinds[kind], part->kind) != 0)
		kind++;
	if (kind == 3)
		return a2a_wrong(
		    call, arena_printf(call->arena, "%s.kind", at), "one of text, file, data");
	if (kind != 0)
		part->text = NULL;
	if (kind == 1 && part->file &&
	    !fields_read_body(&call->error, arena_printf(call->arena, "%s.file", below), part->file,
		old_file_rows, part))
		return false;
	if (kind == 2)
		part->data = json_get(item, "data");
	return true;
}

static bool a2a_part_read(
    struct call *call, bool old, const char *at, const cJSON *item, struct a2a_part *part)
{
	*part = (struct a2a_part){0};
	if (!cJSON_IsObject(item))
		return a2a_wrong(call, at, "an object");
	if (old && !a2a_part_read_old(call, at, item, part))
		return false;
	if (!old &&
	    !fields_read_body(&call->error, arena_printf(call->arena, "body.params.%s", at), item,
		part_rows, part))
		return false;
	if (!old)
		part->data = json_get(item, "data");
	if (!!part->text + !!part->raw + !!part->url + !!part->data == 1)
		return true;
	return a2a_wrong(call, at,
	    old ? "a part with text, file.bytes, file.uri or data, as its kind says"
		: "a part with one of text, raw, url, data");
}

/* A part as a block; data becomes text, which is its JSON. */
static cJSON *a2a_block(const struct a2a_part *part)
{
	cJSON *block = cJSON_CreateObject();
	const char *type = part->media_type;
	if (part->text || part->data) {
		char *text = part->data ? json_print(part->data) : NULL;
		json_add_str(block, "type", "text");
		json_add_str(block, "text", text ? text : part->text->valuestring);
		cJSON_free(text);
		return block;
	}
	if (!type && part->filename)
		type = media_type_of_name(part->filename);
	if (!type)
		type = MEDIA_TYPE_UNKNOWN;
	json_add_str(block, "type", media_type_block(type));
	if (part->filename)
		json_add_str(cJSON_AddObjectToObject(block, "media"), "filename", part->filename);
	json_refer(block, "data_base64", part->raw);
	json_refer(block, "url", part->url);
	json_add_str(block, "mime_type", type);
	return block;
}

static void a2a_read_parts(
    struct call *call, bool old, const cJSON *parts, cJSON *content, struct a2a_said *said)
{
	const cJSON *item;
	struct a2a_part part;
	int i = 0;
	if (!cJSON_IsArray(parts) || !parts->child) {
		a2a_wrong(call, "message.parts", "an array with at least one part");
		return;
	}
	cJSON_ArrayForEach(item, parts) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		const char *at = arena_printf(call->arena, "message.parts[%d]", i++);
		if (!a2a_part_read(call, old, at, item, &part))
			continue;
		cJSON_AddItemToArray(content, a2a_block(&part));
		said->data = i == 1 && !item->next ? part.data : NULL;
	}
}

/* ---- a client's message ---- */

struct a2a_given {
	const char *message_id, *task_id, *role;
	const cJSON *metadata;
};

static const struct field_row message_rows[] = {
    FIELD_AT("messageId", a2a_given, message_id, .kind = &field_text, .required = true,
	.valid = id_valid, .expected = "1 to 255 characters without control characters"),
    FIELD_ONLY("contextId", .kind = &field_filled),
    FIELD_AT("taskId", a2a_given, task_id, .kind = &field_filled),
    FIELD(a2a_given, role, .kind = &field_text, .required = true),
    FIELD(a2a_given, metadata, FIELD_OBJECT), FIELDS_END};

bool a2a_message_read(struct call *call, bool old, const cJSON *message, struct a2a_said *said)
{
	const char *user = old ? "user" : "ROLE_USER";
	struct a2a_given given = {0};
	*said = (struct a2a_said){0};
	if (!cJSON_IsObject(message))
		return a2a_wrong(call, "message", "an object");
	fields_read_body(&call->error, "body.params.message", message, message_rows, &given);
	if (given.role && strcmp(given.role, user) != 0)
		a2a_wrong(call, "message.role", user);
	cJSON *out = said->message = arena_json(call->arena, cJSON_CreateObject());
	json_add_str(out, "role", "user");
	json_add_str(out, "message_id", given.message_id);
	a2a_read_parts(call, old, json_opt(message, "parts"),
	    json_add(out, "content", cJSON_CreateArray()), said);
	json_refer(out, "metadata", given.metadata);
	said->message_id = given.message_id;
	said->task_id = given.task_id;
	return !error_is_set(&call->error);
}

/* ---- parts of ours ---- */

cJSON *a2a_text_part(bool old, const char *text)
{
	cJSON *part = cJSON_CreateObject();
	if (old)
		json_add_str(part, "kind", "text");
	json_add_str(part, "text", text);
	return part;
}

static void a2a_add_name(cJSON *object, const char *name, const char *value)
{
	if (value)
		json_add_str(object, name, value);
}

/* A media block as a part; NULL for one that others have no use for. */
static cJSON *a2a_media_part(bool old, const cJSON *block)
{
	const cJSON *media = json_get(block, "media");
	const char *url = json_str(block, "url"), *raw = json_str(media, "data_base64");
	const char *type = json_str(block, "mime_type"), *name = json_str(media, "filename");
	if (!url && !raw)
		return NULL;
	cJSON *part = cJSON_CreateObject(), *file = part;
	if (old) {
		json_add_str(part, "kind", "file");
		file = json_add(part, "file", cJSON_CreateObject());
	}
	a2a_add_name(file, old ? "mimeType" : "mediaType", type);
	a2a_add_name(file, old ? "name" : "filename", name);
	if (raw)
		json_add_str(file, old ? "bytes" : "raw", raw);
	else
		json_add_str(file, old ? "uri" : "url", url);
	return part;
}

void a2a_parts_add(cJSON *parts, bool old, const cJSON *content)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, content) {
		const char *text = block_is(block, "text") ? json_str(block, "text") : NULL;
		cJSON *part = text && *text ? a2a_text_part(old, text)
		    : text                  ? NULL
					    : a2a_media_part(old, block);
		if (part)
			json_append(parts, part);
	}
}

cJSON *a2a_artifact(const char *id)
{
	cJSON *artifact = cJSON_CreateObject();
	json_add_str(artifact, "artifactId", id);
	json_add_str(artifact, "name", "answer");
	return artifact;
}

static cJSON *a2a_message(
    bool old, const char *role, const char *id, const char *context_id, const char *task_id)
{
	cJSON *message = cJSON_CreateObject();
	if (old)
		json_add_str(message, "kind", "message");
	json_add_str(message, "messageId", id);
	json_add_str(message, "contextId", context_id);
	json_add_str(message, "taskId", task_id);
	json_add_str(message, "role", role);
	return message;
}

cJSON *a2a_agent_message(bool old, const char *id, const char *context_id, const char *task_id)
{
	return a2a_message(old, old ? "agent" : "ROLE_AGENT", id, context_id, task_id);
}

cJSON *a2a_user_message(bool old, const cJSON *message, const char *context_id, const char *task_id)
{
	const cJSON *metadata = json_opt(message, "metadata");
	cJSON *out =
	    a2a_message(old, old ? "user" : "ROLE_USER", message_id(message), context_id, task_id);
	cJSON *parts = json_add(out, "parts", cJSON_CreateArray());
	a2a_parts_add(parts, old, json_get(message, "content"));
	if (!parts->child)
		json_append(parts, a2a_text_part(old, ""));
	if (metadata && metadata->child)
		json_add(out, "metadata", cJSON_Duplicate(metadata, true));
	return out;
}
