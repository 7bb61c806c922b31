/* SPDX-License-Identifier: ISC */
/*
 * What a storage engine offers: threads, their messages and state, and the leases that keep runs
 * apart.
 *
 * One struct of functions, so that another engine can stand beside SQLite and tests can inject
 * faults.  An engine object is shared by all threads of a process.  Every call is one transaction;
 * a call that returns true has its effect on disk.  Failures: ERR_TRANSIENT_STORAGE (locked, disk
 * full), ERR_STORAGE (anything else).
 *
 * Texts named *_json are JSON that was printed by json_print; the engine stores and returns them as
 * they are.
 */
#ifndef AGENTGRAPH_STORAGE_STORAGE_H
#define AGENTGRAPH_STORAGE_STORAGE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The latest run's status as stored (doc/protocol-messages.md#state). */
enum run_status { RUN_IDLE, RUN_RUNNING, RUN_INTERRUPTED, RUN_COMPLETED, RUN_ERROR, RUN_STOPPED };
/* stop_current_execution (doc/protocol-messages.md#state). */
enum stop_state { STOP_NONE, STOP_REQUESTED, STOP_DONE };

/* A thread with its state, but without messages.  Strings are never NULL unless said. */
struct thread {
	int64_t row; /* the engine's own key; 0 for a thread not stored yet */
	const char *thread_id;
	const char *thread_name;
	const char *user_id;
	const char *metadata_json;
	int64_t created_at, updated_at; /* microseconds */

	/* the latest run */
	const char *run_id; /* NULL before the first */
	enum run_status status;
	enum stop_state stop;
	const char *node; /* "START", the node that ran last, or "END" */
	const char *next; /* the node to run next when the run goes on; NULL when it does not */
	int64_t step;
	const char *pause_json;   /* the open interrupt with the answers given so far, or NULL */
	const char *waiting_json; /* remote calls that wait for a result, or NULL */

	/* the state */
	const char *fields_json; /* custom state fields */
	const char *summary;     /* context_summary, or NULL */

	int64_t message_bytes; /* what its messages take, as thread_get found it */
};

/* A message to store, or a stored one that enters the context again, at its end. */
struct new_message {
	const char *message_id;
	const char *body_json; /* the whole message in its output form; NULL: it is stored */
};

/*
 * A change to one thread, applied in one transaction.  The thread is created when thread->row is 0
 * (and thread->row is then set); otherwise all its columns but thread_id, user_id and created_at
 * are replaced.  updated_at is the caller's.
 */
struct thread_write {
	struct thread *thread;
	const struct new_message *messages; /* appended to the list and to the context, in order */
	size_t message_count;
	const char *const *remove; /* ids of messages to delete */
	size_t remove_count;
	bool clear_context; /* every stored message leaves the context first (DELETE state) */
	const char *leave;  /* id of a message: at the end it and what is before it leave the
			       context; or NULL */

	/* Of a deferred write, may be NULL: called by a thread of the storage's when it has put the
	 * write on disk, or failed to, before its owner asked.  It must not block for long. */
	void (*settled)(void *arg, bool ok);
	void *arg;
};

/* A page of a listing (doc/protocol-threads.md#listing). */
struct page {
	const char *search; /* NULL: no filter */
	int64_t offset, limit;
	int64_t after; /* for message_part: it begins behind this one; 0 at first */
};

/* A context as it was at some time, or what is left of it to read: by places, the first excluded.
 */
struct context_span {
	int64_t after, until;
};

/* Called with each message's id and body, oldest first; both are valid only during the call.  false
 * ends the walk. */
typedef bool (*message_fn)(void *arg, const char *message_id, const char *body_json);
typedef bool (*thread_fn)(void *arg, const struct thread *thread);

/* A lease: the right to run or change one thread.  Held by one caller at a time, across processes.
 */
struct lease;

/* A deferred write. */
struct deferred;

struct shared;

struct storage {
	const struct storage_ops *ops;
	int64_t thread_max_bytes; /* what a thread may hold; 0: no limit */
};

struct storage_ops {
	const char *type; /* "sqlite": info.checkpointer_type */
	void (*close)(struct storage *st);

	/* Reads.  owner NULL reaches every thread, else only that user's. */

