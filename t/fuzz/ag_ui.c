/* SPDX-License-Identifier: ISC */
/* Bodies of POST /v1/ag-ui: whatever the JSON, the result is a mistake with a text, or a run that
 * can be made. */
#include "base/json/json.h"
#include "base/utf8.h"
#include "demo_service.h"
#include "graph/message/message.h"
#include "service/agui/agui.h"

#include <stdbool.h>
#include <string.h>

static struct config config = {.ag_ui_enabled = true, .ag_ui_allow_client_tools = true};

static void check_run(const struct agui_input *in)
{
	const struct run_input *run = &in->run;
	const cJSON *message;
	require(!id_blank(run->thread_id) && id_valid(run->run_id));
	require(cJSON_IsObject(json_get(run->config, "ag_ui")));
	require(run->client_tools.count <= 64 && !run->has_resume);
	require(!in->state || cJSON_IsObject(in->state));
	require(!in->resume || (cJSON_IsArray(in->resume) && in->resume->child));
	cJSON_ArrayForEach(message, run->messages) {
		require(message_is(message, "user") || message_is(message, "tool"));
		require(!message_has_calls(message));
	}
}

static void read_body(const cJSON *body)
{
	struct agui_input in;
	struct call call;
	call_init(&call, demo_service(&config), "fuzz");
	bool ok = agui_input_read(&call, body, &in);
	require(ok != error_is_set(&call.error));
	if (ok)
		check_run(&in);
	else
		require(error_status_of(&call.error) == 422 && call.error.detail[0] &&
		    utf8_valid(call.error.detail, strlen(call.error.detail)));
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *body = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(body))
		read_body(body);
	cJSON_Delete(body);
	return 0;
}
