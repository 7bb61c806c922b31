/* SPDX-License-Identifier: ISC */
/* Bodies of runs by LangGraph's protocol: whatever the JSON, the result is a mistake with a text,
 * or the body of a run that can be made, of which such a client can read each message. */
#include "service/langgraph/langgraph.h"
#include "base/json/json.h"
#include "base/utf8.h"
#include "demo_service.h"
#include "service/langgraph/lg_input.h"
#include "service/langgraph/lg_message.h"
#include "service/run/run_input.h"

#include <stdbool.h>
#include <string.h>

static char agent[] = "builtin:demo";
static struct config config = {.agent = agent, .langgraph_enabled = true};

static void check_messages(const cJSON *messages)
{
	const cJSON *message;
	cJSON_ArrayForEach(message, messages) {
		struct buf text = {0};
		lg_message_write(&text, message);
		cJSON *view = json_parse(buf_str(&text), text.len, JSON_TRUSTED_DEPTH, NULL);
		buf_release(&text);
		require(json_str(view, "type") && json_str(view, "id"));
		require(cJSON_IsString(json_get(view, "content")) ||
		    cJSON_IsArray(json_get(view, "content")));
		cJSON_Delete(view);
	}
}

/* Reads the result as every run's body is read; that may still find something missing. */
static void check_run(struct call *call, const struct lg_input *in)
{
	struct run_input run;
	require(in->modes < LG_ASKED << 1);
	if (!run_input_read(call, in->body, "messages", true, &run))
		return;
	require(run.recursion_limit >= 1 && run.recursion_limit <= 100);
	require(!run.run_id && !run.checkpoint_id);
	check_messages(run.messages);
}

/* Checks that every mistake has its status, and a body in the protocol's form. */
static void check_error(struct call *call)
{
	struct error_view view;
	call_error_view(call, &view);
	require(view.status == 422 || view.status == 404);
	require(*view.detail && utf8_valid(view.detail, strlen(view.detail)));
	const cJSON *body = lg_error(call, &view);
	require(json_str(body, "detail") && json_str(body, "code"));
}

static void read_body(const cJSON *body, bool background)
{
	struct lg_input in;
	struct call call;
	call_init(&call, demo_service(&config), "fuzz");
	bool ok = lg_input_read(&call, NULL, body, background, &in);
	require(ok != error_is_set(&call.error));
	if (ok)
		check_run(&call, &in);
	if (error_is_set(&call.error))
		check_error(&call);
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *body = json_parse((const char *)data, size, JSON_REQUEST_DEPTH, NULL);
	if (cJSON_IsObject(body)) {
		read_body(body, false);
		read_body(body, true);
	}
	cJSON_Delete(body);
	return 0;
}
