/* SPDX-License-Identifier: ISC */
/* Writing requests and answers, and reading content blocks and lists of tools. */
#include "tool/mcp/mcp_message.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/process/process.h"
#include "tool/mcp/mcp_headers.h"
#include "tool/mcp/mcp_version.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TOOLS 1000
#define MOST_ID 256 /* bytes of an id of the server's, which its answer repeats */

/* ---- What is sent */

static char *mcp_message_text(cJSON *message)
{
	char *text = json_print(message);
	cJSON_Delete(message);
	return text;
}

static cJSON *mcp_message_new(void)
{
	cJSON *message = cJSON_CreateObject();
	json_add_str(message, "jsonrpc", "2.0");
	return message;
}

static void mcp_message_add_params(cJSON *message, const char *method, cJSON *params)
{
	json_add_str(message, "method", method);
	if (params)
		cJSON_AddItemToObject(message, "params", params);
}

char *mcp_request_text(int64_t id, const char *method, cJSON *params)
{
	cJSON *message = mcp_message_new();
	json_add_int(message, "id", id);
	mcp_message_add_params(message, method, params);
	return mcp_message_text(message);
}

char *mcp_notification_text(const char *method, cJSON *params)
{
	cJSON *message = mcp_message_new();
	mcp_message_add_params(message, method, params);
	return mcp_message_text(message);
}

cJSON *mcp_elicited(const char *action)
{
	cJSON *result = cJSON_CreateObject();
	cJSON_AddStringToObject(result, "action", action);
	return result;
}

cJSON *mcp_own_answer(const char *method)
{
	cJSON *result = NULL;
	if (strcmp(method, "elicitation/create") == 0)
		return mcp_elicited("cancel");
	if (strcmp(method, "ping") == 0 || strcmp(method, "roots/list") == 0)
		result = cJSON_CreateObject();
	if (strcmp(method, "roots/list") == 0)
		cJSON_AddArrayToObject(result, "roots");
	return result;
}

char *mcp_answer_text(const cJSON *request, cJSON *result)
{
	const char *method = json_str(request, "method");
	cJSON *answer = mcp_message_new();
	cJSON_AddItemToObject(answer, "id", cJSON_Duplicate(json_get(request, "id"), true));
	if (result) {
		cJSON_AddItemToObject(answer, "result", result);
	} else {
		char *text = xasprintf("this client does not answer %.100s", method);
		utf8_repair(text); /* it may be cut within a character */
		cJSON *error = cJSON_AddObjectToObject(answer, "error");
		json_add_int(error, "code", MCP_METHOD_NOT_FOUND);
		json_add_str(error, "message", text);
		free(text);
	}
	return mcp_message_text(answer);
}

static void mcp_message_add_capabilities(cJSON *to, const char *key)
{
	cJSON *capabilities = cJSON_AddObjectToObject(to, key);
	cJSON_AddObjectToObject(cJSON_AddObjectToObject(capabilities, "elicitation"), "form");
}

static void mcp_message_add_client(cJSON *to, const char *key)
{
	cJSON *info = cJSON_AddObjectToObject(to, key);
	json_add_str(info, "name", "agentgraph");
	json_add_str(info, "version", AGENTGRAPH_VERSION);
}

cJSON *mcp_hello(void)
{
	cJSON *params = cJSON_CreateObject();
	json_add_str(params, "protocolVersion", MCP_LATEST_SESSION);
	mcp_message_add_capabilities(params, "capabilities");
	mcp_message_add_client(params, "clientInfo");
	return params;
}

void mcp_add_meta(cJSON *params, const char *version)
{
	cJSON *meta = cJSON_AddObjectToObject(params, "_meta");
	cJSON_AddStringToObject(meta, MCP_META_VERSION, version);
	mcp_message_add_capabilities(meta, MCP_META_CAPABILITIES);
	mcp_message_add_client(meta, MCP_META "clientInfo");
}

/* ---- What comes */

bool mcp_version_known(const char *version)
{
	const struct mcp_version *known = mcp_version_find(version);
	return known && !known->stateless;
}

bool mcp_version_is_stateless(const char *version)
{
	const struct mcp_version *known = mcp_version_find(version);
	return known && known->stateless;
}

enum mcp_kind mcp_kind_of(const cJSON *message)
{
	const cJSON *id = json_opt(message, "id");
	bool has_id = json_is_number(id) ||
	    (cJSON_IsString(id) && strnlen(id->valuestring, MOST_ID + 1) <= MOST_ID);
	if (!cJSON_IsObject(message) || (id && !has_id))
		return MCP_NO_MESSAGE;
	if (json_str(message, "method"))
		return id ? MCP_REQUEST : MCP_NOTIFICATION;
	if (has_id && (json_get(message, "result") || json_get(message, "error")))
		return MCP_REPLY;
	return MCP_NO_MESSAGE;
}

int64_t mcp_reply_id(const cJSON *reply)
{
	const cJSON *id = json_get(reply, "id");
	int64_t value;
	char *end;
	if (json_integer(id, &value))
		return value >= 0 ? value : -1;
	if (!cJSON_IsString(id) || !*id->valuestring) /* some servers turn ids into text */
		return -1;
	value = strtoll(id->valuestring, &end, 10);
	return *end || value < 0 ? -1 : value;
}

void mcp_error_text(const cJSON *error, char out[MCP_WHY_SIZE])
{
	const char *text = json_str(error, "message");
	int64_t code = 0;
	json_integer(json_get(error, "code"), &code);
	snprintf(
	    out, MCP_WHY_SIZE, "%.400s (%lld)", text ? text : "the server failed", (long long)code);
	process_clean(out);
}

/* ---- Results */

