/* SPDX-License-Identifier: ISC */
/* Sending: the parameters, whose context, and the turn. */
#include "service/a2a/a2a_task.h"

#include "base/fields.h"
#include "base/json/json.h"
#include "base/os/clock.h"
#include "service/a2a/a2a_events.h"
#include "service/a2a/a2a_message.h"
#include "service/a2a/a2a_push.h"
#include "service/run/background/background.h"
#include "service/run/runs.h"
#include "service/run/turn.h"
#include "service/thread/ident.h"
#include "service/thread/messages.h"

#include <string.h>

#define A2A_MESSAGES_KEY "message" /* errors in the run's input name this member */

/* ---- the parameters ---- */

struct a2a_sending {
	const struct a2a_request *rq;
	struct a2a_said said;
	const char *thread_id; /* NULL: a new one */
	const char *task_id;   /* NULL: a new one, unless the context waits for an answer */
	const cJSON *configuration, *message, *metadata, *given;
	struct push *push; /* who is told how its task goes on, or NULL */
	int64_t history;   /* below 0: all of it */
	bool immediately, blocking;
};

static const struct field_row send_rows[] = {
    FIELD(a2a_sending, message, FIELD_OBJECT, .required = true),
    FIELD(a2a_sending, configuration, FIELD_OBJECT), FIELD(a2a_sending, metadata, FIELD_OBJECT),
    FIELDS_END};

#define HISTORY                                                                 \
	FIELD_AT("historyLength", a2a_sending, history, .kind = &field_integer, \
	    .max = FIELD_INTEGER_MAX, .expected = "a whole number from 0 on")

static const struct field_row configuration_rows[] = {HISTORY,
    FIELD_AT("returnImmediately", a2a_sending, immediately, .kind = &field_bool),
    FIELD_AT("taskPushNotificationConfig", a2a_sending, given, FIELD_OBJECT), FIELDS_END};
static const struct field_row old_configuration_rows[] = {HISTORY,
    FIELD(a2a_sending, blocking, .kind = &field_bool),
    FIELD_AT("pushNotificationConfig", a2a_sending, given, FIELD_OBJECT), FIELDS_END};

/* Whether the message is, or was, queued as an answer to the task. */
static bool a2a_answers_already(
    struct call *call, const struct a2a_task *task, const char *message_id)
{
	const char *run_id = a2a_task_id_of(call, task->id, message_id);
	size_t i = 0;
	while (i < task->count && strcmp(task->runs[i].run_id, run_id) != 0)
		i++;
	return i < task->count;
}

/* The context of a task is that of its messages. */
static bool a2a_read_task(struct call *call, struct a2a_sending *s, const char *action)
{
	struct a2a_task task;
	if (!a2a_task_find(call, s->said.task_id, action, &task))
		return false;
	if (s->thread_id && strcmp(s->thread_id, task.thread.thread_id) != 0)
		return a2a_fault(call, A2A_INVALID_PARAMS,
		    "params.message.contextId must be '%.200s', the context of the task",
		    task.thread.thread_id);
	if (task.state != A2A_INPUT_REQUIRED &&
	    !(s->immediately && a2a_answers_already(call, &task, s->said.message_id)))
		return a2a_fault(call, A2A_UNSUPPORTED_OPERATION,
		    "Task '%.200s' is %s and takes no message", task.id,
		    a2a_state_is_over(task.state) ? "over" : "being worked on");
	s->thread_id = task.thread.thread_id;
	s->task_id = arena_strdup(call->arena, task.id);
	return true;
}

static bool a2a_sending_read(
    struct call *call, const struct a2a_request *rq, const char *action, struct a2a_sending *s)
{
	*s = (struct a2a_sending){.rq = rq, .history = -1, .blocking = true};
	if (call->service->graph->live)
		return a2a_fault(call, A2A_UNSUPPORTED_OPERATION,
		    "The agent is a live one, which is spoken to by a WebSocket");
	if (fields_read_body(&call->error, "body.params", rq->params, send_rows, s))
		a2a_message_read(call, rq->old, s->message, &s->said);
	fields_read_body(&call->error, "body.params.configuration", s->configuration,
	    rq->old ? old_configuration_rows : configuration_rows, s);
	if (error_is_set(&call->error) ||
	    !a2a_push_given(call, rq,
		rq->old ? "configuration.pushNotificationConfig"
			: "configuration.taskPushNotificationConfig",
		s->given, &s->push))
		return false;
	s->immediately = rq->old ? !s->blocking : s->immediately;
	/* blank and "new" ask for a new thread, as everywhere */
	if (!thread_id_read_new(call, "body.params.message.contextId",
		json_opt(s->message, "contextId"), &s->thread_id))
		return false;
	if (s->thread_id && !a2a_context_fits(s->thread_id))
		return a2a_wrong(
		    call, "message.contextId", "at most 181 characters without control characters");
	return !s->said.task_id || a2a_read_task(call, s, action);
}

