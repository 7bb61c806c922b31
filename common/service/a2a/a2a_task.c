/* SPDX-License-Identifier: ISC */
/* Finding the runs of a task, its state, and how it is shown. */
#include "service/a2a/a2a_task.h"

#include "base/json/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "graph/message/message.h"
#include "graph/state.h"
#include "service/a2a/a2a_message.h"
#include "service/run/records.h"
#include "service/run/said.h"
#include "service/thread/change.h"

#include <string.h>

/* ---- states ---- */

static const struct {
	const char *name, *old;
} a2a_states[A2A_STATES] = {
    [A2A_SUBMITTED] = {"TASK_STATE_SUBMITTED", "submitted"},
    [A2A_WORKING] = {"TASK_STATE_WORKING", "working"},
    [A2A_COMPLETED] = {"TASK_STATE_COMPLETED", "completed"},
    [A2A_FAILED] = {"TASK_STATE_FAILED", "failed"},
    [A2A_CANCELED] = {"TASK_STATE_CANCELED", "canceled"},
    [A2A_INPUT_REQUIRED] = {"TASK_STATE_INPUT_REQUIRED", "input-required"},
};

static const char *a2a_state_name(bool old, enum a2a_state state)
{
	return old ? a2a_states[state].old : a2a_states[state].name;
}

bool a2a_state_find(bool old, const char *name, enum a2a_state *state)
{
	for (int i = 0; i < A2A_STATES; i++) {
		*state = (enum a2a_state)i;
		if (strcmp(a2a_state_name(old, *state), name) == 0)
			return true;
	}
	return false;
}

bool a2a_state_is_over(enum a2a_state state)
{
	return state == A2A_COMPLETED || state == A2A_FAILED || state == A2A_CANCELED;
}

/* ---- ids ---- */

#define A2A_BETWEEN '.'
#define A2A_ID_MAX 255

const char *a2a_task_next_id(struct call *call, const char *id)
{
	char made[UUID_SIZE];
	return arena_printf(
	    call->arena, "%s%c%s", id, A2A_BETWEEN, id_make(&call->service->ids, made));
}

const char *a2a_task_id_of(struct call *call, const char *id, const char *message_id)
{
	char uuid[UUID_SIZE];
	return arena_printf(call->arena, "%s%c%s", id, A2A_BETWEEN, uuid8(message_id, uuid));
}

bool a2a_context_fits(const char *thread_id)
{
	return utf8_characters(thread_id) + 2 * (size_t)UUID_SIZE <= A2A_ID_MAX;
}

size_t a2a_task_length(const char *thread_id, const char *run_id)
{
	size_t len = strlen(thread_id);
	if (strncmp(run_id, thread_id, len) != 0 || run_id[len] != A2A_BETWEEN)
		return 0;
	return len + 1 + strcspn(run_id + len + 1, ".");
}

const char *a2a_task_of(struct call *call, const char *thread_id, const char *run_id)
{
	size_t len = a2a_task_length(thread_id, run_id);
	return len ? arena_strndup(call->arena, run_id, len) : NULL;
}

/* ---- the runs of a task ---- */

static bool a2a_task_missing(struct call *call, const char *task_id)
{
	error_release(&call->error);
	return a2a_fault(call, A2A_TASK_NOT_FOUND, "Task '%.200s' was not found", task_id);
}

/* Runs of the thread behind the first one of the task, newest first. */
struct a2a_later {
	struct call *call;
	int64_t first; /* number of the first one of the task */
	struct run_record *runs;
	size_t count, room;
};

static bool a2a_note_later(void *arg, const struct run_record *record)
{
	struct a2a_later *later = arg;
	struct arena *a = later->call->arena;
	if (record->number <= later->first)
		return false;
	if (later->count == later->room) {
		struct run_record *runs = arena_alloc(a, (2 * later->room + 8) * sizeof(*runs));
		if (later->count)
			memcpy(runs, later->runs, later->count * sizeof(*runs));
		later->runs = runs;
		later->room = 2 * later->room + 8;
	}
	later->runs[later->count++] = (struct run_record){.number = record->number,
	    .status = record->status,
	    .run_id = arena_strdup(a, record->run_id)};
	return true;
}

