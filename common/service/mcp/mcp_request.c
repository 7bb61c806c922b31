/* SPDX-License-Identifier: ISC */
/* Reading JSON-RPC, agreeing on a version, headers that say the same as the body, and errors. */
#include "service/mcp/mcp_request.h"

#include "base/base64.h"
#include "base/json/json.h"
#include "base/json/json_rpc.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

static const struct mcp_fault_row {
	enum mcp_code code;
	const char *word;
	int status, with_handshake;
} mcp_faults[] = {
    {MCP_PARSE_ERROR, "PARSE_ERROR", 400, 400},
    {MCP_INVALID_REQUEST, "INVALID_REQUEST", 400, 400},
    {MCP_METHOD_NOT_FOUND, "METHOD_NOT_FOUND", 404, 200},
    {MCP_INVALID_PARAMS, "INVALID_PARAMS", 400, 200},
    {MCP_HEADER_MISMATCH, "HEADER_MISMATCH", 400, 400},
    {MCP_UNSUPPORTED_VERSION, "UNSUPPORTED_PROTOCOL_VERSION", 400, 400},
};

#define MCP_FAULTS (sizeof(mcp_faults) / sizeof(mcp_faults[0]))

bool mcp_fault(
    struct call *call, const struct mcp_request *rq, enum mcp_code code, const char *fmt, ...)
{
	const struct mcp_fault_row *row = mcp_faults;
	bool handshake = rq->version && !rq->version->stateless;
	va_list args;
	va_start(args, fmt);
	error_vset(&call->error, ERR_BAD_REQUEST, fmt, args);
	va_end(args);
	while (row->code != code)
		row++;
	call->error.status = handshake ? row->with_handshake : row->status;
	snprintf(call->error.code, sizeof(call->error.code), "%s", row->word);
	return false;
}

/* The code of an error: JSON-RPC's for a fault of the protocol, or in its body; else the HTTP
 * status, since the protocol's other codes have meanings of their own. */
static int mcp_code_of(const struct error_view *view)
{
	for (size_t i = 0; i < MCP_FAULTS; i++)
		if (strcmp(mcp_faults[i].word, view->code) == 0)
			return mcp_faults[i].code;
	const cJSON *first = view->details ? view->details->child : NULL;
	const char *type = json_str(first, "type");
	if (type && strcmp(type, "json_invalid") == 0)
		return MCP_PARSE_ERROR;
	if (first)
		return MCP_INVALID_REQUEST;
	return view->status < 500 ? view->status : MCP_INTERNAL_ERROR;
}

static const cJSON *mcp_meta_version(const cJSON *body)
{
	return json_opt(json_get(json_get(body, "params"), "_meta"), MCP_META_VERSION);
}

/* The version that a message asks for, or NULL. */
static const char *mcp_version_asked(const struct mcp_post *post)
{
	const cJSON *meta = mcp_meta_version(post->body);
	if (meta)
		return cJSON_GetStringValue(meta);
	return *post->version ? post->version : NULL;
}

cJSON *mcp_error(struct call *call, const struct mcp_post *post, const struct error_view *view)
{
	cJSON *message = json_rpc_message(call->arena, json_rpc_id(post->body));
	cJSON *error = json_add(message, "error", cJSON_CreateObject());
	int code = mcp_code_of(view);
	json_add_int(error, "code", code);
	json_add_str(error, "message", view->detail);
	cJSON *data = json_add(error, "data", cJSON_CreateObject());
	json_add_str(data, "code", view->code);
	json_add_str(data, "request_id", call->ctx.request_id);
	if (code != MCP_UNSUPPORTED_VERSION)
		return message;
	cJSON *supported = json_add(data, "supported", cJSON_CreateArray());
	for (size_t i = 0; i < mcp_version_count; i++)
		if (mcp_versions[i].served)
			json_append(supported, cJSON_CreateString(mcp_versions[i].name));
	json_add_str(data, "requested", mcp_version_asked(post));
	return message;
}

/* ---- what the stateless version asks of each request ---- */

/* A header's value that is no plain text stands in it as =?base64?…?=. */
static bool mcp_header_is(const char *header, const char *value)
{
	static const char open[] = "=?base64?", close[] = "?=";
	size_t len = strlen(header), around = strlen(open) + strlen(close), size;
	if (len < around || strncmp(header, open, strlen(open)) != 0 ||
	    strcmp(header + len - strlen(close), close) != 0)
		return strcmp(header, value) == 0;
	char *inner = xstrndup(header + strlen(open), len - around);
	char *decoded = base64_decode(inner, &size);
	bool same = decoded && size == strlen(value) && memcmp(decoded, value, size) == 0;
	free(decoded);
	free(inner);
	return same;
}

static bool mcp_check_stateless(
    struct call *call, const struct mcp_post *post, const struct mcp_request *rq)
{
	const char *name = json_str(rq->params, "name");
	bool call_of_tool = strcmp(rq->method, "tools/call") == 0;
	if (!mcp_meta_version(post->body))
		return mcp_fault(call, rq, MCP_INVALID_PARAMS,
		    "_meta." MCP_META_VERSION " is missing in params");
	if (!cJSON_IsObject(json_get(rq->meta, MCP_META_CAPABILITIES)))
		return mcp_fault(call, rq, MCP_INVALID_PARAMS,
		    "_meta." MCP_META_CAPABILITIES " must be an object");
	if (strcmp(post->method, rq->method) != 0)
		return mcp_fault(call, rq, MCP_HEADER_MISMATCH,
		    "The header Mcp-Method must be '%.100s', as the body has it", rq->method);
	if (call_of_tool && name && !mcp_header_is(post->name, name))
		return mcp_fault(call, rq, MCP_HEADER_MISMATCH,
		    "The header Mcp-Name must be '%.100s', as params.name has it", name);
	return true;
}

/* ---- the message ---- */

bool mcp_request_read(struct call *call, const struct mcp_post *post, struct mcp_request *rq)
{
	struct json_rpc request;
	const char *wrong = json_rpc_read(post->body, &request);
	*rq = (struct mcp_request){.id = request.id,
	    .method = request.method,
	    .params = request.params,
	    .meta = json_opt(request.params, "_meta")};
	if (wrong)
		return mcp_fault(call, rq, MCP_INVALID_REQUEST, "%s", wrong);
	if (rq->meta && !cJSON_IsObject(rq->meta))
		return mcp_fault(call, rq, MCP_INVALID_PARAMS, "params._meta must be an object");
	const cJSON *meta = mcp_meta_version(post->body);
	const char *name = mcp_version_asked(post);
	if (meta && !name)
		return mcp_fault(
		    call, rq, MCP_INVALID_PARAMS, "_meta." MCP_META_VERSION " must be a string");
	if (meta && strcmp(name, post->version) != 0)
		return mcp_fault(call, rq, MCP_HEADER_MISMATCH,
		    "The header MCP-Protocol-Version must be '%s', as _meta has it", name);
	const struct mcp_version *version = mcp_version_find(name ? name : MCP_LATEST_SESSION);
	if (!version || !version->served)
		return mcp_fault(call, rq, MCP_UNSUPPORTED_VERSION,
		    "Version '%.40s' of the protocol is not supported", name);
	rq->version = version;
	return !rq->id || !version->stateless || mcp_check_stateless(call, post, rq);
}
