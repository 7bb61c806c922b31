/* SPDX-License-Identifier: ISC */
/* Messages of MCP hosts, each after a line for its three headers: whatever the bytes, the result is
 * a fault with a code and the id that came, or a request in a version that is served, whose
 * arguments fit a run, or get told what does not fit. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "demo_service.h"
#include "graph/message/message.h"
#include "service/mcp/mcp_answer.h"
#include "service/mcp/mcp_offer.h"
#include "service/mcp/mcp_request.h"

#include <stdlib.h>
#include <string.h>

static struct service *mcp_service(void)
{
	static char agent[] = "builtin:demo", empty[] = "", name[] = "MyApp";
	static struct config config = {.agent = agent, .mcp.enabled = true};
	struct service *service = demo_service(&config);
	struct problems problems = {0};
	if (service->mcp)
		return service;
	config.env.app_name = name;
	config.env.app_version = empty;
	service->mcp = mcp_offer_new(&config, &problems);
	require(service->mcp && problems.count == 0);
	return service;
}

static void check_error(struct call *call, const struct mcp_post *post)
{
	struct error_view view;
	int64_t code;
	call_error_view(call, &view);
	require(view.status == 200 || view.status == 400 || view.status == 404);
	const cJSON *message = mcp_error(call, post, &view);
	const cJSON *error = json_get(message, "error"), *id = json_get(message, "id");
	const char *text = json_str(error, "message");
	require(text && *text && utf8_valid(text, strlen(text)));
	require(json_integer(json_get(error, "code"), &code) && code < 0);
	require(!id || json_equal(id, json_get(post->body, "id")));
}

/* Checks what is said of a call before its thread is looked up. */
static void check_call(struct call *call, const struct mcp_request *rq)
{
	struct run_input in = {0};
	const cJSON *arguments = json_opt(rq->params, "arguments");
	if (!cJSON_IsObject(arguments))
		return;
	if (mcp_offer_read(call, arguments, &in)) {
		require(message_is(in.messages->child, "user"));
		require(!in.thread_id || id_valid(in.thread_id));
	} else {
		require(call->error.kind == ERR_VALIDATION && *call->error.detail);
	}
}

static void read_post(struct mcp_post *post)
{
	struct mcp_request rq;
	struct call call;
	call_init(&call, mcp_service(), "fuzz");
	if (!mcp_request_read(&call, post, &rq)) {
		check_error(&call, post);
	} else {
		require(rq.method && rq.version && rq.version->served);
		require(!mcp_asks(&rq) || rq.version->stateless);
		if (strcmp(rq.method, "tools/call") == 0)
			check_call(&call, &rq);
		else if (!mcp_answer(&call, post))
			check_error(&call, post);
		else
			require(!rq.id == !post->answer && !post->streamed);
	}
	mcp_schema_is_flat(rq.params);
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size), *rest = text;
	struct mcp_post post = {.events = true};
	post.version = strsep(&rest, "\t\n");
	post.method = rest ? strsep(&rest, "\t\n") : "";
	post.name = rest ? strsep(&rest, "\t\n") : "";
	cJSON *body = rest ? json_parse(rest, strlen(rest), JSON_REQUEST_DEPTH, NULL) : NULL;
	post.body = body;
	if (cJSON_IsObject(body))
		read_post(&post);
	cJSON_Delete(body);
	free(text);
	return 0;
}
