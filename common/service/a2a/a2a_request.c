/* SPDX-License-Identifier: ISC */
/* Reading JSON-RPC, the version of the protocol, and errors. */
#include "service/a2a/a2a_request.h"

#include "base/json/json.h"
#include "base/json/json_rpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ANY "type.googleapis.com/google.rpc."

/* ---- errors ---- */

/* The words are those that details of the protocol have as reason. */
static const struct a2a_fault_row {
	enum a2a_code code;
	const char *word;
} a2a_faults[] = {
    {A2A_PARSE_ERROR, "PARSE_ERROR"},
    {A2A_INVALID_REQUEST, "INVALID_REQUEST"},
    {A2A_METHOD_NOT_FOUND, "METHOD_NOT_FOUND"},
    {A2A_INVALID_PARAMS, "INVALID_PARAMS"},
    {A2A_TASK_NOT_FOUND, "TASK_NOT_FOUND"},
    {A2A_TASK_NOT_CANCELABLE, "TASK_NOT_CANCELABLE"},
    {A2A_PUSH_NOT_SUPPORTED, "PUSH_NOTIFICATION_NOT_SUPPORTED"},
    {A2A_UNSUPPORTED_OPERATION, "UNSUPPORTED_OPERATION"},
    {A2A_CONTENT_TYPE, "CONTENT_TYPE_NOT_SUPPORTED"},
    {A2A_NO_EXTENDED_CARD, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
    {A2A_VERSION_NOT_SUPPORTED, "VERSION_NOT_SUPPORTED"},
};

#define A2A_FAULTS (sizeof(a2a_faults) / sizeof(a2a_faults[0]))

/* Errors that the protocol has a code for are sent with status 200, since clients look at the
 * status before the body; only a body that is no request gets 400. */
bool a2a_fault(struct call *call, enum a2a_code code, const char *fmt, ...)
{
	const struct a2a_fault_row *row = a2a_faults;
	va_list args;
	va_start(args, fmt);
	error_vset(&call->error, ERR_BAD_REQUEST, fmt, args);
	va_end(args);
	while (row->code != code)
		row++;
	call->error.status = code == A2A_INVALID_REQUEST ? 400 : 200;
	snprintf(call->error.code, sizeof(call->error.code), "%s", row->word);
	return false;
}

bool a2a_wrong(struct call *call, const char *member, const char *must)
{
	return error_wrong(&call->error, arena_printf(call->arena, "body.params.%s", member),
	    "value_error", "must be %s", must);
}

/* The code of an error: JSON-RPC's for a fault of the protocol, or in its body; else the HTTP
 * status, since the protocol's other codes have meanings of their own. */
static int a2a_code_of(const struct a2a_post *post, const struct error_view *view)
{
	for (size_t i = 0; i < A2A_FAULTS; i++)
		if (strcmp(a2a_faults[i].word, view->code) == 0)
			return a2a_faults[i].code;
	const cJSON *first = view->details ? view->details->child : NULL;
	const char *type = json_str(first, "type");
	if (type && strcmp(type, "json_invalid") == 0)
		return A2A_PARSE_ERROR;
	if (strcmp(view->code, error_code(ERR_VALIDATION)) == 0 ||
	    strcmp(view->code, error_code(ERR_INVALID_INPUT)) == 0)
		return cJSON_IsObject(post->body) ? A2A_INVALID_PARAMS : A2A_INVALID_REQUEST;
	return view->status < 500 ? view->status : A2A_INTERNAL_ERROR;
}

cJSON *a2a_error(struct call *call, const struct a2a_post *post, const struct error_view *view)
{
	int code = a2a_code_of(post, view);
	const char *reason = view->code; /* in the protocol's words, where it has one */
	for (size_t i = 0; i < A2A_FAULTS; i++)
		if (a2a_faults[i].code == code)
			reason = a2a_faults[i].word;
	const cJSON *id = json_rpc_id(post->body);
	cJSON *message = json_rpc_message(call->arena, id);
	if (!id)
		json_add(message, "id", cJSON_CreateNull());
	cJSON *error = json_add(message, "error", cJSON_CreateObject());
	json_add_int(error, "code", code);
	json_add_str(error, "message", view->detail);
	cJSON *data = json_add(error, "data", cJSON_CreateArray());
	cJSON *info = json_append(data, cJSON_CreateObject());
	json_add_str(info, "@type", ANY "ErrorInfo");
	json_add_str(info, "reason", reason);
	json_add_str(info, "domain", "a2a-protocol.org");
	cJSON *metadata = json_add(info, "metadata", cJSON_CreateObject());
	json_add_str(metadata, "code", view->code);
	json_add_str(metadata, "requestId", call->ctx.request_id);
	if (!view->details || !view->details->child)
		return message;
	cJSON *bad = json_append(data, cJSON_CreateObject());
	json_add_str(bad, "@type", ANY "BadRequest");
	cJSON *violations = json_add(bad, "fieldViolations", cJSON_CreateArray());
	const cJSON *detail;
	cJSON_ArrayForEach(detail, view->details) {
		const cJSON *loc = json_get(detail, "loc");
		const cJSON *part = loc && loc->child ? loc->child->next : NULL;
		struct buf path = {0}; /* as in "message.parts[0].url" */
		if (cJSON_IsString(part) && strcmp(part->valuestring, "params") == 0)
			part = part->next;
		error_put_path(&path, part);
		cJSON *one = json_append(violations, cJSON_CreateObject());
		json_add_str(one, "field", arena_take(call->arena, &path));
		json_add_str(one, "description", json_str(detail, "msg"));
	}
	return message;
}

/* ---- the version ---- */

/* Whether a version is the known one, whatever its patch number is (3.6). */
static bool a2a_is_version(const char *version, const char *known)
{
	size_t len = strlen(known);
	const char *patch = version + len;
	if (strncmp(version, known, len) != 0)
		return false;
	return !*patch ||
	    (*patch == '.' && patch[1] && !patch[1 + strspn(patch + 1, "0123456789")]);
}

bool a2a_version_read(struct call *call, const char *version, bool *old)
{
	*old = !*version || a2a_is_version(version, A2A_OLD);
	return *old || a2a_is_version(version, A2A_LATEST) ||
	    a2a_fault(call, A2A_VERSION_NOT_SUPPORTED,
		"Version '%.40s' of the protocol is not supported: A2A-Version must be " A2A_LATEST
		" or " A2A_OLD,
		version);
}

/* ---- the message ---- */

bool a2a_request_read(struct call *call, const struct a2a_post *post, struct a2a_request *rq)
{
	struct json_rpc request;
	const char *wrong = json_rpc_read(post->body, &request);
	*rq = (struct a2a_request){
	    .id = request.id, .method = request.method, .params = request.params};
	if (wrong)
		return a2a_fault(call, A2A_INVALID_REQUEST, "%s", wrong);
	return a2a_version_read(call, post->version, &rq->old);
}
