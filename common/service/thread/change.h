/* SPDX-License-Identifier: ISC */
/* Changes to one thread under its lease (doc/protocol-threads.md#life-of-a-thread,
 * doc/protocol-runs.md#one-run-at-a-time). */
#ifndef AGENTGRAPH_SERVICE_THREAD_CHANGE_H
#define AGENTGRAPH_SERVICE_THREAD_CHANGE_H

#include "service/service.h"

/*
 * Waits for the thread's lease as long as runs.wait_timeout says; NULL with THREAD_BUSY, or a
 * storage error, set.
 */
struct lease *lease_take(struct call *call, const char *thread_id);

/* Reads a thread without waiting; false with "Thread not found", a bad id, or a storage error set.
 */
bool thread_find(struct call *call, const char *thread_id, struct thread *thread);

/* Checks the config member of a body that is otherwise ignored; NULL is fine. */
bool config_check(struct call *call, const cJSON *body);

/* Checks that, and a thread's id from the path; all mistakes are told. */
bool change_check(struct call *call, const char *thread_id, const cJSON *body);

/* Reads the thread_id of the body of stop and fix, and checks config; all mistakes are told. */
bool thread_named(struct call *call, const cJSON *body, const char **thread_id);

struct change {
	struct call *call;
	struct lease *lease;
	struct thread thread; /* as stored; row 0 and blank when there is none */
};

/* Checks the id, takes the lease and reads the thread; false with call->error set and nothing to
 * end. */
bool change_begin(struct change *change, struct call *call, const char *thread_id);
void change_end(struct change *change);

/* Whether the thread is stored; else "Thread not found" is set. */
bool change_exists(struct change *change);

/* Sets updated_at, and created_at of a new thread, to now. */
void change_touch(struct change *change);

/* Stores the thread with messages (an array in output form, or NULL) added to list and context. */
bool change_append(struct change *change, const cJSON *messages);

/*
 * Removes the messages of these ids (an array of strings), and the pause or the waiting calls that
 * rested on one of them.  Many go in pieces, the last first: a failure leaves those at the
 * beginning of ids, such as the calls whose results are gone, which the next repair finds.
 */
bool change_remove(struct change *change, const cJSON *ids);

/* The AgentState as it is now, a new tree; NULL with the error set. */
cJSON *change_state(struct change *change);

/* The text of a message (output form) as it is stored, in the arena. */
const char *message_stored(struct call *call, const cJSON *message);

#endif
