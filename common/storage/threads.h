/* SPDX-License-Identifier: ISC */
/*
 * Threads, their messages and state, and the leases that keep runs apart, as a storage engine
 * offers them (struct storage has the table).
 *
 * Texts named *_json are JSON that was printed by json_print; the engine stores and returns them as
 * they are.
 */
#ifndef AGENTGRAPH_STORAGE_THREADS_H
#define AGENTGRAPH_STORAGE_THREADS_H

#include "base/arena.h"
#include "base/error.h"
#include "storage/storage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of the metadata that is a text, or the text of a number or boolean as JSON writes it. */
struct label {
	const char *key, *value;
};

/* All of it must hold. */
struct thread_filter {
	unsigned statuses; /* as stored, the sum of 1 << enum run_status; 0: any */
	const struct label *labels;
	size_t count;
};

/* Called with each label; false ends the walk. */
typedef bool (*label_fn)(void *arg, const struct label *label);

/* The labels of a thread's metadata; their texts are valid only during the call.  False when fn
 * ended it. */
bool labels_each(const char *metadata_json, label_fn fn, void *arg);

/* The latest run's status as stored (doc/protocol-messages.md#state). */
enum run_status {
	RUN_IDLE,
	RUN_RUNNING,
	RUN_INTERRUPTED,
	RUN_COMPLETED,
	RUN_ERROR,
	RUN_STOPPED,
	RUN_QUEUED /* of records alone: in the background, not begun yet */
};

/* Whether a run whose record says so is not over. */
static inline bool run_status_goes_on(enum run_status status)
{
	return status == RUN_QUEUED || status == RUN_RUNNING;
}

/* stop_current_execution (doc/protocol-messages.md#state). */
enum stop_state { STOP_NONE, STOP_REQUESTED, STOP_DONE };

/*
 * What a thread shows at some time.  Messages have places, which ascend and are never given twice;
 * the list is what the thread's branch has up to one place, the context what of it has a place
 * above another one.  A message that enters the context again has a second place there.  Places are
 * the engine's.
 */
struct thread_view {
	int64_t after; /* the context begins behind it */
	int64_t until; /* the list ends with it; its branch follows from it */
	int64_t last;  /* the highest that was given, in any branch */
	bool plain; /* there are no branches and no second places; false where that is not known */
};

/* What a thread has of a message. */
struct message_known {
	const char *message_id; /* NULL: it is not asked for */
	bool known;             /* it is in the list */
	bool in_context;
};

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

	int64_t message_bytes; /* as thread_get found it: what its messages take, in all branches */
	struct thread_view view; /* the same, or as its latest write left it */
};

struct run_job;
struct run_record;
struct checkpoint;

/* What a checkpoint was kept for. */
enum checkpoint_source {
	CHECKPOINT_NONE,
	CHECKPOINT_RUN,    /* the end of a run */
	CHECKPOINT_STEP,   /* a node has ended */
	CHECKPOINT_UPDATE, /* a change from outside */
	CHECKPOINT_REWIND,
	CHECKPOINT_COPY
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
	/* Of a write without messages that keeps no checkpoint: those that were added since go,
	 * with the checkpoints that have them and those of the run's steps, those that left the
	 * context since are in it again, and what the thread may hold is not asked; or NULL. */
	const struct thread_view *back_to;
	/* Before all else the thread shows what it did at that checkpoint, which what is kept next
	 * comes from; what has changed since the last one was kept is kept first.  thread has the
	 * state of then already.  NULL: it goes on where it is. */
	const struct checkpoint *rewind;
	enum checkpoint_source checkpoint; /* what it is then is kept for that (history.h) */
	const char *leave;      /* id of a message: at the end it and what is before it leave the
				   context; or NULL */
	struct run_record *run; /* of the run that writes, where its record changes (runs.h); or
				   NULL */

	/* Of a deferred write (defer.h), may be NULL: called by a thread of the storage's when it
	 * has put the write on disk, or failed to, before its owner asked.  It must not block for
	 * long. */
	void (*settled)(void *arg, bool ok);
	void *arg;
};

