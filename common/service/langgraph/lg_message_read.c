/* SPDX-License-Identifier: ISC */
/* Reading messages of such clients: plain objects, what LangChain's classes print, pairs of a role
 * and a text, and a text alone. */
#include "base/fields.h"
#include "base/json/json.h"
#include "graph/message/media_url.h"
#include "graph/message/message.h"
#include "service/files/media_type.h"
#include "service/langgraph/lg_message.h"
#include "service/thread/messages.h"

#include <string.h>

#define TYPES "human, ai, system, tool"
#define LG_REMOVE "remove" /* what is no role, but asks for the end of a message */
#define LG_REMOVE_ALL "__remove_all__"
#define REMOVED_MOST 1000

/* ---- parts ---- */

/* An address, which may be a data URL, of a part that says so in LangChain's way or OpenAI's. */
static cJSON *lg_image_url(struct call *call, const cJSON *part, const char *at)
{
	const cJSON *url = json_get(part, "image_url");
	bool nested = cJSON_IsObject(url);
	const char *text = nested ? json_str(url, "url") : cJSON_GetStringValue(url);
	if (!text || !media_url_valid(text)) {
		error_wrong(&call->error,
		    arena_printf(call->arena, "%s.image_url%s", at, nested ? ".url" : ""),
		    "value_error", "must be " MEDIA_URL_EXPECTED);
		return NULL;
	}
	cJSON *block = json_typed("image");
	json_refer(block, "url", nested ? json_get(url, "url") : url);
	return block;
}

/* A media block of the bytes in the part, of a file that was uploaded here, or of an address. */
static cJSON *lg_data_block(const cJSON *part, const char *type)
{
	const cJSON *mime_type = json_opt(part, "mime_type"), *data = json_opt(part, "data");
	const cJSON *id = json_opt(part, "fileId"), *url = json_opt(part, "url");
	const char *name = json_str(json_opt(part, "metadata"), "name");
	if (!mime_type)
		mime_type = json_opt(part, "mimeType");
	if (!name)
		name = json_str(json_opt(part, "metadata"), "filename");
	if (!id)
		id = json_opt(part, "file_id");
	if (!id) /* last: beside the others it is that of the block */
		id = json_opt(part, "id");
	bool is_file = strcmp(type, "file") == 0;
	const char *kind = is_file && cJSON_IsString(mime_type)
	    ? media_type_block(mime_type->valuestring)
	    : is_file ? "document"
		      : type;
	cJSON *block = json_typed(kind);
	json_refer(block, data ? "data" : url ? "url" : "file_id", data ? data : url ? url : id);
	json_refer(block, "mime_type", mime_type);
	if (name)
		json_add_str(json_add(block, "media", cJSON_CreateObject()), "filename", name);
	return block;
}

/* A part as a block, a new tree; NULL with the mistake set, or for a part that says nothing. */
static cJSON *lg_read_part(struct call *call, const cJSON *part, const char *at)
{
	const char *type = json_str(part, "type");
	if (cJSON_IsString(part)) {
		cJSON *block = json_typed("text");
		json_refer(block, "text", part);
		return block;
	}
	if (!cJSON_IsObject(part) || !type) {
		error_wrong(&call->error, at, "type_error", "must be an object with a type");
	} else if (strcmp(type, "text") == 0) {
		cJSON *block = json_typed("text");
		json_refer(block, "text", json_get(part, "text"));
		return block;
	} else if (strcmp(type, "image_url") == 0) {
		return lg_image_url(call, part, at);
	} else if (strcmp(type, "image") == 0 || strcmp(type, "audio") == 0 ||
	    strcmp(type, "video") == 0 || strcmp(type, "file") == 0) {
		return lg_data_block(part, type);
	} else if (strcmp(type, "tool_use") != 0 && strcmp(type, "tool_call") != 0 &&
	    strcmp(type, "reasoning") != 0) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.type", at), "value_error",
		    "must be one of text, image_url, image, audio, video, file");
	}
	return NULL;
}