	/* *thread is filled from the arena; false with no error set when there is no such thread.
	 */
	bool (*thread_get)(struct storage *st, struct arena *a, const char *thread_id,
	    struct thread *thread, struct error *err);
	/* Only its user_id, without the state, which can be large; *owner is arena text, or NULL
	 * when there is no such thread. */
	bool (*thread_owner)(struct storage *st, struct arena *a, const char *thread_id,
	    const char **owner, struct error *err);
	/* The thread of that user where a remote call of that id waits for its result, of several
	 * the one that began to wait last; *thread_id is arena text, or NULL when there is none. */
	bool (*thread_waiting)(struct storage *st, struct arena *a, const char *owner,
	    const char *call_id, const char **thread_id, struct error *err);
	/*
	 * Most recently updated first, ties by thread_id.  A listing leaves out what can be large:
	 * next, pause_json, waiting_json and summary are NULL, fields_json is "{}".  The thread's
	 * texts are valid only during the call.
	 */
	bool (*thread_list)(struct storage *st, const char *owner, const struct page *page,
	    thread_fn fn, void *arg, struct error *err);
	/* Threads that were changed last before that (microseconds), the longest untouched first,
	 * without the first skip of them; *count is the room in ids, then how many there are.
	 * Texts are the arena's. */
	bool (*threads_untouched)(struct storage *st, struct arena *a, int64_t before, int64_t skip,
	    const char **ids, size_t *count, struct error *err);
	/* All messages of the list, oldest first. */
	bool (*message_list)(struct storage *st, int64_t thread_row, const struct page *page,
	    message_fn fn, void *arg, struct error *err);
	/* The same for who reads a page in several calls: page moves on to what comes behind the
	 * last message that was handed out. */
	bool (*message_part)(struct storage *st, int64_t thread_row, struct page *page,
	    message_fn fn, void *arg, struct error *err);
	/* *body is arena text, or NULL when the thread has no such message. */
	bool (*message_get)(struct storage *st, struct arena *a, int64_t thread_row,
	    const char *message_id, const char **body, struct error *err);
	/* *known says whether the message is stored, *in_context whether it is in the context. */
	bool (*message_known)(struct storage *st, int64_t thread_row, const char *message_id,
	    bool *known, bool *in_context, struct error *err);
	/* The window that nodes see, oldest first. */
	bool (*context)(
	    struct storage *st, int64_t thread_row, message_fn fn, void *arg, struct error *err);
	/* The whole context as a span, and the messages of one, oldest first, which moves on as a
	 * page does.  What was removed meanwhile is missing. */
	bool (*context_span)(
	    struct storage *st, int64_t thread_row, struct context_span *span, struct error *err);
	bool (*context_part)(struct storage *st, int64_t thread_row, struct context_span *span,
	    message_fn fn, void *arg, struct error *err);
	bool (*context_count)(
	    struct storage *st, int64_t thread_row, int64_t *count, struct error *err);

	/*
	 * Writes.  The caller holds the thread's lease.  One that adds messages, or makes the state
	 * longer, fails with ERR_THREAD_TOO_LARGE where messages and state would then be longer
	 * than thread_max_bytes.
	 */

	bool (*thread_write)(struct storage *st, struct thread_write *w, struct error *err);
	/*
	 * The same, but may be delayed by a few milliseconds so that the next thread_write of the
	 * caller can carry it in one transaction.  *pending stands for it until thread_flush or
	 * thread_write settles it; w and all that it points to must stay unchanged until then.
	 */
	void (*thread_defer)(struct storage *st, struct thread_write *w, struct deferred **pending);
	/* Waits until the deferred write is on disk.  *pending becomes NULL; NULL is fine. */
	bool (*thread_flush)(struct storage *st, struct deferred **pending, struct error *err);
	/*
	 * *pending, when not NULL, is applied before w in the same transaction if it was not
	 * applied yet, and becomes NULL. When it created the thread and w->thread->row is 0, w goes
	 * to that new thread.
	 */
	bool (*thread_write_after)(struct storage *st, struct deferred **pending,
	    struct thread_write *w, struct error *err);
	/* The thread is gone then, with all that it had, though the disk space of its messages is
	 * given back little by little. */
	bool (*thread_delete)(struct storage *st, int64_t thread_row, struct error *err);
	/* Gives up what room on the disk was kept for removing something; false when there is none
	 * (any more), so that trying again is in vain. */
	bool (*make_room)(struct storage *st);

	/* Leases (doc/protocol-runs.md#one-run-at-a-time). */

	/*
	 * Waits up to wait_ms, first come first served; NULL without error set when time ran out or
	 * too many wait already, NULL with ERR_TRANSIENT_STORAGE when there are too many leases at
	 * once.  A dead holder's lease is free.
	 */
	struct lease *(*lease_acquire)(
	    struct storage *st, const char *thread_id, int64_t wait_ms, struct error *err);
	/* Bounds how many callers of this process may wait for leases at once; see leases_room. */
	void (*lease_room)(struct storage *st, unsigned callers);
	/* Marks the lease as that of a run (others then see lease_running) and clears the stop
	 * request. */
	void (*lease_run)(struct lease *lease);
	bool (*lease_stop_requested)(const struct lease *lease);
	void (*lease_release)(struct lease *lease);
	/* Whether a run holds thread_id's lease now, and whether a stop was requested for it. */
	bool (*lease_running)(struct storage *st, const char *thread_id, bool *stop_requested);
	/* Requests a stop of the run in flight; false when there is none. */
	bool (*lease_stop)(struct storage *st, const char *thread_id);

	/* The word for snowflake_next, shared by all processes. */
	_Atomic uint64_t *(*snowflake_word)(struct storage *st);

	/* The memory that all processes of the instance share. */
	struct shared *(*shared)(struct storage *st);

	/*
	 * An online, consistent copy of all databases (agentgraph backup) into the directory path,
	 * which is made (0700) or empty.  A copy gets its name when it is complete and on disk, so
	 * path can serve as a state directory.
	 */
	bool (*backup)(struct storage *st, const char *path, struct error *err);
};

/* The same without trying, for who wants to know before work is done in vain; by message_bytes. */
bool thread_write_fits(const struct storage *st, const struct thread_write *w, struct error *err);

struct config;

/*
 * Puts the databases of a backup into the state directory, of which nobody makes use meanwhile, for
 * the owner of that directory.  Databases that are there are only replaced with overwrite.  Up to
 * the moment when all copies are complete and on disk nothing has changed; a process that dies
 * after that leaves a state that does not open before it was restored again.
 */
bool storage_restore(const char *state_dir, const char *backup, bool overwrite, struct error *err);

/*
 * Opens (and migrates, where needed) the SQLite engine over config's state directory, making the
 * directory (0700) first.  It starts threads, so a process that forks opens it afterwards.
 * The detail of an error names the file.
 */
struct storage *storage_open(const struct config *config, struct error *err);

#endif