static void mcp_message_copy_str(
    cJSON *to, const char *key, const cJSON *from, const char *from_key)
{
	const char *value = json_str(from, from_key);
	if (value)
		json_add_str(to, key, value);
}

static void mcp_message_add_resource(cJSON *out, const cJSON *resource)
{
	mcp_message_copy_str(out, "uri", resource, "uri");
	mcp_message_copy_str(out, "name", resource, "name");
	mcp_message_copy_str(out, "description", resource, "description");
	mcp_message_copy_str(out, "mime_type", resource, "mimeType");
	mcp_message_copy_str(out, "text", resource, "text");
	mcp_message_copy_str(out, "data_base64", resource, "blob");
}

/* The text of a content that has nothing else, or NULL.  Some servers give a plain string. */
static cJSON *mcp_message_text_output(const cJSON *content)
{
	struct buf text = {0};
	const cJSON *block;
	if (cJSON_IsString(content))
		return cJSON_Duplicate(content, false);
	cJSON_ArrayForEach(block, content) {
		const char *type = json_str(block, "type");
		if (!type || strcmp(type, "text") != 0 || !json_str(block, "text")) {
			buf_release(&text);
			return NULL;
		}
		if (block != content->child)
			buf_putc(&text, '\n');
		buf_puts(&text, json_str(block, "text"));
	}
	cJSON *output = cJSON_CreateString(buf_str(&text));
	buf_release(&text);
	return output;
}

cJSON *mcp_output(const cJSON *result, bool *is_error)
{
	const cJSON *structured = json_opt(result, "structuredContent"), *block;
	const cJSON *content = json_get(result, "content");
	*is_error = cJSON_IsTrue(json_get(result, "isError"));
	if (structured && (!*is_error || cJSON_GetArraySize(content) == 0))
		return cJSON_Duplicate(structured, true);
	cJSON *output = mcp_message_text_output(content);
	if (output)
		return output;
	/* the blocks in the terms of this service's own */
	output = cJSON_CreateArray();
	cJSON_ArrayForEach(block, content) {
		const char *type = json_str(block, "type");
		cJSON *own = json_append(output, json_typed(type ? type : "unknown"));
		mcp_message_copy_str(own, "text", block, "text");
		mcp_message_copy_str(own, "mime_type", block, "mimeType");
		mcp_message_copy_str(own, "data_base64", block, "data");
		if (type && strcmp(type, "resource") == 0)
			mcp_message_add_resource(own, json_get(block, "resource"));
		if (type && strcmp(type, "resource_link") == 0)
			mcp_message_add_resource(own, block);
	}
	return output;
}

/* ---- Lists */

struct mcp_tools *mcp_tools_new(void)
{
	struct mcp_tools *tools = xcalloc(1, sizeof(*tools));
	atomic_init(&tools->holders, 1);
	return tools;
}

void mcp_tools_release(struct mcp_tools *tools)
{
	if (!tools || atomic_fetch_sub(&tools->holders, 1) != 1)
		return;
	for (size_t i = 0; i < tools->count; i++) {
		struct mcp_tool *tool = &tools->items[i];
		free(tool->name);
		free(tool->description);
		schema_free(tool->schema);
		cJSON_Delete(tool->parameters);
	}
	free(tools->items);
	free(tools);
}

const struct mcp_tool *mcp_tools_get(const struct mcp_tools *tools, const char *name)
{
	for (size_t i = 0; i < tools->count; i++) {
		if (strcmp(tools->items[i].name, name) == 0)
			return &tools->items[i];
	}
	return NULL;
}

/* Adds a tool.  A bad schema does not keep it away: the server checks its arguments itself. */
static void mcp_message_add_tool(struct mcp_tools *tools, const cJSON *item, const char *server)
{
	const char *name = json_str(item, "name"), *description = json_str(item, "description");
	if (!name || !*name || mcp_tools_get(tools, name)) {
		log_warning("mcp %s: a tool without a name of its own is left out", server);
		return;
	}
	/* its parameters, with what models and this service need of a schema, whatever the server
	 * left out */
	const cJSON *given = json_get(item, "inputSchema");
	cJSON *parameters =
	    cJSON_IsObject(given) ? cJSON_Duplicate(given, true) : cJSON_CreateObject();
	if (!json_str(parameters, "type"))
		json_set(parameters, "type", cJSON_CreateString("object"));
	if (!cJSON_IsObject(json_get(parameters, "properties")))
		json_set(parameters, "properties", cJSON_CreateObject());
	if (!cJSON_IsArray(json_get(parameters, "required")))
		json_set(parameters, "required", cJSON_CreateArray());
	tools->items = xrealloc(tools->items, (tools->count + 1) * sizeof(*tools->items));
	struct mcp_tool *tool = &tools->items[tools->count++];
	*tool = (struct mcp_tool){.name = xstrdup(name),
	    .description = xstrdup(description ? description : ""),
	    .parameters = parameters};
	struct problems problems = {0};
	char *where = xasprintf("mcp %s: tool '%.100s': inputSchema", server, tool->name);
	tool->schema = schema_compile(tool->parameters, where, &problems);
	for (size_t i = 0; i < problems.count && i < 3; i++)
		log_warning("%s", problems.items[i].text);
	problems_release(&problems);
	free(where);
}

bool mcp_tools_add(
    struct mcp_tools *tools, const cJSON *result, const char *server, bool in_headers)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(result, "tools")) {
		const char *name = json_str(item, "name"), *fault = NULL;
		if (tools->count == MOST_TOOLS)
			return false;
		if (in_headers)
			fault = mcp_headers_fault(json_get(item, "inputSchema"));
		if (fault) {
			log_warning("mcp %s: the tool '%.80s' is left out: an x-mcp-header %s",
			    server, name ? name : "", fault);
			continue;
		}
		mcp_message_add_tool(tools, item, server);
	}
	return true;
}
