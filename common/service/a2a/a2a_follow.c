/* SPDX-License-Identifier: ISC */
/* Subscribing to a task, and telling kept chunks as events. */
#include "service/a2a/a2a_follow.h"

#include "base/json/json.h"
#include "base/json/json_rpc.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "service/a2a/a2a_events.h"

#include <stdlib.h>
#include <string.h>

#define ID_MAX 256 /* most bytes of a request's id, which goes into a ticket */

/* ---- who may ---- */

bool a2a_subscribe(struct call *call, struct a2a_post *post, const struct a2a_request *rq,
    struct a2a_followed *followed)
{
	const char *task_id = json_str(rq->params, "id");
	struct a2a_task task;
	if (!task_id)
		return a2a_wrong(call, "id", "a string");
	if (!a2a_task_find(call, task_id, "stream", &task))
		return false;
	if (a2a_state_is_over(task.state))
		return a2a_fault(call, A2A_UNSUPPORTED_OPERATION, "Task '%.200s' is over", task.id);
	followed->record = task.runs[task.count - 1];
	bool kept = followed->record.kept_until != RUN_NOT_KEPT;
	if (!kept && task.state == A2A_INPUT_REQUIRED) { /* it has only its present state */
		const struct a2a_shown shown = {rq->old, true, -1};
		cJSON *view = a2a_task_view(call, &task, &shown);
		if (!view)
			return false;
		cJSON *response = json_rpc_message(call->arena, rq->id), *result = view;
		if (!rq->old) {
			result = arena_json(call->arena, cJSON_CreateObject());
			json_refer(result, "task", view);
		}
		json_refer(response, "result", result);
		const char *answer = arena_print(call->arena, response);
		post->sink->chunk(post->sink, answer, strlen(answer));
		return post->streamed = true;
	}
	cJSON *spec = arena_json(call->arena, cJSON_CreateObject());
	json_add(spec, "id", cJSON_Duplicate(rq->id, false));
	json_add_str(spec, "task", task.id);
	json_add(spec, "old", cJSON_CreateBool(rq->old));
	char *text = json_print(spec);
	arena_defer(call->arena, cJSON_free, text);
	followed->spec = text;
	return strlen(text) <= strlen(task.id) + ID_MAX ||
	    a2a_fault(call, A2A_INVALID_REQUEST, "id must be shorter");
}

/* ---- what is told ---- */

struct a2a_follower {
	struct service *service;
	cJSON *spec;
	char *id; /* id of the request, as JSON */
	char *context_id;
	struct a2a_events events;
	struct buf line; /* the line whose end has not come yet */
};

struct a2a_follower *a2a_follower_new(struct service *service, const char *spec,
    void (*send)(void *arg, const char *json, size_t len), void *arg)
{
	cJSON *told = json_parse_own(spec);
	const char *task_id = json_str(told, "task");
	const char *end = task_id ? strrchr(task_id, '.') : NULL;
	if (!end) {
		cJSON_Delete(told);
		return NULL;
	}
	struct a2a_follower *follower = xcalloc(1, sizeof(*follower));
	follower->service = service;
	follower->spec = told;
	follower->id = json_print(json_get(told, "id"));
	follower->context_id = xstrndup(task_id, (size_t)(end - task_id));
	follower->events = (struct a2a_events){.old = cJSON_IsTrue(json_get(told, "old")),
	    .id = follower->id,
	    .context_id = follower->context_id,
	    .task_id = task_id,
	    .send = send,
	    .arg = arg};
	return follower;
}

void a2a_follower_free(struct a2a_follower *follower)
{
	if (!follower)
		return;
	a2a_events_release(&follower->events);
	buf_release(&follower->line);
	cJSON_Delete(follower->spec);
	cJSON_free(follower->id);
	free(follower->context_id);
	free(follower);
}

/* Tells the task without its artifacts, which come with what is told from here on. */
void a2a_follower_begin(struct a2a_follower *follower)
{
	struct a2a_events *events = &follower->events;
	const struct a2a_shown shown = {events->old, false, -1};
	struct a2a_task task;
	struct call call;
	call_init(&call, follower->service, NULL);
	if (a2a_task_read(&call, events->task_id, &task))
		events->task = a2a_task_view(&call, &task, &shown);
	a2a_events_begin(events);
	call_release(&call);
}

void a2a_follower_read(struct a2a_follower *follower, const char *text, size_t len)
{
	struct buf *line = &follower->line;
	const char *end;
	while (len && (end = memchr(text, '\n', len))) {
		size_t part = (size_t)(end - text);
		buf_add(line, text, part);
		a2a_events_chunk(&follower->events, buf_str(line), line->len);
		buf_reset(line);
		text += part + 1;
		len -= part + 1;
	}
	buf_add(line, text, len);
}

void a2a_follower_end(struct a2a_follower *follower, bool kept)
{
	struct a2a_events *events = &follower->events;
	const struct a2a_shown shown = {events->old, !kept, 0};
	const cJSON *view = NULL;
	struct a2a_task task;
	struct call call;
	if (events->ended)
		return;
	call_init(&call, follower->service, NULL);
	bool known = a2a_task_read(&call, events->task_id, &task);
	if (!known || !a2a_state_is_over(task.state))
		/* it has asked something, even if it goes on by now */
		task.state = kept || !known ? A2A_COMPLETED : A2A_INPUT_REQUIRED;
	if (!known)
		task.since = clock_now();
	else
		view = a2a_task_view(&call, &task, &shown);
	a2a_events_artifacts(events, json_get(view, "artifacts"));
	a2a_events_end(events, task.state, task.since,
	    cJSON_Duplicate(json_get(json_get(view, "status"), "message"), true));
	call_release(&call);
}
