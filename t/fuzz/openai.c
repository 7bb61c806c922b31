/* SPDX-License-Identifier: ISC */
/* Bodies of POST /v1/chat/completions: whatever the JSON, the result is a mistake with a text, or a
 * run that can be made, without a thread and on one. */
#include "service/openai/openai.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "demo_service.h"
#include "graph/message/message.h"
#include "service/openai/openai_internal.h"

#include <stdbool.h>
#include <string.h>

static char agent[] = "builtin:demo";
static struct config config = {
    .agent = agent, .openai_enabled = true, .env.max_request_size = 10 << 20};

static void check_run(const struct openai_input *in)
{
	const struct run_input *run = &in->run;
	const cJSON *message;
	require(!run->thread_id || id_valid(run->thread_id));
	require(run->client_tools.count <= 128 && !run->has_resume && !run->run_id);
	require(run->thread_id || run->messages->child);
	require(in->stream || !in->usage);
	cJSON_ArrayForEach(message, run->messages) {
		require(message_id(message));
		require(
		    !run->thread_id || message_is(message, "user") || message_is(message, "tool"));
		require(message_is(message, "assistant") || !message_has_calls(message));
	}
}

/* Checks that every mistake has its status, and a body in the protocol's form. */
static void check_error(struct call *call)
{
	struct error_view view;
	call_error_view(call, &view);
	require(view.status == 422 || view.status == 404);
	require(*view.detail && utf8_valid(view.detail, strlen(view.detail)));
	const cJSON *error = json_get(openai_error(call, &view), "error");
	require(strcmp(json_str(error, "type"), "invalid_request_error") == 0);
	require(json_str(error, "param") && json_str(error, "code"));
}

static void read_body(const cJSON *body, const char *thread_id)
{
	struct openai_input in;
	struct call call;
	call_init(&call, demo_service(&config), "fuzz");
	bool ok = openai_input_read(&call, body, thread_id, &in);
	require(ok != error_is_set(&call.error));
	if (ok)
		check_run(&in);
	else
		check_error(&call);
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *body = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(body)) {
		read_body(body, "");
		read_body(body, "thread");
	}
	cJSON_Delete(body);
	return 0;
}
