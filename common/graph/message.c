/* SPDX-License-Identifier: ISC */
/* Making messages, reading their members, and normalising what clients and nodes give. */
#include "graph/message.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/metrics.h"
#include "graph/block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 256

static const char *const usage_names[] = {"completion_tokens", "prompt_tokens", "total_tokens",
    "reasoning_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "image_tokens",
    "audio_tokens"};

const char *message_id(const cJSON *message)
{
	return json_str(message, "message_id");
}

const char *message_role(const cJSON *message)
{
	const char *role = json_str(message, "role");
	return role ? role : "";
}

bool message_is(const cJSON *message, const char *role)
{
	return strcmp(message_role(message), role) == 0;
}

bool block_is(const cJSON *block, const char *type)
{
	const char *name = json_str(block, "type");
	return name && strcmp(name, type) == 0;
}

bool block_is_call(const cJSON *block)
{
	return block_is(block, "tool_call") || block_is(block, "remote_tool_call");
}

bool message_has_calls(const cJSON *message)
{
	const cJSON *block;
	if (cJSON_GetArraySize(json_get(message, "tools_calls")) > 0)
		return true;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (block_is_call(block))
			return true;
	}
	return false;
}

bool message_tokens(const cJSON *message, int64_t *in, int64_t *out)
{
	const cJSON *usages = json_opt(message, "usages");
	*in = *out = 0;
	json_integer(json_get(usages, "prompt_tokens"), in);
	json_integer(json_get(usages, "completion_tokens"), out);
	return usages;
}

void message_count_tokens(const cJSON *message)
{
	int64_t in, out;
	if (message_tokens(message, &in, &out))
		metrics_tokens(json_str(json_opt(message, "metadata"), "model"), in, out);
}

void message_text(const cJSON *message, struct buf *out)
{
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (block_is(block, "text"))
			buf_puts(out, json_str(block, "text"));
	}
}

cJSON *block_text(const char *text)
{
	cJSON *block = cJSON_CreateObject();
	cJSON_AddStringToObject(block, "type", "text");
	cJSON_AddStringToObject(block, "text", text);
	cJSON_AddArrayToObject(block, "annotations");
	return block;
}

static cJSON *message_content_of(cJSON *block)
{
	cJSON *content = cJSON_CreateArray();
	cJSON_AddItemToArray(content, block);
	return content;
}

cJSON *content_text(const char *text)
{
	return message_content_of(block_text(text));
}

/* As text: printing a double so that it reads back the same costs more than all else here. */
static cJSON *now(void)
{
	char text[32];
	int64_t us = clock_now();
	snprintf(text, sizeof(text), "%" PRId64 ".%06d", us / 1000000, (int)(us % 1000000));
	return cJSON_CreateRaw(text);
}

static void add_members(cJSON *message, bool delta)
{
	cJSON_AddBoolToObject(message, "delta", delta);
	cJSON_AddNullToObject(message, "tools_calls");
	cJSON_AddNullToObject(message, "reasoning");
	cJSON_AddItemToObject(message, "timestamp", now());
	cJSON_AddObjectToObject(message, "metadata");
	cJSON_AddNullToObject(message, "usages");
	cJSON_AddNullToObject(message, "raw");
	cJSON_AddNullToObject(message, "parsed_content");
}

static cJSON *message_begin(const char *role, const char *id, cJSON *content, bool delta)
{
	cJSON *message = cJSON_CreateObject();
	cJSON_AddStringToObject(message, "message_id", id);
	cJSON_AddStringToObject(message, "role", role);
	cJSON_AddItemToObject(message, "content", content);
	add_members(message, delta);
	return message;
}

cJSON *message_new(const char *role, const char *id, cJSON *content)
{
	return message_begin(role, id, content, false);
}

cJSON *message_delta(const char *id, const char *text)
{
	return message_begin("assistant", id, content_text(text), true);
}

cJSON *message_reasoning_delta(const char *id, const char *text)
{
	cJSON *block = cJSON_CreateObject();
	cJSON_AddStringToObject(block, "type", "reasoning");
	cJSON_AddStringToObject(block, "summary", text);
	cJSON_AddArrayToObject(block, "details");
	return message_begin("assistant", id, message_content_of(block), true);
}

cJSON *message_tool_result(const char *id, const char *call_id, cJSON *output, bool is_error)
{
	cJSON *block = cJSON_CreateObject();
	cJSON_AddStringToObject(block, "type", "tool_result");
	cJSON_AddStringToObject(block, "call_id", call_id);
	cJSON_AddItemToObject(block, "output", output ? output : cJSON_CreateNull());
	cJSON_AddBoolToObject(block, "is_error", is_error);
	cJSON_AddStringToObject(block, "status", is_error ? "failed" : "completed");
	return message_new("tool", id, message_content_of(block));
}

