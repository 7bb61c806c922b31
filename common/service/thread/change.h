/* SPDX-License-Identifier: ISC */
/* One thread: found, taken with its lease (doc/protocol-runs.md#concurrent-runs), and changed
 * under it (doc/protocol-threads.md#thread-lifecycle). */
#ifndef AGENTGRAPH_SERVICE_THREAD_CHANGE_H
#define AGENTGRAPH_SERVICE_THREAD_CHANGE_H

#include "service/service.h"

/* ---- take.c */

/*
 * Takes a thread's lease as claim says, waiting no longer than runs.wait_timeout; NULL with
 * THREAD_BUSY, or a storage error, set.
 */
struct lease *lease_take(struct call *call, const char *thread_id, enum lease_claim claim);

/* Whether the thread belongs to a background run that may have lost its process.  Also false with
 * the error set. */
bool thread_is_left(struct call *call, const struct thread *thread);

/*
 * Takes the lease and reads the thread, which is blank where it is not stored.  A background run
 * whose process has died keeps the thread until it is taken up again and ends: that is waited for
 * within the same time.  Where nothing runs in the background any more, such a run is ended here.
 */
bool thread_take(struct call *call, const char *thread_id, enum lease_claim claim,
    struct lease **lease, struct thread *thread);

/*
 * Takes the lease of a thread that does not exist yet, under the wanted id (NULL: a new one).
 * False with THREAD_EXISTS set, or as thread_take.
 */
bool thread_take_new(struct call *call, const char *wanted, enum lease_claim claim,
    struct lease **lease, struct thread *thread);

/* Set THREAD_BUSY; or "Thread not found", unless an error is set already.  Always false. */
bool thread_refuse_busy(struct call *call, const char *thread_id);
bool thread_not_found(struct call *call);

/* Gives a lease back; a failure is only logged. */
void lease_drop(struct storage *storage, const struct storage_context *ctx, struct lease *lease);

/* Reads a thread without waiting; false with "Thread not found", a bad id,
 * or a storage error set. */
bool thread_find(struct call *call, const char *thread_id, struct thread *thread);

struct run_flags;

/* The same; *flags says whether a run has the thread now, and whether it was told to stop. */
bool thread_look(
    struct call *call, const char *thread_id, struct thread *thread, struct run_flags *flags);

/*
 * Reads a thread whose run is to be stopped; false when it is not stored, or with a storage error
 * set.  A run on a new thread is in flight some milliseconds before the thread is stored; this
 * waits for that, because only then it is known whose thread it is.
 */
bool thread_stored(struct call *call, const char *thread_id, struct thread *thread);

/* ---- change.c */

/* Checks the member config of a body that ignores it; body may be NULL. */
bool config_check(struct call *call, const cJSON *body);

/* Checks config, and a thread's id from the path; reports all mistakes. */
bool change_check(struct call *call, const char *thread_id, const cJSON *body);

/* Reads the thread_id of the body of stop and fix, and checks config; reports all mistakes. */
bool thread_named(struct call *call, const cJSON *body, const char **thread_id);

/* A change of one thread, under its lease. */
struct change {
	struct call *call;
	struct lease *lease;
	struct thread thread; /* as stored; row 0 and blank when there is none */

	/* What change_store puts into its write (struct thread_write) */
	const struct checkpoint *rewind;
	enum checkpoint_source checkpoint;
	struct run_record *run;
};

/* Checks the id, takes the lease and reads the thread; false with call->error set and nothing to
 * end. */
bool change_begin(struct change *change, struct call *call, const char *thread_id);
void change_end(struct change *change);

/* Whether the thread is stored; if not, "Thread not found" is set. */
bool change_exists(struct change *change);

/* Sets updated_at, and created_at of a new thread, to now. */
void change_touch(struct change *change);

/* Stores the thread with these messages added to list and context; change_append takes an array in
 * output form, or NULL. */
bool change_store(struct change *change, const struct new_message *messages, size_t count);
bool change_append(struct change *change, const cJSON *messages);

/* Closes the thread's pause and waiting calls, as if the run had come to its end. */
void thread_close_pause(struct thread *thread);

/* Closes a pause, or waiting calls, whose message is gone, as there is nothing to resume without
 * it.  gone says whether a message is. */
typedef bool (*message_gone_fn)(void *arg, const char *message_id);
void thread_close_gone(struct thread *thread, message_gone_fn gone, void *arg);

/*
 * Removes the messages with these ids (an array of strings), and closes a pause or waiting calls
 * that rest on one of them.  Many messages are removed in pieces, the last first: a failure leaves
 * those at the beginning of ids, such as calls whose results are gone already, which the next
 * repair finds.
 */
bool change_remove(struct change *change, const cJSON *ids);

/* The AgentState as it is now, a new tree; NULL with the error set. */
cJSON *change_state(struct change *change);

/* ---- left.c: background runs whose process has died, on a service where nothing runs in the
 * background any more: nobody will take them up, so whoever wants their thread ends them */

/*
 * Ends the run that has the thread, under the thread's lease: as it was ordered, stopped or with
 * the thread put back to where it was before; without an order, as lost.  Reads the thread again.
 * Leaves alone a run that another process has.  False with the error set.
 */
bool left_end(struct call *call, struct lease *lease, struct thread *thread);

#endif