/*
 * A page of a listing (doc/protocol-threads.md#listing).  A search finds what contains the text as
 * it stands, A to Z and a to z being the same and all other characters themselves: of a thread its
 * id, its name, and any string in its metadata that is not a key; of a message the text of its text
 * blocks, and the output of its tool results where that is a string.  An empty search is none.
 */
struct page {
	const char *search; /* NULL: no filter */
	int64_t offset, limit;
	int64_t after; /* for message_part: it begins behind this one; 0 at first */
};

/* Called with each message's id and body, oldest first; both are valid only during the call.  false
 * ends the walk. */
typedef bool (*message_fn)(void *arg, const char *message_id, const char *body_json);
typedef bool (*thread_fn)(void *arg, const struct thread *thread);

/*
 * A lease: the right to run or change one thread, held by one caller at a time, across processes.
 * A later lease of a thread has a higher generation; every write names the lease that it is made
 * under, and one whose generation is not the present one is refused with ERR_THREAD_BUSY
 * (thread_lost).
 */
struct lease {
	const char *thread_id; /* lives as long as the lease */
	uint64_t generation;

	struct leases *queue; /* the engine's own: lease.h */
	void *place;
	struct claim *claim; /* the engine's own; NULL: one instance has all leases */
};

/* What a caller does about a lease that another one holds. */
enum lease_claim {
	CLAIM_ENQUEUE,   /* waits, first come first served */
	CLAIM_UNHEARD,   /* the same of a thread whose id was just made, so that nobody has it */
	CLAIM_REJECT,    /* does not wait */
	CLAIM_INTERRUPT, /* orders the holder to stop, and overtakes who waits */
	CLAIM_ROLLBACK   /* the same, and the holder is to put the thread back */
};

/* What others want of the run that holds a lease; each takes in the one before. */
enum lease_order { ORDER_NONE, ORDER_STOP, ORDER_ROLLBACK };

/* Which run is to be stopped, so that it is not the one that comes after it. */
struct lease_aim {
	enum lease_order order;
	const char *only; /* the run of this id, or NULL */
	const char *but;  /* whichever has not this id, or NULL */
};

/* What one caller writes to one thread, all or nothing: one write, or two in order.  The second
 * goes to the thread that the first creates where its row is 0. */
struct thread_change {
	const struct lease *lease;
	struct thread_write *writes[2]; /* the second may be NULL */
	struct error *err;              /* why it was not written */
};

struct thread_ops {
	/* Reads.  owner NULL reaches every thread, else only that user's.  view NULL is what the
	 * thread shows now. */