static bool a2a_task_follow(struct call *call, struct a2a_task *task)
{
	struct storage *storage = call->service->storage;
	struct a2a_later later = {.call = call, .first = task->runs[0].number};
	const char *thread_id = task->thread.thread_id;
	const struct record_filter filter = {.thread_id = thread_id, .statuses = ~0U};
	if (!storage->runs->list(
		storage, &call->ctx, &filter, a2a_note_later, &later, &call->error))
		return false;
	struct run_record *runs = arena_alloc(call->arena, (later.count + 1) * sizeof(*runs));
	runs[0] = task->runs[0];
	task->runs = runs;
	for (size_t i = later.count; i > 0 && runs[task->count - 1].status == RUN_INTERRUPTED;
	     i--) {
		/* a pause is answered by the next run that has its thread, of whichever protocol,
		 * unless that begins a task of its own */
		const char *other = a2a_task_of(call, thread_id, later.runs[i - 1].run_id);
		if (other && strcmp(other, task->id) != 0)
			break;
		if (!record_now(call, thread_id, later.runs[i - 1].run_id, &runs[task->count]))
			return false;
		task->count++;
	}
	return true;
}

enum a2a_state a2a_state_of(enum run_status status)
{
	static const enum a2a_state states[] = {[RUN_QUEUED] = A2A_SUBMITTED,
	    [RUN_RUNNING] = A2A_WORKING,
	    [RUN_IDLE] = A2A_WORKING,
	    [RUN_COMPLETED] = A2A_COMPLETED,
	    [RUN_STOPPED] = A2A_CANCELED,
	    [RUN_ERROR] = A2A_FAILED,
	    [RUN_INTERRUPTED] = A2A_INPUT_REQUIRED};
	return states[status];
}

int64_t a2a_run_since(const struct run_record *run)
{
	return run->finished_at ? run->finished_at
	    : run->started_at   ? run->started_at
				: run->created_at;
}

/* The thread that a task of that id is in, in the arena; NULL: there can be none. */
static const char *a2a_task_thread(struct call *call, const char *task_id)
{
	const char *end = strrchr(task_id, A2A_BETWEEN);
	if (!id_valid(task_id) || !end || end == task_id)
		return NULL;
	return arena_strndup(call->arena, task_id, (size_t)(end - task_id));
}

bool a2a_task_read(struct call *call, const char *task_id, struct a2a_task *task)
{
	const char *thread_id = a2a_task_thread(call, task_id);
	*task = (struct a2a_task){.id = task_id, .count = 1};
	if (!thread_id)
		return a2a_task_missing(call, task_id);
	task->runs = arena_alloc(call->arena, sizeof(*task->runs));
	if (!thread_find(call, thread_id, &task->thread) ||
	    !record_now(call, thread_id, task_id, task->runs))
		return error_status_of(&call->error) < 500 && a2a_task_missing(call, task_id);
	/* the run that answers it may still wait for its turn */
	if (task->runs->status == RUN_INTERRUPTED && !a2a_task_follow(call, task))
		return false;
	const struct thread *thread = &task->thread;
	const struct run_record *latest = &task->runs[task->count - 1];
	/* the task may have gone on after its thread was read */
	if (latest->status == RUN_INTERRUPTED && !thread_find(call, thread_id, &task->thread))
		return false;
	task->state = a2a_state_of(latest->status);
	task->since = a2a_run_since(latest);
	/* its question is not open any more, so nobody can answer it */
	if (task->state == A2A_INPUT_REQUIRED &&
	    (!record_is_latest(latest, thread) || thread->status != RUN_INTERRUPTED ||
		!thread->pause_json))
		task->state = A2A_CANCELED;
	return true;
}

bool a2a_task_permit(struct call *call, const char *task_id, const char *action)
{
	const struct permission any = {"graph", action, NULL},
				of_thread = {"graph", action, a2a_task_thread(call, task_id)};
	if (!call_permit(call, &any))
		return false;
	if (of_thread.resource_id && !call_permit(call, &of_thread))
		return a2a_task_missing(call, task_id);
	return true;
}

bool a2a_task_find(
    struct call *call, const char *task_id, const char *action, struct a2a_task *task)
{
	return a2a_task_permit(call, task_id, action) && a2a_task_read(call, task_id, task);
}

/* ---- how it is shown ---- */

cJSON *a2a_status(bool old, enum a2a_state state, int64_t since, cJSON *message)
{
	char time[ISO_TIME_SIZE];
	cJSON *status = cJSON_CreateObject();
	json_add_str(status, "state", a2a_state_name(old, state));
	if (message)
		json_add(status, "message", message);
	json_add_str(status, "timestamp", clock_iso(since, time));
	return status;
}

