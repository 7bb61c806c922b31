/* SPDX-License-Identifier: ISC */
/* Reading a request, and beginning a response. */
#include "base/json/json_rpc.h"

#include "base/json/json.h"

#include <string.h>

#define ID_MAX 256 /* most bytes of an id, which each event of a stream repeats */

const cJSON *json_rpc_id(const cJSON *body)
{
	const cJSON *id = json_get(body, "id");
	int64_t number;
	return cJSON_IsString(id) || json_integer(id, &number) ? id : NULL;
}

const char *json_rpc_read(const cJSON *body, struct json_rpc *request)
{
	*request = (struct json_rpc){.id = json_rpc_id(body),
	    .method = json_str(body, "method"),
	    .params = json_opt(body, "params")};
	if (!json_str_is(body, "jsonrpc", "2.0"))
		return "jsonrpc must be \"2.0\"";
	if (!request->method)
		return "method must be a string: requests and notifications are taken, no "
		       "responses";
	if (!request->id && json_get(body, "id"))
		return "id must be a string or an integer";
	if (cJSON_IsString(request->id) && strlen(request->id->valuestring) > ID_MAX)
		return "id must have at most 256 bytes";
	if (request->params && !cJSON_IsObject(request->params))
		return "params must be an object";
	return NULL;
}

cJSON *json_rpc_message(struct arena *a, const cJSON *id)
{
	cJSON *message = arena_json(a, cJSON_CreateObject());
	json_add_str(message, "jsonrpc", "2.0");
	if (id)
		json_add(message, "id", cJSON_Duplicate(id, false));
	return message;
}