/* The body of the run. */
static cJSON *a2a_run_body(struct call *call, const struct a2a_sending *s, const char *key)
{
	cJSON *body = arena_json(call->arena, cJSON_CreateObject());
	cJSON *config = json_add(body, "config", cJSON_CreateObject());
	cJSON *messages = json_add(body, key, cJSON_CreateArray());
	cJSON_AddItemReferenceToArray(messages, s->said.message);
	if (s->thread_id)
		json_add_str(config, "thread_id", s->thread_id);
	json_refer(config, "a2a_metadata", s->metadata);
	return body;
}

/* ---- its task ---- */

static bool a2a_waits(const struct thread *thread)
{
	return thread->status == RUN_INTERRUPTED && thread->pause_json;
}

/* The task whose pause an open thread has; NULL where no such client began it. */
static const char *a2a_task_of_pause(struct call *call, const struct thread *thread)
{
	return a2a_waits(thread) && thread->run_id
	    ? a2a_task_of(call, thread->thread_id, thread->run_id)
	    : NULL;
}

/* Whether the message is new: a client that did not see the answer sends it again, and it must not
 * be said twice. */
static bool a2a_is_new(struct call *call, const struct thread *thread, const struct a2a_said *said)
{
	cJSON *messages = arena_json(call->arena, cJSON_CreateArray());
	cJSON_AddItemReferenceToArray(messages, said->message);
	const struct message_known *known = messages_known(call, thread, messages, NULL);
	if (!known)
		return false;
	return !known->known ||
	    a2a_fault(call, A2A_INVALID_PARAMS,
		"params.message.messageId: the context has a message '%.100s' already",
		said->message_id);
}

/* Stores the push of the message: for an existing task before the message is taken, for a new one
 * with its run. */
static bool a2a_take_push(struct call *call, struct a2a_sending *s, const struct push **first)
{
	struct a2a_task task;
	*first = NULL;
	if (!s->push)
		return true;
	if (s->task_id)
		return a2a_task_read(call, s->task_id, &task) && a2a_push_add(call, s->push, &task);
	*first = s->push;
	return true;
}

/* Chooses the task, now that the thread is open: it may have changed since the task was read. */
static bool a2a_choose_task(struct turn *turn, struct a2a_sending *s)
{
	struct call *call = turn->call;
	const struct thread *thread = &turn->thread;
	struct a2a_task task;
	if (thread->row && !a2a_is_new(call, thread, &s->said))
		return false;
	if (s->task_id && !a2a_task_read(call, s->task_id, &task))
		return false;
	if (s->task_id && task.state != A2A_INPUT_REQUIRED)
		return a2a_fault(call, A2A_UNSUPPORTED_OPERATION,
		    "Task '%.200s' does not wait for an answer any more", s->task_id);
	if (!s->task_id)
		s->task_id = a2a_task_of_pause(call, thread);
	if (a2a_waits(thread) && s->said.data) {
		turn->in.has_resume = true;
		turn->in.resume = s->said.data;
	}
	if (!a2a_take_push(call, s, &turn->push))
		return false;
	turn->run_id = a2a_task_next_id(call, s->task_id ? s->task_id : thread->thread_id);
	if (turn->push)
		a2a_push_of_new(s->push, turn->run_id);
	if (!s->task_id)
		s->task_id = turn->run_id;
	s->thread_id = thread->thread_id;
	return true;
}

static bool a2a_open(
    struct call *call, struct a2a_sending *s, const char *action, struct turn *turn)
{
	if (!turn_read(turn, call, a2a_run_body(call, s, A2A_MESSAGES_KEY), A2A_MESSAGES_KEY))
		return false;
	const struct permission permission = {"graph", action, turn->in.thread_id};
	turn->in.message_resumes = true;
	if (call_permit(call, &permission) && turn_open(turn) && a2a_choose_task(turn, s))
		return true;
	turn_end(turn);
	return false;
}

/* ---- what is answered ---- */

static cJSON *a2a_sent(struct call *call, const struct a2a_sending *s)
{
	const struct a2a_shown shown = {s->rq->old, true, s->history};
	struct a2a_task task;
	if (!a2a_task_find(call, s->task_id, "invoke", &task))
		return NULL;
	cJSON *view = a2a_task_view(call, &task, &shown);
	if (!view || s->rq->old)
		return view;
	cJSON *result = arena_json(call->arena, cJSON_CreateObject());
	json_refer(result, "task", view);
	return result;
}

