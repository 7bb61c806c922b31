/* SPDX-License-Identifier: ISC */
/* Requests of JSON-RPC: what is one, and what is said of others. */
#include "base/json/json_rpc.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* What is wrong with it, or "". */
static const char *wrong(const char *text, struct json_rpc *request)
{
	static cJSON *body;
	cJSON_Delete(body);
	body = text ? json_parse(text, strlen(text), JSON_REQUEST_DEPTH, NULL) : NULL;
	const char *why = json_rpc_read(body, request);
	return why ? why : "";
}

static void a_request_has_a_method_and_an_id(void)
{
	struct json_rpc request;
	CU_ASSERT_STRING_EQUAL(
	    wrong("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{\"a\":1}}", &request),
	    "");
	CU_ASSERT_STRING_EQUAL(request.method, "m");
	CU_ASSERT_EQUAL(request.id->valueint, 7);
	CU_ASSERT_PTR_NOT_NULL(json_get(request.params, "a"));
	CU_ASSERT_STRING_EQUAL(
	    wrong("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"m\",\"params\":null}", &request),
	    "");
	CU_ASSERT_STRING_EQUAL(request.id->valuestring, "x");
	CU_ASSERT_PTR_NULL(request.params);
}

static void without_an_id_it_is_a_notification(void)
{
	struct json_rpc request;
	CU_ASSERT_STRING_EQUAL(wrong("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", &request), "");
	CU_ASSERT_PTR_NULL(request.id);
}

static void of_others_it_is_said_why(void)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
	    {NULL, "jsonrpc"},
	    {"[]", "jsonrpc"},
	    {"{\"jsonrpc\":\"1.0\",\"method\":\"m\"}", "jsonrpc"},
	    {"{\"jsonrpc\":2.0,\"method\":\"m\"}", "jsonrpc"},
	    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "method"},
	    {"{\"jsonrpc\":\"2.0\",\"method\":1}", "method"},
	    {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":null}", "id"},
	    {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":1.5}", "id"},
	    {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":{}}", "id"},
	    {"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}", "params"},
	};
	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		struct json_rpc request;
		unit_row("%s", rows[i].text ? rows[i].text : "nothing");
		CU_ASSERT_PTR_EQUAL(strstr(wrong(rows[i].text, &request), rows[i].why),
		    wrong(rows[i].text, &request));
	}
	char *text = xasprintf("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":\"%0257d\"}", 0);
	CU_ASSERT_STRING_EQUAL(
	    wrong(text, &(struct json_rpc){0}), "id must have at most 256 bytes");
	free(text);
	wrong(NULL, &(struct json_rpc){0});
}

static const struct unit_test tests[] = {
    {"a request has a method and an id", a_request_has_a_method_and_an_id},
    {"without an id it is a notification", without_an_id_it_is_a_notification},
    {"of others it is said why", of_others_it_is_said_why},
};

int main(void)
{
	return unit_main("json_rpc", tests, UNIT_COUNT(tests));
}
