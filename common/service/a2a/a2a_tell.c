/* SPDX-License-Identifier: ISC */
/* What push notifications say: the task as it is when its run ends, completed when it is
 * delivered. */
#include "base/json/json.h"
#include "service/a2a/a2a_push.h"

#include <string.h>

/* The notification: the task or, in version 1.0, an event with the task as a member.  Takes task
 * over. */
static cJSON *a2a_tell_event(bool old, cJSON *task)
{
	if (old)
		return task;
	cJSON *event = cJSON_CreateObject();
	json_add(event, "task", task);
	return event;
}

static bool a2a_tell_follows(const char *thread_id, const char *task, const char *run_id)
{
	size_t len = a2a_task_length(thread_id, run_id);
	return !len || (strlen(task) == len && memcmp(task, run_id, len) == 0);
}

static char *a2a_tell_body(const struct run_record *record, const struct push *push)
{
	cJSON *how = json_parse_own(push->how_json);
	bool old = cJSON_IsTrue(json_get(how, "old"));
	cJSON *task = cJSON_CreateObject();
	if (old)
		json_add_str(task, "kind", "task");
	json_add_str(task, "id", push->task);
	json_add_str(task, "contextId", record->thread_id);
	json_add(task, "status",
	    a2a_status(old, a2a_state_of(record->status), a2a_run_since(record), NULL));
	cJSON *event = a2a_tell_event(old, task);
	char *text = json_print(event);
	cJSON_Delete(event);
	cJSON_Delete(how);
	return text;
}

/* The notification with what the task has made and asks, unless it has gone on meanwhile. */
static const char *a2a_tell_whole(struct call *call, bool old, const char *body)
{
	const struct a2a_shown shown = {old, true, 0};
	cJSON *event = arena_json(call->arena, json_parse_own(body));
	const cJSON *told = old ? event : json_get(event, "task");
	const char *task_id = json_str(told, "id");
	struct a2a_task task;
	if (!task_id || !a2a_task_read(call, task_id, &task))
		return body;
	cJSON *now = a2a_task_view(call, &task, &shown);
	if (!now)
		return body;
	const cJSON *status = json_get(told, "status"), *as = json_get(now, "status");
	/* a task that has moved on is told as it was */
	if (!json_equal(json_get(status, "state"), json_get(as, "state")) ||
	    !json_equal(json_get(status, "timestamp"), json_get(as, "timestamp")))
		return body;
	char *text =
	    json_print(arena_json(call->arena, a2a_tell_event(old, cJSON_Duplicate(now, true))));
	arena_defer(call->arena, cJSON_free, text);
	return text;
}

static void a2a_tell_deliver(
    void *service, struct arena *a, const struct webhook *item, struct push_message *message)
{
	cJSON *how = arena_json(a, json_parse_own(item->how_json));
	bool old = cJSON_IsTrue(json_get(how, "old"));
	const char *scheme = json_str(how, "scheme"), *credentials = json_str(how, "credentials");
	struct call call;
	call_init(&call, service, NULL);
	*message =
	    (struct push_message){.body = arena_strdup(a, a2a_tell_whole(&call, old, item->body)),
		.type = old ? "application/json" : "application/a2a+json",
		.token = json_str(how, "token"),
		.authorization =
		    scheme && credentials ? arena_printf(a, "%s %s", scheme, credentials) : NULL};
	call_release(&call);
}

const struct push_words *a2a_push_words(const struct config *config)
{
	static const struct push_words words = {a2a_tell_follows, a2a_tell_body, a2a_tell_deliver};
	return config->a2a.enabled && config->runs_webhooks.count ? &words : NULL;
}
