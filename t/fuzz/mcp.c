/* SPDX-License-Identifier: ISC */
/*
 * Messages of MCP servers: whatever the bytes, a message is of exactly one kind, each request is
 * answered with JSON, a result becomes an output that can be printed, and the tools of a list have
 * different names.
 */
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "replay.h"
#include "tool/mcp/mcp_headers.h"
#include "tool/mcp/mcp_internal.h"
#include "tool/mcp/mcp_message.h"

#include <stdlib.h>
#include <string.h>

static void check_text(char *text)
{
	cJSON *json = json_parse(text, strlen(text), JSON_TRUSTED_DEPTH, NULL);
	require(cJSON_IsObject(json));
	cJSON_Delete(json);
	free(text);
}

static void check_output(const cJSON *result)
{
	bool is_error;
	cJSON *output = mcp_output(result, &is_error);
	char *text = json_print(output);
	require(output && utf8_valid(text, strlen(text)));
	free(text);
	cJSON_Delete(output);
}

static void check_tools(const cJSON *result)
{
	char why[SCHEMA_WHY_SIZE];
	struct mcp_tools *tools = mcp_tools_new();
	mcp_tools_add(tools, result, "fuzz", true);
	/* the same page once more: what it adds was left out before */
	mcp_tools_add(tools, result, "fuzz", false);
	for (size_t i = 0; i < tools->count; i++) {
		const struct mcp_tool *tool = &tools->items[i];
		require(mcp_tools_get(tools, tool->name) == tool);
		if (tool->schema && !schema_accepts(tool->schema, result, "arguments", why))
			require(*why && utf8_valid(why, strlen(why)));
	}
	mcp_tools_release(tools);
}

/* Checks that no header has bytes that would end it. */
static void check_headers(const cJSON *message)
{
	const cJSON *params = json_get(message, "params"), *header;
	if (mcp_headers_fault(json_get(params, "inputSchema")))
		return;
	cJSON *headers = mcp_headers_new("tools/call", params, json_get(params, "inputSchema"));
	cJSON_ArrayForEach(header, headers)
		require(
		    !strpbrk(header->string, "\r\n: ") && !strpbrk(header->valuestring, "\r\n"));
	cJSON_Delete(headers);
}

static void check_reply(const cJSON *message)
{
	char why[MCP_WHY_SIZE];
	const cJSON *result = json_get(message, "result");
	require(mcp_reply_id(message) >= -1);
	mcp_error_text(json_get(message, "error"), why);
	require(utf8_valid(why, strlen(why)));
	mcp_version_known(json_str(result, "protocolVersion"));
	check_output(result);
	check_tools(result);
}

/* Takes the bytes as the challenge of a server that wants a token. */
static void check_challenge(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"resource_metadata", "scope", "error"};
	char *text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *value = mcp_challenge_get(text, names[i]);
		require(!value || strlen(value) < size);
		free(value);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_challenge(data, size);
	log_init("fuzz", LOG_ERROR);
	cJSON *message = json_parse_mended((const char *)data, size, JSON_REQUEST_DEPTH);
	switch (mcp_kind_of(message)) {
	case MCP_REQUEST:
		check_headers(message);
		check_text(mcp_answer_text(message, mcp_own_answer(json_str(message, "method"))));
		break;
	case MCP_REPLY:
		check_reply(message);
		break;
	case MCP_NOTIFICATION:
	case MCP_NO_MESSAGE:
		break;
	}
	cJSON_Delete(message);
	return 0;
}
