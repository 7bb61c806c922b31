/* SPDX-License-Identifier: ISC */
/* The methods of both versions. */
#include "service/a2a/a2a_service.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/json/json_rpc.h"
#include "base/os/clock.h"
#include "service/a2a/a2a_follow.h"
#include "service/a2a/a2a_push.h"
#include "service/a2a/a2a_request.h"
#include "service/a2a/a2a_task.h"
#include "service/history/earlier.h"
#include "service/run/records.h"
#include "service/thread/change.h"

#include <stdlib.h>
#include <string.h>

/* ---- tasks ---- */

struct a2a_named {
	const char *id;
	int64_t history;
};

static const struct field_row named_rows[] = {
    FIELD(a2a_named, id, .kind = &field_text, .required = true),
    FIELD_AT("historyLength", a2a_named, history, .kind = &field_integer, .max = FIELD_INTEGER_MAX,
	.expected = "a whole number from 0 on"),
    FIELDS_END};

static bool a2a_named_read(struct call *call, const struct a2a_request *rq, struct a2a_named *named)
{
	*named = (struct a2a_named){.history = -1};
	return fields_read_body(&call->error, "body.params", rq->params, named_rows, named);
}

static cJSON *a2a_get(struct call *call, const struct a2a_request *rq)
{
	struct a2a_named named;
	struct a2a_task task;
	if (!a2a_named_read(call, rq, &named) || !a2a_task_find(call, named.id, "read", &task))
		return NULL;
	const struct a2a_shown shown = {rq->old, true, named.history};
	return a2a_task_view(call, &task, &shown);
}

/* ---- the end of a task ---- */

#define CANCEL_MS 2000 /* how long a run may take to stop; then its task is shown as it is */
#define CANCEL_LOOK_MS 20

/* Closes the pause of this run of the task, while nothing runs. */
static bool a2a_close_pause(
    struct call *call, const struct a2a_task *task, const struct run_record *run, bool *closed)
{
	struct change change;
	if (!change_begin(&change, call, task->thread.thread_id))
		return false;
	struct thread *t = &change.thread;
	*closed = record_is_latest(run, t);
	t->status = RUN_STOPPED;
	t->pause_json = t->next = NULL;
	change.checkpoint = earlier_of_update(call);
	bool ok = !*closed || change_append(&change, NULL);
	change_end(&change);
	return ok;
}

/* Stops the latest run of a task, and closes the question that is left when an answer was stopped
 * before it began. */
static bool a2a_stop(struct call *call, struct a2a_task *task)
{
	const char *thread_id = task->thread.thread_id, *id = task->id;
	bool closed;
	int64_t until = clock_monotonic_ms() + CANCEL_MS;
	if (!record_stop(call, thread_id, task->runs[task->count - 1].run_id, NULL))
		return false;
	while (a2a_task_find(call, id, "stop", task) && !a2a_state_is_over(task->state) &&
	    clock_monotonic_ms() < until)
		clock_sleep_ms(CANCEL_LOOK_MS);
	if (error_is_set(&call->error))
		return false;
	return !a2a_state_is_over(task->state) || task->count < 2 ||
	    task->runs[task->count - 1].started_at ||
	    a2a_close_pause(call, task, &task->runs[task->count - 2], &closed);
}

static cJSON *a2a_cancel(struct call *call, const struct a2a_request *rq)
{
	const struct a2a_shown shown = {rq->old, true, -1};
	struct storage *storage = call->service->storage;
	struct a2a_named named;
	struct a2a_task task;
	if (!a2a_named_read(call, rq, &named) || !a2a_task_find(call, named.id, "stop", &task))
		return NULL;
	if (a2a_state_is_over(task.state)) {
		a2a_fault(call, A2A_TASK_NOT_CANCELABLE, "Task '%.200s' is over", task.id);
		return NULL;
	}
	int64_t until = clock_monotonic_ms() + CANCEL_MS;
	bool ok = true, closed;
	/* an answer that comes meanwhile may let the task go on, or ask again */
	while (ok && task.state == A2A_INPUT_REQUIRED && clock_monotonic_ms() < until) {
		const struct run_record *latest = &task.runs[task.count - 1];
		const struct run_key key = {task.thread.row, latest->number};
		ok = a2a_close_pause(call, &task, latest, &closed) &&
		    (!closed || !storage->pushes ||
			storage->runs->pushes_tell(
			    storage, &call->ctx, key, RUN_STOPPED, &call->error)) &&
		    a2a_task_find(call, named.id, "stop", &task);
	}
	if (ok && !a2a_state_is_over(task.state))
		ok = a2a_stop(call, &task);
	return ok ? a2a_task_view(call, &task, &shown) : NULL;
}

