/* SPDX-License-Identifier: ISC */
/* Requests of other agents, each after a line for its version: whatever the bytes, the result is a
 * fault with a code and the id that came, or a request in a version that is spoken, whose message a
 * run can take, or gets told what does not fit.  The same bytes also serve as chunks of a run. */
#include "base/json/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "demo_service.h"
#include "graph/message/message.h"
#include "service/a2a/a2a_events.h"
#include "service/a2a/a2a_message.h"
#include "service/a2a/a2a_push.h"
#include "service/a2a/a2a_request.h"

#include <stdlib.h>
#include <string.h>

static struct service *a2a_service(void)
{
	static char agent[] = "builtin:demo", empty[] = "", name[] = "MyApp";
	static char hooks[] = "https://hooks.example/", *prefixes[] = {hooks};
	static struct config config = {
	    .agent = agent, .a2a.enabled = true, .runs_webhooks = {prefixes, 1}};
	static struct storage storage; /* it is only asked whom to notify */
	struct service *service = demo_service(&config);
	storage.pushes = a2a_push_words(&config);
	service->storage = &storage;
	config.env.app_name = name;
	config.env.app_version = empty;
	return service;
}

static void check_error(struct call *call, const struct a2a_post *post)
{
	struct error_view view;
	int64_t code;
	call_error_view(call, &view);
	const cJSON *message = a2a_error(call, post, &view);
	const cJSON *error = json_get(message, "error"), *id = json_get(message, "id");
	const char *text = json_str(error, "message");
	require(text && *text && utf8_valid(text, strlen(text)));
	require(json_integer(json_get(error, "code"), &code) && code < 0);
	require(json_str(json_get(error, "data")->child, "reason"));
	require(cJSON_IsNull(id) || json_equal(id, json_get(post->body, "id")));
}

/* Checks what a run takes from a message, and what is shown of that. */
static void check_message(
    struct call *call, const struct a2a_post *post, const struct a2a_request *rq)
{
	struct a2a_said said;
	struct error err = {0};
	if (!a2a_message_read(call, rq->old, json_opt(rq->params, "message"), &said)) {
		require(call->error.kind == ERR_VALIDATION);
		check_error(call, post);
		return;
	}
	require(said.message_id && id_valid(said.message_id));
	cJSON *message = message_normalise(
	    said.message, "body.message[0]", MESSAGE_FROM_CLIENT, &call->service->ids, &err);
	if (message) {
		cJSON *shown = a2a_user_message(rq->old, message, "c", "c.t");
		require(json_get(shown, "parts")->child);
		cJSON_Delete(shown);
	} else {
		require(error_is_set(&err));
	}
	error_release(&err);
	cJSON_Delete(message);
}

/* Checks whom to notify, given in the message or by a method: the address, and what a header can
 * hold. */
static void check_push(struct call *call, const struct a2a_post *post, const struct a2a_request *rq)
{
	const cJSON *with = json_opt(json_opt(rq->params, "configuration"),
	    rq->old ? "pushNotificationConfig" : "taskPushNotificationConfig");
	const cJSON *alone = rq->old ? json_opt(rq->params, "pushNotificationConfig") : rq->params;
	const cJSON *both[] = {with, alone};
	for (size_t i = 0; i < 2; i++) {
		struct push *push;
		error_release(&call->error);
		if (!cJSON_IsObject(both[i]))
			continue;
		if (!a2a_push_given(call, rq, i ? "" : "configuration", both[i], &push)) {
			require(call->error.kind == ERR_VALIDATION);
			check_error(call, post);
			continue;
		}
		a2a_push_of_new(push, "c.t");
		require(id_valid(push->id) && *push->url);
		cJSON *how = json_parse(push->how_json, strlen(push->how_json), 1, NULL), *part;
		cJSON_ArrayForEach(part, how)
			require(cJSON_IsBool(part) ||
			    (part->valuestring && !strpbrk(part->valuestring, "\r\n")));
		require(how);
		cJSON_Delete(how);
	}
}

static void hear(void *arg, const char *json, size_t len)
{
	cJSON *event = json_parse(json, len, JSON_TRUSTED_DEPTH, NULL);
	require(json_get(event, "result"));
	++*(int *)arg;
	cJSON_Delete(event);
}

static void read_chunk(const char *text, bool old)
{
	int heard = 0;
	struct a2a_events events = {.old = old,
	    .id = "1",
	    .context_id = "c",
	    .task_id = "c.t",
	    .send = hear,
	    .arg = &heard};
	a2a_events_chunk(&events, text, strlen(text));
	a2a_events_end(&events, A2A_COMPLETED, 0, NULL);
	require(heard > 0 && events.ended);
	a2a_events_release(&events);
}

static void read_post(struct a2a_post *post)
{
	struct a2a_request rq;
	struct call call;
	call_init(&call, a2a_service(), "fuzz");
	require(json_str(a2a_card(&call, post->version, "http://h"), "name"));
	if (!a2a_request_read(&call, post, &rq)) {
		check_error(&call, post);
	} else {
		require(rq.method);
		check_message(&call, post, &rq);
		check_push(&call, post, &rq);
	}
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size), *rest = text;
	struct a2a_post post = {.version = strsep(&rest, "\n")};
	cJSON *body = rest ? json_parse(rest, strlen(rest), JSON_REQUEST_DEPTH, NULL) : NULL;
	post.body = body;
	if (cJSON_IsObject(body)) {
		read_post(&post);
		read_chunk(rest, *post.version == '0');
	}
	cJSON_Delete(body);
	free(text);
	return 0;
}