static cJSON *a2a_send_waiting(struct call *call, struct a2a_sending *s)
{
	struct turn turn;
	if (!a2a_open(call, s, "invoke", &turn))
		return NULL;
	/* nothing is streamed here, but the chunks are kept for whoever subscribes to the task */
	bool ok = stream_turn_kept(&turn, NULL, NULL);
	turn_end(&turn);
	if (!ok || (error_is_set(&call->error) && !turn_has_run(&turn)))
		return NULL;
	error_release(&call->error);
	return a2a_sent(call, s);
}

/* ---- in the background ---- */

/* Whether the context may still hear it.  What is asked then, if anything, is answered by its text
 * (message_resumes); data answers only what is asked now, and who names a task only what that asks,
 * be it by a run of another protocol. */
static bool a2a_submit_answer(
    struct call *call, struct a2a_sending *s, cJSON *body, const char **answers)
{
	struct thread thread;
	if (!s->thread_id || !call_thread(call, s->thread_id, &thread))
		return !error_is_set(&call->error);
	if (!a2a_is_new(call, &thread, &s->said))
		return false;
	const char *asks = a2a_task_of_pause(call, &thread);
	if (s->task_id)
		*answers = asks || !a2a_waits(&thread) ? s->task_id : thread.run_id;
	else
		s->task_id = asks;
	if (a2a_waits(&thread) && s->said.data)
		json_refer(body, "resume", s->said.data);
	return true;
}

static cJSON *a2a_submit(struct call *call, struct a2a_sending *s)
{
	if (!s->thread_id)
		s->thread_id = id_make(&call->service->ids, arena_alloc(call->arena, UUID_SIZE));
	const struct permission permission = {"graph", "invoke", s->thread_id};
	cJSON *body = a2a_run_body(call, s, "messages");
	const struct push *first;
	struct background_beside beside = {.message_resumes = true};
	if (!call_permit(call, &permission) || !a2a_submit_answer(call, s, body, &beside.answers) ||
	    !a2a_take_push(call, s, &first))
		return NULL;
	const char *run_id =
	    a2a_task_id_of(call, s->task_id ? s->task_id : s->thread_id, s->said.message_id);
	json_add_str(json_get(body, "config"), "run_id", run_id);
	if (first)
		a2a_push_of_new(s->push, run_id);
	if (!s->task_id)
		s->task_id = run_id;
	beside.push = first;
	return background_submit(call, body, &beside) ? a2a_sent(call, s) : NULL;
}

cJSON *a2a_send(struct call *call, const struct a2a_request *rq)
{
	struct a2a_sending s;
	if (!a2a_sending_read(call, rq, "invoke", &s))
		return NULL;
	/* without background runs the answer is sent when there is one */
	return s.immediately && call->service->config->runs_background ? a2a_submit(call, &s)
								       : a2a_send_waiting(call, &s);
}

/* ---- a stream ---- */

bool a2a_stream(struct call *call, struct a2a_post *post, const struct a2a_request *rq)
{
	const struct permission streams = {"graph", "stream", NULL};
	struct a2a_sending s;
	struct a2a_sink sink;
	struct turn turn;
	if (!call_permit(call, &streams) || !a2a_sending_read(call, rq, "stream", &s) ||
	    !a2a_open(call, &s, "stream", &turn))
		return false;
	/* it begins with the task, as it is when the run is on its way */
	cJSON *task = arena_json(call->arena, cJSON_CreateObject());
	if (rq->old)
		json_add_str(task, "kind", "task");
	json_add_str(task, "id", s.task_id);
	json_add_str(task, "contextId", s.thread_id);
	json_add(task, "status", a2a_status(rq->old, A2A_WORKING, clock_now(), NULL));
	if (s.history != 0 && turn.in.messages->child)
		json_append(json_add(task, "history", cJSON_CreateArray()),
		    a2a_user_message(rq->old, turn.in.messages->child, s.thread_id, s.task_id));
	a2a_sink_init(&sink, post->sink);
	char *id = json_print(rq->id);
	sink.events.old = rq->old;
	sink.events.id = id;
	sink.events.context_id = s.thread_id;
	sink.events.task_id = s.task_id;
	sink.events.task = task;
	post->streamed = stream_turn_kept(&turn, NULL, &sink.sink);
	turn_end(&turn);
	/* after the terminator, as the chunks may not have said that the run was stopped */
	bool stopped = turn.run && run_thread(turn.run)->status == RUN_STOPPED;
	if (post->streamed)
		a2a_events_end(
		    &sink.events, stopped ? A2A_CANCELED : A2A_COMPLETED, clock_now(), NULL);
	a2a_sink_release(&sink);
	cJSON_free(id);
	return post->streamed;
}