static void message_add_call(cJSON *calls, const char *id, const char *name, const char *arguments)
{
	cJSON *call = cJSON_CreateObject();
	cJSON_AddItemToArray(calls, call);
	cJSON_AddStringToObject(call, "id", id);
	cJSON_AddStringToObject(call, "type", "function");
	cJSON *function = cJSON_AddObjectToObject(call, "function");
	cJSON_AddStringToObject(function, "name", name);
	cJSON_AddStringToObject(function, "arguments", arguments);
}

void message_fill_calls(cJSON *message)
{
	cJSON *calls = cJSON_CreateArray();
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block))
			continue;
		char *arguments = json_print(json_get(block, "args"));
		message_add_call(calls, json_str(block, "id"), json_str(block, "name"), arguments);
		cJSON_free(arguments);
	}
	if (!calls->child) {
		cJSON_Delete(calls);
		calls = cJSON_CreateNull();
	}
	json_set(message, "tools_calls", calls);
}

/* The reasoning member: the summaries of the reasoning blocks, a blank line between them. */
static void fill_reasoning(cJSON *message)
{
	struct buf text = {0};
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is(block, "reasoning"))
			continue;
		if (text.len)
			buf_puts(&text, "\n\n");
		buf_puts(&text, json_str(block, "summary"));
	}
	if (text.len)
		json_set(message, "reasoning", cJSON_CreateString(buf_str(&text)));
	buf_release(&text);
}

/* ---- from outside ---- */

struct reading {
	const cJSON *input;
	const char *path;
	enum message_origin origin;
	struct error *err;
};

static bool message_wrong(
    struct reading *r, const char *name, const char *type, const char *expected)
{
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.%s", r->path, name);
	return error_field(
	    r->err, ERR_VALIDATION, at, type, "%s must be %s", path_in_body(at), expected);
}

static const char *message_read_role(struct reading *r)
{
	static const char *const roles[] = {"user", "assistant", "system", "tool"};
	const char *role = json_str(r->input, "role");
	for (size_t i = 0; role && i < 4; i++) {
		if (strcmp(role, roles[i]) == 0)
			return roles[i];
	}
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.role", r->path);
	error_field(r->err, ERR_VALIDATION, at,
	    json_opt(r->input, "role") ? "value_error" : "missing",
	    "role must be one of user, assistant, system, tool");
	return NULL;
}

/* An id that is a string, or an integer beyond 64 bits, which is kept as it was written. */
static const char *message_id_text(const cJSON *item)
{
	static const char digits[] = "-0123456789";
	const char *text = item->valuestring;
	bool big = cJSON_IsRaw(item) && text[strspn(text, digits)] == '\0';
	return cJSON_IsString(item) || big ? text : NULL;
}

/* The client's id as text; "" when one is to be assigned. */
static bool read_id(struct reading *r, char *out, size_t size)
{
	const cJSON *item = json_opt(r->input, "message_id");
	int64_t number;
	out[0] = '\0';
	if (!item)
		return true;
	if (json_integer(item, &number)) {
		if (number != 0)
			snprintf(out, size, "%" PRId64, number);
		return true;
	}
	const char *text = message_id_text(item);
	if (!text)
		return message_wrong(r, "message_id", "type_error", "a string or an integer");
	if (id_blank(text) || strcmp(text, "0") == 0)
		return true;
	if (!id_valid(text))
		return message_wrong(r, "message_id", "value_error",
		    "1 to 255 characters without control characters");
	snprintf(out, size, "%s", text);
	return true;
}

static cJSON *read_blocks(struct reading *r, const cJSON *content)
{
	cJSON *out = cJSON_CreateArray();
	const cJSON *item;
	int i = 0;
	cJSON_ArrayForEach(item, content) {
		char at[PATH_SIZE];
		snprintf(at, sizeof(at), "%s.content[%d]", r->path, i++);
		cJSON *block = block_normalise(item, at, r->err);
		if (block)
			cJSON_AddItemToArray(out, block);
	}
	return out;
}

static cJSON *message_read_content(struct reading *r)
{
	const cJSON *content = json_opt(r->input, "content");
	if (cJSON_IsString(content))
		return content_text(content->valuestring);
	if (cJSON_IsArray(content))
		return read_blocks(r, content);
	message_wrong(
	    r, "content", content ? "type_error" : "missing", "a string or an array of blocks");
	return cJSON_CreateArray();
}