	/* *thread is filled from the arena; false with no error set
	 * when there is no such thread. */
	bool (*get)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *thread_id, struct thread *thread, struct error *err);
	/* Only its user_id, without the state, which can be large; *owner is arena text, or NULL
	 * when there is no such thread. */
	bool (*owner)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *thread_id, const char **owner, struct error *err);
	/* The thread of that user where a remote call of that id waits for its result, of several
	 * the one that began to wait last; *thread_id is arena text, or NULL when there is none. */
	bool (*waiting)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *owner, const char *call_id, const char **thread_id, struct error *err);
	/*
	 * Most recently updated first, ties by thread_id, byte by byte.  A listing leaves out what
	 * can be large: next, pause_json, waiting_json and summary are NULL, fields_json is "{}".
	 * The thread's texts are valid only during the call.  filter may be NULL.
	 */
	bool (*list)(struct storage *st, const struct storage_context *ctx, const char *owner,
	    const struct page *page, const struct thread_filter *filter, thread_fn fn, void *arg,
	    struct error *err);
	/* Threads by the time of their latest change, without those that have a job (runs.h). */
	bool (*untouched)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    struct untouched *old, struct error *err);
	/* All messages of the list, oldest first. */
	bool (*message_list)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, const struct page *page,
	    message_fn fn, void *arg, struct error *err);
	/* The same for who reads a page in several calls: page moves on to what comes behind the
	 * last message that was handed out. */
	bool (*message_part)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, struct page *page, message_fn fn,
	    void *arg, struct error *err);
	/* *body is arena text, or NULL when the thread has no such message. */
	bool (*message_get)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    int64_t thread_row, const struct thread_view *view, const char *message_id,
	    const char **body, struct error *err);
	/* Says of each message what the thread has of it: all are asked for at once, because the
	 * view is read for that. */
	bool (*messages_known)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, struct message_known *messages,
	    size_t count, struct error *err);
	/* The window that nodes see, oldest first. */
	bool (*context)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    const struct thread_view *view, message_fn fn, void *arg, struct error *err);
	/* What the thread shows now; all-zero when it is gone. */
	bool (*view)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    struct thread_view *view, struct error *err);
	/* The context, oldest first, for who reads it in several calls: view->after moves on to
	 * the message that was handed out last.  What was removed meanwhile is missing. */
	bool (*context_part)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, struct thread_view *view, message_fn fn, void *arg,
	    struct error *err);
	bool (*context_count)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, int64_t *count, struct error *err);

	/*
	 * Writes.  One that adds messages, or makes the state longer, fails with
	 * ERR_THREAD_TOO_LARGE where messages and state would then be longer than thread_max_bytes.
	 */

	/*
	 * Changes of different threads, which may be committed together; one that fails leaves the
	 * others alone.  True when all of them are on disk, and their threads have their rows.
	 */
	bool (*write)(struct storage *st, const struct storage_context *ctx,
	    struct thread_change *changes, size_t count);
	/* The thread is gone then, with all that it had, though the disk space of its messages is
	 * given back little by little. */
	bool (*remove)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, int64_t thread_row, struct error *err);

	/* Leases (doc/protocol-runs.md#one-run-at-a-time). */

	/*
	 * Waits up to wait_ms as claim says; NULL without error set when time ran out or too many
	 * wait already, NULL with ERR_TRANSIENT_STORAGE when there are too many leases at once.  A
	 * dead holder's lease is free.
	 */
	struct lease *(*lease_acquire)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, enum lease_claim claim, int64_t wait_ms, struct error *err);
	/* The thread of a lease that was just acquired, as get has it; for job, unless that is
	 * NULL.  An engine that has read it for the lease, or with the claim of the job, reads it
	 * no second time. */
	bool (*lease_thread)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const struct lease *lease, const struct run_job *job, struct thread *thread,
	    struct error *err);
	/* Bounds how many callers of this process may wait for leases at once; see leases_room. */
	void (*lease_room)(struct storage *st, unsigned callers);
	/* Marks the lease as that of a run of that id (others then see lease_running). */
	bool (*lease_run)(struct storage *st, const struct storage_context *ctx,
	    struct lease *lease, const char *run_id, struct error *err);
	/* What the holder was ordered since it has the lease; cheap, because asked between all
	 * nodes. */
	bool (*lease_ordered)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, enum lease_order *order, struct error *err);
	/* The lease is no more, also when this fails; the thread is then free later, as if the
	 * holder had died. */
	bool (*lease_release)(struct storage *st, const struct storage_context *ctx,
	    struct lease *lease, struct error *err);
	/* Whether a run holds thread_id's lease now, and whether a stop was requested for it. */
	bool (*lease_running)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, bool *running, bool *stop_requested, struct error *err);
	/* Whether somebody has it, for a run that is in flight or whose last chunk is still to be
	 * stored. */
	bool (*lease_held)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, bool *held, struct error *err);
	/* Requests a stop of the run in flight, where it is the one that is meant (aim NULL:
	 * whichever it is); *running says whether there is one. */
	bool (*lease_stop)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, const struct lease_aim *aim, bool *running, struct error *err);
};

/* One write under a lease. */
bool thread_write(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread_write *w, struct error *err);

/* Bytes of new messages that w brings, and of t's state. */
int64_t thread_write_size(const struct thread_write *w);
int64_t thread_state_size(const struct thread *t);

/* Sets ERR_THREAD_BUSY: somebody else has the thread meanwhile, and nothing was written.  False. */
bool thread_lost(const char *thread_id, struct error *err);

/* Sets ERR_THREAD_TOO_LARGE, and is false. */
bool thread_too_large(const struct thread *t, int64_t max, struct error *err);

/* Whether there is room for w, for who wants to know before work is done in vain; by the thread's
 * message_bytes. */
bool thread_write_fits(const struct storage *st, const struct thread_write *w, struct error *err);

#endif