static void lg_read_content(struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *content = json_opt(item, "content"), *part;
	int i = 0;
	if (cJSON_IsString(content)) {
		cJSON *block = json_append(blocks, json_typed("text"));
		json_refer(block, "text", content);
		return;
	}
	if (!cJSON_IsArray(content)) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.content", at),
		    content ? "type_error" : "missing", "must be a string or an array of parts");
		return;
	}
	cJSON_ArrayForEach(part, content) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return; /* no more mistakes are reported */
		cJSON *block =
		    lg_read_part(call, part, arena_printf(call->arena, "%s.content[%d]", at, i++));
		if (block)
			cJSON_AddItemToArray(blocks, block);
	}
}

/* ---- calls and results ---- */

struct lg_call {
	const char *id, *name;
	const cJSON *args;
};

static const struct field_row lg_call_rows[] = {
    FIELD(lg_call, id, .kind = &field_text, .required = true),
    FIELD(lg_call, name, .kind = &field_text, .required = true),
    FIELD(lg_call, args, FIELD_OBJECT, .required = true),
    FIELDS_END,
};

static void lg_read_calls(struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *calls = json_opt(item, "tool_calls"), *one;
	int i = 0;
	if (calls && !cJSON_IsArray(calls)) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.tool_calls", at),
		    "type_error", "must be an array");
		return;
	}
	cJSON_ArrayForEach(one, calls) {
		struct lg_call asked = {0};
		const char *where = arena_printf(call->arena, "%s.tool_calls[%d]", at, i++);
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			return;
		if (fields_read_entry(&call->error, where, one, lg_call_rows, &asked)) {
			cJSON *block = json_append(blocks, json_typed("tool_call"));
			json_add_str(block, "id", asked.id);
			json_add_str(block, "name", asked.name);
			json_refer(block, "args", asked.args);
		}
	}
}

/* What a tool said is the output of the call that it names: a text, or the parts as they are. */
static void lg_read_result(struct call *call, const cJSON *item, const char *at, cJSON *blocks)
{
	const cJSON *id = json_opt(item, "tool_call_id"), *content = json_opt(item, "content");
	const char *status = json_str(item, "status");
	if (!cJSON_IsString(id) || !*id->valuestring)
		error_wrong(&call->error, arena_printf(call->arena, "%s.tool_call_id", at),
		    id ? "type_error" : "missing", "must be a string that is not empty");
	if (!cJSON_IsString(content) && !cJSON_IsArray(content))
		error_wrong(&call->error, arena_printf(call->arena, "%s.content", at),
		    content ? "type_error" : "missing", "must be a string or an array of parts");
	cJSON *block = json_append(blocks, json_typed("tool_result"));
	json_refer(block, "call_id", id);
	json_refer(block, "output", content);
	if (status && strcmp(status, "error") == 0)
		cJSON_AddTrueToObject(block, "is_error");
}

/* ---- messages ---- */

/* The words for each role: of plain objects, and the ends of LangChain's classes' names. */
static const struct {
	const char *name, *role;
} lg_roles[] = {{"human", "user"}, {"user", "user"}, {"HumanMessage", "user"},
    {"HumanMessageChunk", "user"}, {"ai", "assistant"}, {"assistant", "assistant"},
    {"AIMessage", "assistant"}, {"AIMessageChunk", "assistant"}, {"system", "system"},
    {"developer", "system"}, {"SystemMessage", "system"}, {"tool", "tool"}, {"ToolMessage", "tool"},
    {"remove", LG_REMOVE}, {"RemoveMessage", LG_REMOVE}};

static const char *lg_role_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(lg_roles) / sizeof(lg_roles[0]); i++) {
		if (strcmp(name, lg_roles[i].name) == 0)
			return lg_roles[i].role;
	}
	return NULL;
}

/* A pair of a role and a text, or a text of the user. */
static cJSON *lg_read_short(const cJSON *item, const char *at)
{
	const cJSON *text = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, 1) : item;
	const char *role =
	    cJSON_IsArray(item) ? lg_role_of(cJSON_GetStringValue(item->child)) : "user";
	if (!role || !cJSON_IsString(text))
		return NULL;
	cJSON *message = cJSON_CreateObject();
	json_add_str(message, MESSAGE_AT, at);
	json_add_str(message, "role", role);
	json_refer(message, "content", text);
	return message;
}

