/* SPDX-License-Identifier: ISC */
/*
 * Tasks (doc/protocol-a2a.md#contexts-and-tasks): the runs that make up a task, how it is shown,
 * and how messages begin one and go on with it.
 *
 * Only the runs of a task are stored.  Their ids say which of them belong together, and where: the
 * first is "<thread>.<id>", which is the task's id, and those that answer its pauses are
 * "<thread>.<id>.<id>".  So a task can be found by its id, and no run pays for an index.
 */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_TASK_H
#define AGENTGRAPH_SERVICE_A2A_A2A_TASK_H

#include "service/a2a/a2a_request.h"
#include "storage/runs.h"

enum a2a_state {
	A2A_SUBMITTED,
	A2A_WORKING,
	A2A_COMPLETED,
	A2A_FAILED,
	A2A_CANCELED,
	A2A_INPUT_REQUIRED,
	A2A_STATES
};

/* Finds the state with this name; false when there is none. */
bool a2a_state_find(bool old, const char *name, enum a2a_state *state);
bool a2a_state_is_over(enum a2a_state state);

/* The state of a task whose latest run has this status, and the time since when it is so. */
enum a2a_state a2a_state_of(enum run_status status);
int64_t a2a_run_since(const struct run_record *run);

struct a2a_task {
	const char *id;
	struct thread thread;
	struct run_record *runs; /* from the first to the latest, in the arena */
	size_t count;
	enum a2a_state state;
	int64_t since; /* microseconds */
};

/* A new id for a run, in the arena: for the first run of a task, where id is the thread's, or for
 * one that goes on with the task of this id. */
const char *a2a_task_next_id(struct call *call, const char *id);

/* The same for a run that may have to wait for its turn: made from message_id, so that a message
 * that is sent twice names the same run. */
const char *a2a_task_id_of(struct call *call, const char *id, const char *message_id);

/* Whether a context with this id can have tasks, whose ids must not be too long. */
bool a2a_context_fits(const char *thread_id);

/* The task that a run belongs to: how many bytes of run_id are the task's id, 0 for none; and that
 * id in the arena, NULL for none. */
size_t a2a_task_length(const char *thread_id, const char *run_id);
const char *a2a_task_of(struct call *call, const char *thread_id, const char *run_id);

/* Whether the caller may do this with the thread of a task; if not, false with the error set. */
bool a2a_task_permit(struct call *call, const char *task_id, const char *action);

/* Reads a task as it is now, if the caller may do this with its thread.  False with the error set;
 * to the caller there is then no such task. */
bool a2a_task_find(
    struct call *call, const char *task_id, const char *action, struct a2a_task *task);

/* The same without asking for permission. */
bool a2a_task_read(struct call *call, const char *task_id, struct a2a_task *task);

/* What is shown of a task. */
struct a2a_shown {
	bool old, artifacts;
	int64_t history; /* how many of the latest messages; below 0: all */
};

/* The task as clients see it, in the arena; NULL with the error set. */
cJSON *a2a_task_view(struct call *call, const struct a2a_task *task, const struct a2a_shown *shown);

/* {"state", "timestamp"} with the agent's message, which is taken over, unless it is NULL; a new
 * tree. */
cJSON *a2a_status(bool old, enum a2a_state state, int64_t since, cJSON *message);

/* A page of tasks (ListTasks; a2a_list.c). */
cJSON *a2a_tasks_list(struct call *call, const struct a2a_request *rq);

/* ---- a2a_send.c: messages to the agent (doc/protocol-a2a.md#sending): what one means for its
 * context, and the run that it begins */

/* Sends a message.  Returns the task that it began or answered, in the arena, when its run is over,
 * or at once where that is asked for; NULL with the error set. */
cJSON *a2a_send(struct call *call, const struct a2a_request *rq);

/* The same, with every event to the post's sink.  False with the error set, and nothing sent, when
 * the message was refused. */
bool a2a_stream(struct call *call, struct a2a_post *post, const struct a2a_request *rq);

#endif
