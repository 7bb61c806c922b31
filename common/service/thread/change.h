/* SPDX-License-Identifier: ISC */
/* One thread: found, taken with its lease (doc/protocol-runs.md#one-run-at-a-time), and changed
 * under it (doc/protocol-threads.md#life-of-a-thread). */
#ifndef AGENTGRAPH_SERVICE_THREAD_CHANGE_H
#define AGENTGRAPH_SERVICE_THREAD_CHANGE_H

#include "service/service.h"

/* ---- take.c */

/*
 * Takes the thread's lease as claim says, and waits for it no longer than runs.wait_timeout; NULL
 * with THREAD_BUSY, or a storage error, set.
 */
struct lease *lease_take(struct call *call, const char *thread_id, enum lease_claim claim);

/* Whether a run in the background has the thread, although no process may have the run.  False with
 * the error set, too. */
bool thread_is_left(struct call *call, const struct thread *thread);

/*
 * Takes the lease and reads the thread, which is blank where it is not stored.  A background run
 * that its process has left has the thread until it is taken up again, which is waited for in the
 * same time; where nothing runs in the background it is ended.
 */
bool thread_take(struct call *call, const char *thread_id, enum lease_claim claim,
    struct lease **lease, struct thread *thread);

/*
 * Takes the lease of a thread that there is not yet, under the id that is wanted or, where that is
 * NULL, a new one.  False with THREAD_EXISTS, or as thread_take, where it cannot be had.
 */
bool thread_take_new(struct call *call, const char *wanted, enum lease_claim claim,
    struct lease **lease, struct thread *thread);

/* Sets THREAD_BUSY, or "Thread not found" unless there is an error; false. */
bool thread_refuse_busy(struct call *call, const char *thread_id);
bool thread_not_found(struct call *call);

/* Gives a lease back; what fails is told in the log alone. */
void lease_drop(struct storage *storage, const struct storage_context *ctx, struct lease *lease);

/* Reads a thread without waiting; false with "Thread not found", a bad id,
 * or a storage error set. */
bool thread_find(struct call *call, const char *thread_id, struct thread *thread);

struct run_flags;

/* The same, and whether a run has it now. */
bool thread_look(
    struct call *call, const char *thread_id, struct thread *thread, struct run_flags *flags);

/*
 * Reads a thread whose run is to be stopped; false when it is not stored, or with a storage error
 * set.  A run on a new one is in flight some milliseconds before that, for which it waits: only the
 * record says whose it is.
 */
bool thread_stored(struct call *call, const char *thread_id, struct thread *thread);

/* ---- change.c */

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

	/* Of change_append and messages_store, what its write has (thread_write) */
	const struct checkpoint *rewind;
	enum checkpoint_source checkpoint;
	struct run_record *run;
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

/* Nothing is asked any more, as if the run had come to its end. */
void thread_close_pause(struct thread *thread);

/* Closes a pause, and calls that wait, which rest on a message that is gone: without it there is
 * nothing to resume. */
typedef bool (*message_gone_fn)(void *arg, const char *message_id);
void thread_close_gone(struct thread *thread, message_gone_fn gone, void *arg);

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

/* ---- left.c: runs in the background whose process died, where nothing runs in the background any
 * more: nobody takes them up, so who wants their thread ends them. */

/*
 * Ends the run that thread says is running, under the thread's lease, as it was ordered: stopped,
 * with the thread put back to where it was before; or, without any order, as one that was lost.
 * What the thread is then is read again.  One that another process has goes on.  False with the
 * error set.
 */
bool left_end(struct call *call, struct lease *lease, struct thread *thread);

#endif