/* What the pauses of a thread ask, as a message of the agent's; a new tree, or NULL. */
static cJSON *a2a_question(
    struct call *call, bool old, const struct thread *thread, const char *task_id)
{
	cJSON *interrupt = arena_json(call->arena, thread_interrupt(thread));
	if (!interrupt)
		return NULL;
	cJSON *message =
	    a2a_agent_message(old, json_str(interrupt, "id"), thread->thread_id, task_id);
	json_append(json_add(message, "parts", cJSON_CreateArray()),
	    a2a_text_part(old, interrupt_question(call->arena, interrupt)));
	cJSON *metadata = json_add(message, "metadata", cJSON_CreateObject());
	json_refer(metadata, "interrupt", interrupt);
	thread_add_interrupts(thread, metadata);
	return message;
}

/* A message that says why the task failed, as far as production tells clients. */
static cJSON *a2a_failure(struct call *call, bool old, const struct a2a_task *task)
{
	const struct run_record *run = &task->runs[task->count - 1];
	struct error err = {0};
	struct error_view view;
	record_failure(run, &err);
	call_view_of(call, &err, &view);
	cJSON *message = a2a_agent_message(old, arena_printf(call->arena, "%s.error", run->run_id),
	    task->thread.thread_id, task->id);
	json_append(
	    json_add(message, "parts", cJSON_CreateArray()), a2a_text_part(old, view.detail));
	error_release(&err);
	return message;
}

struct a2a_reading {
	const struct a2a_task *task;
	bool old;
	cJSON *out;
};

static bool a2a_add_history(void *arg, const char *id, const char *body_json)
{
	struct a2a_reading *reading = arg;
	cJSON *message = json_parse_own(body_json);
	(void)id;
	if (message_is(message, "user"))
		json_append(reading->out,
		    a2a_user_message(
			reading->old, message, reading->task->thread.thread_id, reading->task->id));
	cJSON_Delete(message);
	return true;
}

static bool a2a_add_artifact(void *arg, const char *id, const char *body_json)
{
	struct a2a_reading *reading = arg;
	cJSON *message = json_parse_own(body_json);
	cJSON *artifact = a2a_artifact(id);
	cJSON *parts = json_add(artifact, "parts", cJSON_CreateArray());
	if (message_is(message, "assistant"))
		a2a_parts_add(parts, reading->old, json_get(message, "content"));
	if (parts->child)
		json_append(reading->out, artifact);
	else
		cJSON_Delete(artifact);
	cJSON_Delete(message);
	return true;
}

static bool a2a_read_messages(
    struct call *call, struct a2a_reading *reading, enum run_share which, message_fn fn)
{
	struct storage *storage = call->service->storage;
	const struct a2a_task *task = reading->task;
	for (size_t i = 0; i < task->count; i++)
		if (!storage->runs->messages(
			storage, &call->ctx, &task->runs[i], which, fn, reading, &call->error))
			return false;
	return true;
}

cJSON *a2a_task_view(struct call *call, const struct a2a_task *task, const struct a2a_shown *shown)
{
	struct a2a_reading reading = {.task = task, .old = shown->old};
	cJSON *out = arena_json(call->arena, cJSON_CreateObject()), *message = NULL;
	if (task->state == A2A_INPUT_REQUIRED)
		message = a2a_question(call, shown->old, &task->thread, task->id);
	else if (task->state == A2A_FAILED)
		message = a2a_failure(call, shown->old, task);
	if (shown->old)
		json_add_str(out, "kind", "task");
	json_add_str(out, "id", task->id);
	json_add_str(out, "contextId", task->thread.thread_id);
	json_add(out, "status", a2a_status(shown->old, task->state, task->since, message));
	if (shown->artifacts) {
		reading.out = json_add(out, "artifacts", cJSON_CreateArray());
		if (!a2a_read_messages(call, &reading, RUN_MADE, a2a_add_artifact))
			return NULL;
	}
	if (shown->history == 0)
		return out;
	reading.out = json_add(out, "history", cJSON_CreateArray());
	if (!a2a_read_messages(call, &reading, RUN_GIVEN, a2a_add_history))
		return NULL;
	for (int64_t n = cJSON_GetArraySize(reading.out); shown->history > 0 && n > shown->history;
	     n--)
		cJSON_DeleteItemFromArray(reading.out, 0);
	return out;
}