/* ---- subscribing ---- */

static bool a2a_follow(struct call *call, struct a2a_post *post, const struct a2a_request *rq)
{
	struct a2a_followed *followed = arena_alloc(call->arena, sizeof(*followed));
	if (!a2a_subscribe(call, post, rq, followed))
		return false;
	post->followed = followed->spec ? followed : NULL;
	return true;
}

/* ---- what there is not ---- */

static cJSON *a2a_no_extended_card(struct call *call, const struct a2a_request *rq)
{
	(void)rq;
	a2a_fault(call, A2A_NO_EXTENDED_CARD, "There is no other card than the public one");
	return NULL;
}

/* ---- the methods ---- */

static const struct a2a_method {
	const char *name, *old; /* NULL: not in that version */
	/* exactly one of these is set */
	cJSON *(*answer)(struct call *call, const struct a2a_request *rq);
	bool (*stream)(struct call *call, struct a2a_post *post, const struct a2a_request *rq);
} a2a_methods[] = {
    {"SendMessage", "message/send", a2a_send, NULL},
    {"SendStreamingMessage", "message/stream", NULL, a2a_stream},
    {"GetTask", "tasks/get", a2a_get, NULL},
    {"ListTasks", "tasks/list", a2a_tasks_list, NULL},
    {"CancelTask", "tasks/cancel", a2a_cancel, NULL},
    {"SubscribeToTask", "tasks/resubscribe", NULL, a2a_follow},
    {"CreateTaskPushNotificationConfig", "tasks/pushNotificationConfig/set", a2a_push_set, NULL},
    {"GetTaskPushNotificationConfig", "tasks/pushNotificationConfig/get", a2a_push_get, NULL},
    {"ListTaskPushNotificationConfigs", "tasks/pushNotificationConfig/list", a2a_push_list, NULL},
    {"DeleteTaskPushNotificationConfig", "tasks/pushNotificationConfig/delete", a2a_push_remove,
	NULL},
    {"GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard", a2a_no_extended_card, NULL},
};

/* Gives mistakes in a message the status 200, as errors of the protocol have it. */
static bool a2a_refuse(struct call *call)
{
	enum error_kind kind = call->error.kind;
	if (kind == ERR_VALIDATION || kind == ERR_INVALID_INPUT)
		call->error.status = 200;
	return false;
}

/* Sends a refusal as the only event of a stream: clients of 0.3 show no other where they asked for
 * one. */
static bool a2a_refuse_stream(struct call *call, struct a2a_post *post)
{
	struct error_view view;
	call_error_view(call, &view);
	char *text = json_print(a2a_error(call, post, &view));
	post->sink->chunk(post->sink, text, strlen(text));
	free(text);
	error_release(&call->error);
	return post->streamed = true;
}

bool a2a_answer(struct call *call, struct a2a_post *post)
{
	struct a2a_request rq;
	post->answer = NULL;
	post->streamed = false;
	post->followed = NULL;
	if (!a2a_request_read(call, post, &rq))
		return false;
	const struct a2a_method *method = NULL;
	for (size_t i = 0; i < sizeof(a2a_methods) / sizeof(a2a_methods[0]); i++) {
		const char *name = rq.old ? a2a_methods[i].old : a2a_methods[i].name;
		if (name && strcmp(name, rq.method) == 0)
			method = &a2a_methods[i];
	}
	if (!method)
		return a2a_fault(call, A2A_METHOD_NOT_FOUND, "Unknown method: %.100s", rq.method);
	if (!rq.id)
		return a2a_fault(call, A2A_INVALID_REQUEST, "id must be a string or an integer");
	if (method->stream)
		return method->stream(call, post, &rq) || a2a_refuse(call) ||
		    (rq.old && call->error.status == 200 && a2a_refuse_stream(call, post));
	cJSON *result = method->answer(call, &rq);
	if (!result)
		return a2a_refuse(call);
	post->answer = json_rpc_message(call->arena, rq.id);
	json_refer(post->answer, "result", result);
	return true;
}