/* With all messages of the thread go those that stand before in the request. */
static void lg_read_removal(
    struct call *call, const cJSON *item, const char *at, cJSON *out, struct lg_removal *removal)
{
	const char *id = json_str(item, "id");
	if (!id || !*id) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.id", at),
		    json_opt(item, "id") ? "type_error" : "missing",
		    "must be a string that is not empty");
	} else if (strcmp(id, LG_REMOVE_ALL) == 0) {
		removal->all = true;
		while (out->child)
			cJSON_DeleteItemFromArray(out, 0);
		while (removal->ids->child)
			cJSON_DeleteItemFromArray(removal->ids, 0);
	} else if (cJSON_GetArraySize(removal->ids) == REMOVED_MOST) {
		error_wrong(&call->error, at, "value_error",
		    "must not be one of more than 1000 that are removed");
	} else if (!removal->all && !json_has_str(removal->ids, id)) {
		json_append(removal->ids, cJSON_CreateString(id));
	}
}

bool lg_may_remove(struct call *call, const char *thread_id, const struct lg_removal *removal)
{
	const struct permission deletes = {"checkpointer", "delete", thread_id},
				own = call->permission;
	bool may = !lg_removes(removal) || call_permit(call, &deletes);
	call->permission = own;
	return may;
}

/* Appends the message that an item stands for; it is of no use once mistakes are set. */
static void lg_read_message(
    struct call *call, const cJSON *item, const char *at, cJSON *out, struct lg_removal *removal)
{
	if (!cJSON_IsObject(item)) {
		cJSON *message = lg_read_short(item, at);
		if (message)
			cJSON_AddItemToArray(out, message);
		else
			error_wrong(&call->error, at, "type_error", "must be an object");
		return;
	}
	const cJSON *inner = json_opt(item, "kwargs");
	const char *type = json_str(item, "type"), *name = type ? type : json_str(item, "role");
	/* a class of LangChain prints the message inside: {"lc", "type", "id", "kwargs"} */
	if (json_opt(item, "lc") && cJSON_IsObject(inner))
		name = cJSON_GetStringValue(json_last(json_opt(item, "id")));
	else
		inner = item;
	const char *role = lg_role_of(name);
	bool removes = role && strcmp(role, LG_REMOVE) == 0;
	if (removes && removal) {
		lg_read_removal(call, inner, at, out, removal);
		return;
	}
	if (!role || removes) {
		error_wrong(&call->error, arena_printf(call->arena, "%s.type", at),
		    name ? "value_error" : "missing", "must be one of " TYPES);
		return;
	}
	cJSON *message = json_append(out, cJSON_CreateObject());
	json_add_str(message, MESSAGE_AT, at);
	json_add_str(message, "role", role);
	json_refer(message, "message_id", json_opt(inner, "id"));
	if (strcmp(role, "user") == 0 && cJSON_IsString(json_opt(inner, "content"))) {
		json_refer(message, "content", json_get(inner, "content"));
		return;
	}
	cJSON *blocks = json_add(message, "content", cJSON_CreateArray());
	if (strcmp(role, "tool") == 0) {
		lg_read_result(call, inner, at, blocks);
		return;
	}
	lg_read_content(call, inner, at, blocks);
	if (strcmp(role, "assistant") == 0)
		lg_read_calls(call, inner, at, blocks);
}

cJSON *lg_messages_read(
    struct call *call, const cJSON *messages, const char *at, struct lg_removal *removal)
{
	size_t mistakes = call->error.mistakes;
	cJSON *out = arena_json(call->arena, cJSON_CreateArray());
	const cJSON *item;
	int i = 0;
	if (removal)
		*removal = (struct lg_removal){
		    .at = at, .ids = arena_json(call->arena, cJSON_CreateArray())};
	/* a pair of texts might be two messages, as it is where messages are expected */
	if (messages && !cJSON_IsArray(messages)) {
		lg_read_message(call, messages, at, out, removal);
		return call->error.mistakes == mistakes ? out : NULL;
	}
	cJSON_ArrayForEach(item, messages) {
		if (call->error.mistakes >= ERROR_DETAILS_MAX)
			break; /* no more mistakes are reported */
		lg_read_message(
		    call, item, arena_printf(call->arena, "%s[%d]", at, i++), out, removal);
	}
	return call->error.mistakes == mistakes ? out : NULL;
}
