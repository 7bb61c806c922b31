/* SPDX-License-Identifier: ISC */
/* Making messages, reading their members, and normalising what clients and nodes give. */
#include "graph/message/message.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/metrics/metrics.h"
#include "base/os/clock.h"
#include "storage/runs.h"

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

const cJSON *message_last(const cJSON *messages, const char *role)
{
	for (const cJSON *m = json_last(messages); m; m = m == messages->child ? NULL : m->prev) {
		if (!role || message_is(m, role))
			return m;
	}
	return NULL;
}

bool block_is(const cJSON *block, const char *type)
{
	return json_str_is(block, "type", type);
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

bool message_is_cut(const cJSON *message)
{
	const cJSON *metadata = json_get(message, "metadata");
	return json_str_is(metadata, "finish_reason", "length") ||
	    json_str_is(metadata, "finish_reason", "content_filter");
}

static int64_t message_usage_of(const cJSON *usages, const char *name)
{
	int64_t value = 0;
	return json_integer(json_get(usages, name), &value) && value > 0 ? value : 0;
}

bool message_usage(const cJSON *message, struct run_usage *sum)
{
	const cJSON *usages = json_opt(message, "usages");
	if (!usages)
		return false;
	int64_t prompt = message_usage_of(usages, "prompt_tokens");
	int64_t completion = message_usage_of(usages, "completion_tokens");
	int64_t total = message_usage_of(usages, "total_tokens");
	sum->prompt += prompt;
	sum->completion += completion;
	sum->reasoning += message_usage_of(usages, "reasoning_tokens");
	sum->total += total ? total : prompt + completion;
	return true;
}

void message_keep_usage(cJSON *kept, const struct run_usage *sum)
{
	if (!sum->total)
		return;
	cJSON *usages = cJSON_AddObjectToObject(kept, "usages");
	json_add_int(usages, "prompt_tokens", sum->prompt);
	json_add_int(usages, "completion_tokens", sum->completion);
	json_add_int(usages, "reasoning_tokens", sum->reasoning);
	json_add_int(usages, "total_tokens", sum->total);
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
	cJSON *block = json_typed("text");
	json_add_str(block, "text", text);
	json_add(block, "annotations", cJSON_CreateArray());
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

static cJSON *message_begin(const char *role, const char *id, cJSON *content, bool delta)
{
	cJSON *message = cJSON_CreateObject();
	json_add_str(message, "message_id", id);
	json_add_str(message, "role", role);
	json_add(message, "content", content);
	json_add(message, "delta", cJSON_CreateBool(delta));
	json_add(message, "tools_calls", cJSON_CreateNull());
	json_add(message, "reasoning", cJSON_CreateNull());
	/* As text: printing a double so that it reads back the same costs more than all else. */
	char now[DECIMAL_TIME_SIZE];
	json_add_raw(message, "timestamp", clock_decimal(clock_now(), now));
	json_add(message, "metadata", cJSON_CreateObject());
	json_add(message, "usages", cJSON_CreateNull());
	json_add(message, "raw", cJSON_CreateNull());
	json_add(message, "parsed_content", cJSON_CreateNull());
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
	cJSON *block = json_typed("reasoning");
	json_add_str(block, "summary", text);
	json_add(block, "details", cJSON_CreateArray());
	return message_begin("assistant", id, message_content_of(block), true);
}

size_t message_word(const char *text)
{
	static const char white[] = " \t\r\n";
	size_t space = strspn(text, white);
	size_t len = space + strcspn(text + space, white);
	size_t trail = strspn(text + len, white);
	return text[len + trail] ? len : len + trail;
}

cJSON *message_tool_result(const char *id, const char *call_id, cJSON *output, bool is_error)
{
	cJSON *block = json_typed("tool_result");
	json_add_str(block, "call_id", call_id);
	json_add_or_null(block, "output", output);
	json_add(block, "is_error", cJSON_CreateBool(is_error));
	json_add_str(block, "status", is_error ? "failed" : "completed");
	return message_new("tool", id, message_content_of(block));
}

static void message_add_call(cJSON *calls, const char *id, const char *name, const char *arguments)
{
	cJSON *call = cJSON_CreateObject();
	cJSON_AddItemToArray(calls, call);
	json_add_str(call, "id", id);
	json_add_str(call, "type", "function");
	cJSON *function = json_add(call, "function", cJSON_CreateObject());
	json_add_str(function, "name", name);
	json_add_str(function, "arguments", arguments);
}

void message_fill_calls(cJSON *message)
{
	cJSON *calls = NULL;
	const cJSON *block;
	cJSON_ArrayForEach(block, json_get(message, "content")) {
		if (!block_is_call(block))
			continue;
		if (!calls)
			calls = cJSON_CreateArray();
		char *arguments = json_print(json_get(block, "args"));
		message_add_call(calls, json_str(block, "id"), json_str(block, "name"), arguments);
		cJSON_free(arguments);
	}
	if (calls || json_opt(message, "tools_calls"))
		json_set(message, "tools_calls", calls ? calls : cJSON_CreateNull());
}

/* The reasoning member: the summaries of the reasoning blocks, a blank line between them. */
static void message_fill_reasoning(cJSON *message)
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
	struct error *err;
};

static bool message_wrong(
    struct reading *r, const char *name, const char *type, const char *expected)
{
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.%s", r->path, name);
	return error_wrong(r->err, at, type, "must be %s", expected);
}

static const char *message_read_role(struct reading *r)
{
	static const char *const roles[] = {"user", "assistant", "system", "tool"};
	const cJSON *given = json_opt(r->input, "role");
	const char *role = cJSON_GetStringValue(given);
	for (size_t i = 0; role && i < 4; i++) {
		if (strcmp(role, roles[i]) == 0)
			return roles[i];
	}
	char at[PATH_SIZE];
	snprintf(at, sizeof(at), "%s.role", r->path);
	error_field(r->err, ERR_VALIDATION, at,
	    role        ? "value_error"
		: given ? "type_error"
			: "missing",
	    "role must be one of user, assistant, system, tool");
	return NULL;
}

/* The client's id as text; "" when one is to be assigned. */
static bool message_read_id(struct reading *r, char *out, size_t size)
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
	/* a string, or an integer beyond 64 bits, which is kept as it was written */
	const char *text = item->valuestring;
	bool big = cJSON_IsRaw(item) && text[strspn(text, "-0123456789")] == '\0';
	if (!cJSON_IsString(item) && !big)
		return message_wrong(r, "message_id", "type_error", "a string or an integer");
	if (id_blank(text) || strcmp(text, "0") == 0)
		return true;
	if (!id_valid(text))
		return message_wrong(r, "message_id", "value_error",
		    "1 to 255 characters without control characters");
	snprintf(out, size, "%s", text);
	return true;
}

