/* SPDX-License-Identifier: ISC */
/* Asking a person for a server, and putting the answer as servers want it. */
#include "graph/nodes/elicit.h"

#include "base/json/json.h"
#include "tool/mcp/mcp_message.h"

#include <string.h>

/* ---- The answer */

static bool elicit_is_action(const char *word)
{
	static const char *const actions[] = {"accept", "decline", "cancel"};
	for (size_t i = 0; word && i < sizeof(actions) / sizeof(*actions); i++)
		if (strcmp(actions[i], word) == 0)
			return true;
	return false;
}

/* A value of the type that the schema says: what people write is text. */
static cJSON *elicit_value(const cJSON *answer, const cJSON *schema)
{
	const char *type = json_str(schema, "type");
	if (!cJSON_IsString(answer) || !type || strcmp(type, "string") == 0)
		return cJSON_Duplicate(answer, true);
	cJSON *value =
	    json_parse(answer->valuestring, strlen(answer->valuestring), JSON_REQUEST_DEPTH, NULL);
	return value ? value : cJSON_Duplicate(answer, true);
}

static cJSON *elicit_content(const cJSON *answer, const cJSON *properties)
{
	cJSON *content = cJSON_CreateObject();
	if (cJSON_IsObject(answer)) {
		cJSON_Delete(content);
		return cJSON_Duplicate(answer, true);
	}
	const cJSON *only = properties ? properties->child : NULL;
	if (only)
		cJSON_AddItemToObject(content, only->string, elicit_value(answer, only));
	return content;
}

cJSON *elicit_result(const cJSON *answer, const cJSON *schema)
{
	const cJSON *properties = json_opt(schema, "properties");
	const char *type = properties ? json_str(properties->child, "type") : NULL;
	bool one = cJSON_GetArraySize(properties) <= 1;
	bool wants_boolean = one && type && strcmp(type, "boolean") == 0;
	cJSON *written = NULL;
	if (cJSON_IsObject(answer) && elicit_is_action(json_str(answer, "action")))
		return cJSON_Duplicate(answer, true);
	if (cJSON_IsFalse(answer) && !wants_boolean)
		return mcp_elicited("decline");
	if (cJSON_IsString(answer) && !one) /* an object as text, where there is only text */
		written = json_parse(
		    answer->valuestring, strlen(answer->valuestring), JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(written))
		answer = written;
	if (!answer || cJSON_IsNull(answer) || (!one && !cJSON_IsObject(answer))) {
		cJSON_Delete(written);
		return mcp_elicited("cancel");
	}
	cJSON *result = mcp_elicited("accept");
	cJSON_AddItemToObject(result, "content", elicit_content(answer, properties));
	cJSON_Delete(written);
	return result;
}

/* ---- The question */

bool elicit_ask(const cJSON *question, cJSON **answer, void *arg)
{
	struct elicit *elicit = arg;
	const cJSON *schema = json_opt(question, "requestedSchema"), *given;
	const char *mode = json_str(question, "mode"), *text = json_str(question, "message");
	if (mode && strcmp(mode, "form") != 0) { /* which was not offered */
		*answer = mcp_elicited("decline");
		return true;
	}
	cJSON *value = cJSON_CreateObject();
	cJSON_AddStringToObject(value, "question", text ? text : "");
	if (schema)
		cJSON_AddItemToObject(value, "response_schema", cJSON_Duplicate(schema, true));
	cJSON_AddStringToObject(value, "server", elicit->server);
	cJSON_AddStringToObject(value, "tool", elicit->tool);
	if (ag_interrupt(elicit->run, "elicitation", value, &given) == AG_OK) {
		*answer = elicit_result(given, schema);
		return true;
	}
	elicit->paused = true;
	return false;
}