static bool read_timestamp(struct reading *r, cJSON *message)
{
	const cJSON *item = json_opt(r->input, "timestamp");
	double seconds;
	if (!item)
		return true;
	if (!json_number(item, &seconds))
		return message_wrong(r, "timestamp", "type_error", "a number");
	if (seconds > 1e12)
		seconds /= 1000;
	json_set(message, "timestamp", json_new_double(seconds));
	return true;
}

static bool read_metadata(struct reading *r, cJSON *message)
{
	const cJSON *item = json_opt(r->input, "metadata");
	if (!item)
		return true;
	if (!cJSON_IsObject(item))
		return message_wrong(r, "metadata", "type_error", "an object");
	json_set(message, "metadata", cJSON_Duplicate(item, true));
	return true;
}

static bool is_call(const cJSON *call)
{
	const cJSON *function = json_get(call, "function");
	return json_str(call, "id") && json_str(function, "name") &&
	    json_str(function, "arguments");
}

static bool read_calls(struct reading *r, cJSON *message)
{
	const cJSON *calls = json_opt(r->input, "tools_calls"), *call;
	if (!calls || (cJSON_IsArray(calls) && !calls->child)) {
		message_fill_calls(message);
		return true;
	}
	if (!cJSON_IsArray(calls))
		return message_wrong(r, "tools_calls", "type_error", "an array");
	cJSON_ArrayForEach(call, calls) {
		if (!is_call(call))
			return message_wrong(r, "tools_calls", "value_error",
			    "an array of {id, type, function: {name, arguments}}");
	}
	cJSON *out = cJSON_CreateArray();
	json_set(message, "tools_calls", out);
	cJSON_ArrayForEach(call, calls) {
		const cJSON *function = json_get(call, "function");
		message_add_call(out, json_str(call, "id"), json_str(function, "name"),
		    json_str(function, "arguments"));
	}
	return true;
}

static void read_usages(const cJSON *input, cJSON *message)
{
	const cJSON *usages = json_opt(input, "usages");
	if (!cJSON_IsObject(usages))
		return;
	cJSON *out = cJSON_CreateObject();
	for (size_t i = 0; i < sizeof(usage_names) / sizeof(usage_names[0]); i++) {
		int64_t value = 0;
		json_integer(json_get(usages, usage_names[i]), &value);
		json_add_int(out, usage_names[i], value);
	}
	json_set(message, "usages", out);
}

static void read_node_members(struct reading *r, cJSON *message)
{
	const cJSON *parsed = json_opt(r->input, "parsed_content");
	read_usages(r->input, message);
	if (parsed)
		json_set(message, "parsed_content", cJSON_Duplicate(parsed, true));
}

/* A tool message of plain text that names its call becomes a tool_result. */
static cJSON *text_result(const cJSON *input, cJSON *content)
{
	const char *call_id = json_str(input, "tool_call_id");
	if (!call_id)
		call_id = json_str(input, "call_id");
	const cJSON *first = content->child;
	if (!call_id || !first || first->next || !block_is(first, "text"))
		return content;
	cJSON *message =
	    message_tool_result("", call_id, cJSON_CreateString(json_str(first, "text")), false);
	cJSON *result = cJSON_DetachItemFromObjectCaseSensitive(message, "content");
	cJSON_Delete(message);
	cJSON_Delete(content);
	return result;
}

cJSON *message_normalise(const cJSON *input, const char *path, enum message_origin origin,
    const struct id_source *ids, struct error *err)
{
	struct reading r = {input, path, origin, err};
	size_t mistakes = err->mistakes;
	if (!cJSON_IsObject(input)) {
		error_field(err, ERR_VALIDATION, path, "type_error", "%s must be an object",
		    path_in_body(path));
		return NULL;
	}
	char id[1024];
	const char *role = message_read_role(&r);
	bool ok = read_id(&r, id, sizeof(id));
	if (ok && !*id)
		id_make(ids, id);
	cJSON *content = message_read_content(&r);
	if (role && strcmp(role, "tool") == 0)
		content = text_result(input, content);
	cJSON *message = message_new(role ? role : "", id, content);
	ok = read_timestamp(&r, message) && ok;
	ok = read_metadata(&r, message) && ok;
	ok = read_calls(&r, message) && ok;
	if (origin == MESSAGE_FROM_NODE)
		read_node_members(&r, message);
	fill_reasoning(message);
	if (!role || !ok || err->mistakes != mistakes) {
		cJSON_Delete(message);
		return NULL;
	}
	return message;
}
