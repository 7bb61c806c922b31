/* SPDX-License-Identifier: ISC */
/*
 * Tasks (doc/protocol-a2a.md#tasks): the runs that one is made of, how it is shown, and how
 * messages begin one and go on with it.
 *
 * Of a task nothing is stored but its runs.  Their ids say what belongs together and where it is:
 * the first is "<thread>.<id>", which is the task's id, and those that answer its pauses are
 * "<thread>.<id>.<id>".  So a task is found by its id alone, and no run pays for an index.
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

/* The one of that name; false when none is. */
bool a2a_state_find(bool old, const char *name, enum a2a_state *state);
bool a2a_state_is_over(enum a2a_state state);

/* That of a task whose latest run has that status, and since when. */
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

/* A new id of a run, in the arena: of a task's first one, where id is the thread's, or of one that
 * goes on with the task of that id. */
const char *a2a_task_next_id(struct call *call, const char *id);

/* The same of a run that waits for its turn: a message that is sent twice meanwhile names one
 * run. */
const char *a2a_task_id_of(struct call *call, const char *id, const char *message_id);

/* Whether a context of that id can have tasks: their ids have a limit. */
bool a2a_context_fits(const char *thread_id);

/* The id of the task that a run of that id is of, in the arena, or how much of the run's it is;
 * NULL, 0: of none. */
size_t a2a_task_length(const char *thread_id, const char *run_id);
const char *a2a_task_of(struct call *call, const char *thread_id, const char *run_id);

/* Whether the caller may do that with the thread of a task; false with the error set. */
bool a2a_task_permit(struct call *call, const char *task_id, const char *action);

/* Reads one as it is now, and asks whether the caller may do that with its thread.  False with the
 * error set: to the caller there is no such task. */
bool a2a_task_find(
    struct call *call, const char *task_id, const char *action, struct a2a_task *task);

/* The same for a caller who may; only the storage is asked. */
bool a2a_task_read(struct call *call, const char *task_id, struct a2a_task *task);

/* Which of its history and its artifacts are shown. */
struct a2a_shown {
	bool old, artifacts;
	int64_t history; /* so many of the latest messages; below 0: all */
};

/* The task as clients see it, in the arena; NULL with the error set. */
cJSON *a2a_task_view(struct call *call, const struct a2a_task *task, const struct a2a_shown *shown);

/* {"state", "timestamp"}, with a message of the agent's that says text, or none where it is NULL;
 * a new tree. */
cJSON *a2a_status(bool old, enum a2a_state state, int64_t since, cJSON *message);

/* A page of tasks (ListTasks; a2a_list.c). */
cJSON *a2a_tasks_list(struct call *call, const struct a2a_request *rq);

/* ---- a2a_send.c: messages to the agent (doc/protocol-a2a.md#sending): what one means for its
 * context, and the run that it begins */

/* The task that the message began or answered, in the arena, when its run is over, or at once where
 * that is asked for; NULL with the error set. */
cJSON *a2a_send(struct call *call, const struct a2a_request *rq);

/* The same with every event to the post's sink.  False with the error set, and nothing sent, when
 * it was refused. */
bool a2a_stream(struct call *call, struct a2a_post *post, const struct a2a_request *rq);

#endif