static cJSON *message_read_content(struct reading *r)
{
	const cJSON *content = json_opt(r->input, "content");
	if (cJSON_IsString(content))
		return content_text(content->valuestring);
	cJSON *out = cJSON_CreateArray();
	if (!cJSON_IsArray(content)) {
		message_wrong(r, "content", content ? "type_error" : "missing",
		    "a string or an array of blocks");
		return out;
	}
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

/* What is taken over as it is, if it is of its type. */
struct plain {
	const cJSON *timestamp, *metadata, *tools_calls;
};

static const struct field_row plain_rows[] = {
    FIELD(plain, timestamp, .kind = &field_json, .types = TYPE_NUMBER),
    FIELD(plain, metadata, .kind = &field_json, .types = TYPE_OBJECT),
    FIELD(plain, tools_calls, .kind = &field_json, .types = TYPE_ARRAY),
    FIELDS_END,
};

static bool message_read_calls(struct reading *r, const cJSON *calls, cJSON *message)
{
	const cJSON *call;
	if (!calls || !calls->child) {
		message_fill_calls(message);
		return true;
	}
	cJSON_ArrayForEach(call, calls) {
		const cJSON *function = json_get(call, "function");
		if (!json_str(call, "id") || !json_str(function, "name") ||
		    !json_str(function, "arguments"))
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

static void message_read_node_members(struct reading *r, cJSON *message)
{
	const cJSON *parsed = json_opt(r->input, "parsed_content");
	const cJSON *usages = json_opt(r->input, "usages");
	if (cJSON_IsObject(usages)) {
		cJSON *out = cJSON_CreateObject();
		for (size_t i = 0; i < sizeof(usage_names) / sizeof(usage_names[0]); i++) {
			int64_t count = 0;
			json_count(json_opt(usages, usage_names[i]), &count);
			json_add_int(out, usage_names[i], count);
		}
		json_set(message, "usages", out);
	}
	if (parsed)
		json_set(message, "parsed_content", cJSON_Duplicate(parsed, true));
}

/* A tool message of plain text that names its call becomes a tool_result. */
static cJSON *message_text_result(struct reading *r, cJSON *content)
{
	const cJSON *call_id = json_opt(r->input, "tool_call_id"), *first = content->child;
	if (!call_id)
		call_id = json_opt(r->input, "call_id");
	if (call_id && !cJSON_IsString(call_id)) {
		message_wrong(r, call_id->string, "type_error", "a string");
		return content;
	}
	if (!call_id || !first || first->next || !block_is(first, "text"))
		return content;
	cJSON *message = message_tool_result(
	    "", call_id->valuestring, cJSON_CreateString(json_str(first, "text")), false);
	cJSON *result = cJSON_DetachItemFromObjectCaseSensitive(message, "content");
	cJSON_Delete(message);
	cJSON_Delete(content);
	return result;
}

cJSON *message_normalise(const cJSON *input, const char *path, enum message_origin origin,
    const struct id_source *ids, struct error *err)
{
	struct reading r = {input, path, err};
	size_t mistakes = err->mistakes;
	if (!cJSON_IsObject(input)) {
		error_wrong(err, path, "type_error", "must be an object");
		return NULL;
	}
	char id[1024];
	const char *role = message_read_role(&r);
	bool ok = message_read_id(&r, id, sizeof(id));
	if (ok && !*id)
		id_make(ids, id);
	cJSON *content = message_read_content(&r);
	if (role && strcmp(role, "tool") == 0)
		content = message_text_result(&r, content);
	cJSON *message = message_new(role ? role : "", id, content);
	struct plain given = {0};
	double seconds;
	ok = fields_read_body(err, path, input, plain_rows, &given) && ok;
	if (json_number(given.timestamp, &seconds)) /* in milliseconds, when it is that large */
		json_set(message, "timestamp",
		    json_new_double(seconds > 1e12 ? seconds / 1000 : seconds));
	if (given.metadata)
		json_set(message, "metadata", cJSON_Duplicate(given.metadata, true));
	ok = message_read_calls(&r, given.tools_calls, message) && ok;
	if (origin == MESSAGE_FROM_NODE)
		message_read_node_members(&r, message);
	message_fill_reasoning(message);
	if (!role || !ok || err->mistakes != mistakes) {
		cJSON_Delete(message);
		return NULL;
	}
	return message;
}
