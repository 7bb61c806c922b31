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

/* A member of a thread's metadata by which threads can be found: a string, or a number or boolean
 * as JSON writes it. */
struct label {
	const char *key, *value;
};

/* Which threads are meant; all conditions must hold. */
struct thread_filter {
	unsigned statuses; /* as stored, the sum of 1 << enum run_status; 0: any */
	const struct label *labels;
	size_t count;
};

/* Called with each label; returns false to end the walk. */
typedef bool (*label_fn)(void *arg, const struct label *label);

/* Calls fn with each label of a thread's metadata; the texts are valid only during the call.  False
 * when fn ended the walk. */
bool labels_each(const char *metadata_json, label_fn fn, void *arg);

/* The latest run's status as stored (doc/protocol-messages.md#state). */
enum run_status {
	RUN_IDLE,
	RUN_RUNNING,
	RUN_INTERRUPTED,
	RUN_COMPLETED,
	RUN_ERROR,
	RUN_STOPPED,
	RUN_QUEUED /* only in records of runs: in the background, not begun yet */
};

/* Whether a record with this status is that of a run that is not over. */
static inline bool run_status_goes_on(enum run_status status)
{
	return status == RUN_QUEUED || status == RUN_RUNNING;
}

/* stop_current_execution (doc/protocol-messages.md#state). */
enum stop_state { STOP_NONE, STOP_REQUESTED, STOP_DONE };

/*
 * What a thread shows at some time.  Each message gets a place, a number that ascends and is never
 * given twice.  The list is what the thread's branch has up to the place until; the context is the
 * part of the list above the place after.  A message that enters the context again gets a second
 * place there.  Only the engine gives a meaning to places.
 */
struct thread_view {
	int64_t after; /* the context begins behind this place */
	int64_t until; /* the list ends with this place, which also says on which branch it is */
	int64_t last;  /* the highest place that was given, in any branch */
	bool plain; /* the thread has neither branches nor second places; false also where that is
		       not known */
};

/* A question about one message, and what the thread has of it. */
struct message_known {
	const char *message_id; /* NULL: nothing is asked */
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

	int64_t message_bytes;   /* size of its messages, in all branches, when get read it */
	struct thread_view view; /* when get read it, or as its latest write left it */
};

struct run_job;
struct run_record;
struct checkpoint;

/* Why a checkpoint was kept. */
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
	/* the whole message in its output form; NULL: it is stored already */
	const char *body_json;
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
	/*
	 * Not NULL: puts the messages back to this earlier view.  Messages that were added since
	 * are removed, with the checkpoints that show them and those of the run's steps; messages
	 * that left the context since are in it again; and the size limit is not applied.  Such a
	 * write adds no messages and keeps no checkpoint.
	 */
	const struct thread_view *back_to;
	/*
	 * Not NULL: before all else the thread goes back to what it showed at this checkpoint,
	 * which becomes the parent of the next one; changes since its latest checkpoint are kept in
	 * one of their own first.  The caller has put the checkpoint's state into thread already.
	 */
	const struct checkpoint *rewind;
	enum checkpoint_source checkpoint; /* not NONE: keeps a checkpoint of the result, for this
					      reason (history.h) */
	const char *leave; /* id of a message; in the end it and all before it leave the context. Or
			      NULL */
	/* the record of the run that writes, where it changes (runs.h); or NULL */
	struct run_record *run;

	/* For a deferred write (defer.h), or NULL: a thread of the storage calls it when it has put
	 * the write on disk, or failed to, before the write's owner asked.  It must not block for
	 * long. */
	void (*settled)(void *arg, bool ok);
	void *arg;
};

/*
 * A page of a listing (doc/protocol-threads.md#listing).  A search finds what contains the text
 * literally, where only A to Z and a to z count as the same.  Of a thread it looks at the id, the
 * name, and all strings in the metadata but keys; of a message at the text of its text blocks, and
 * the output of its tool results where that is a string.  An empty search is none.
 */
struct page {
	const char *search; /* NULL: no filter */
	int64_t offset, limit;
	int64_t after; /* only message_part: the place of the last message handed out; 0 at first */
};

/* Called with each message's id and body, oldest first; both are valid only during the call.
 * Returns false to end the walk. */
typedef bool (*message_fn)(void *arg, const char *message_id, const char *body_json);
typedef bool (*thread_fn)(void *arg, const struct thread *thread);

/*
 * A lease: the right to run or change one thread, held by one caller at a time, across processes.
 * A later lease of a thread has a higher generation; every write names the lease that it is made
 * under, and one whose generation is not the latest is refused with ERR_THREAD_BUSY (thread_lost).
 */
struct lease {
	const char *thread_id; /* lives as long as the lease */
	uint64_t generation;

	struct leases *queue; /* the engine's own: lease.h */
	void *place;
	struct claim *claim; /* the engine's own; NULL where there is only one instance */
};

/* What a caller does about a lease that another one holds. */
enum lease_claim {
	CLAIM_ENQUEUE, /* waits, first come first served */
	CLAIM_UNHEARD, /* the same, but nobody can have the lease: the thread's id was just made */
	/* does not wait, except for a run whose end is on disk, or while another instance has the
	 * thread for something else than a run */
	CLAIM_REJECT,
	CLAIM_INTERRUPT, /* orders the holder to stop, and goes ahead of those who wait */
	CLAIM_ROLLBACK   /* the same, and the holder is to put the thread back */
};

/* What others want of the run that holds a lease; each includes the one before. */
enum lease_order { ORDER_NONE, ORDER_STOP, ORDER_ROLLBACK };

/* Which run an order is for, so that it does not reach the run that comes next. */
struct lease_aim {
	enum lease_order order;
	const char *only; /* only the run of this id; or NULL */
	const char *but;  /* any run but the one of this id; or NULL */
};

/* What one caller writes to one thread, all or nothing: one write, or two in order.  Where the
 * first creates the thread, the second (whose row is 0) goes to that. */
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
	/* Reads only the user_id, since the state can be large; *owner is arena text, or NULL when
	 * there is no such thread. */
	bool (*owner)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *thread_id, const char **owner, struct error *err);
	/* Finds the thread of this user in which a remote call of this id waits for its result; of
	 * several, the one that began to wait last.  *thread_id is arena text, or NULL when there
	 * is none. */
	bool (*waiting)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *owner, const char *call_id, const char **thread_id, struct error *err);
	/*
	 * Lists threads, the most recently updated first, ties by thread_id, byte by byte.  A
	 * listing leaves out what can be large: next, pause_json, waiting_json and summary are
	 * NULL, fields_json is "{}".  The thread's texts are valid only during the call.  filter
	 * may be NULL.
	 */
	bool (*list)(struct storage *st, const struct storage_context *ctx, const char *owner,
	    const struct page *page, const struct thread_filter *filter, thread_fn fn, void *arg,
	    struct error *err);
	/* Finds threads by the time of their latest change; one that has a job (runs.h) is not
	 * among them. */
	bool (*untouched)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    struct untouched *old, struct error *err);
	/* Hands out the messages of the list, oldest first. */
	bool (*message_list)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, const struct page *page,
	    message_fn fn, void *arg, struct error *err);
	/* The same for a page that is read in several calls: page moves on behind the last message
	 * that was handed out. */
	bool (*message_part)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, struct page *page, message_fn fn,
	    void *arg, struct error *err);
	/* Hands out the messages of these ids, in their order, as far as the list has them.  Takes
	 * all of them at once, because it has to read the view first. */
	bool (*messages_get)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, const char *const *message_ids,
	    size_t count, message_fn fn, void *arg, struct error *err);
	/* Answers each question in messages. */
	bool (*messages_known)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, struct message_known *messages,
	    size_t count, struct error *err);
	/* Hands out the context, which is what nodes see, oldest first. */
	bool (*context)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    const struct thread_view *view, message_fn fn, void *arg, struct error *err);
	/* Reads what the thread shows now; all-zero when it is gone. */
	bool (*view)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    struct thread_view *view, struct error *err);
	/* The same as context, in several calls: view->after moves on to the last message that was
	 * handed out.  Messages that are removed meanwhile are missing. */
	bool (*context_part)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, struct thread_view *view, message_fn fn, void *arg,
	    struct error *err);
	bool (*context_count)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const struct thread_view *view, int64_t *count, struct error *err);

	/*
	 * Writes.  One that adds messages, or makes the state longer, fails with
	 * ERR_THREAD_TOO_LARGE where messages and state together would then exceed
	 * thread_max_bytes.
	 */

	/*
	 * Writes changes of different threads, which may be committed together; one that fails does
	 * not affect the others.  True when all are on disk; new threads have got their rows.
	 */
	bool (*write)(struct storage *st, const struct storage_context *ctx,
	    struct thread_change *changes, size_t count);
	/* Removes the thread with all that it has.  It is gone at once, but the disk space of its
	 * messages is given back little by little. */
	bool (*remove)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, int64_t thread_row, struct error *err);

	/* Leases (doc/protocol-runs.md#concurrent-runs). */

	/*
	 * Acquires the lease, waiting up to wait_ms as claim says.  NULL without an error when time
	 * ran out or too many wait already; NULL with ERR_TRANSIENT_STORAGE when there are too many
	 * leases at once.  The lease of a dead holder is free.
	 */
	struct lease *(*lease_acquire)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, enum lease_claim claim, int64_t wait_ms, struct error *err);
	/* Reads the thread of a lease that was just acquired, as get does.  job is the job that the
	 * lease was taken for, or NULL: an engine that has read the thread while it acquired the
	 * lease or claimed the job does not read it again. */
	bool (*lease_thread)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const struct lease *lease, const struct run_job *job, struct thread *thread,
	    struct error *err);
	/* Bounds how many callers of this process may wait for leases at once; see leases_room. */
	void (*lease_room)(struct storage *st, unsigned callers);
	/* Marks the lease as held by the run of this id: others then see lease_running, until the
	 * end of the run is on disk.  With NULL: one that did not write its end itself is over. */
	bool (*lease_run)(struct storage *st, const struct storage_context *ctx,
	    struct lease *lease, const char *run_id, struct error *err);
	/* What the holder was ordered to do since it has the lease.  Cheap, because it is asked
	 * between any two nodes. */
	bool (*lease_ordered)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, enum lease_order *order, struct error *err);
	/* Ends the lease, which must not be used again even where this fails: then the thread
	 * becomes free later, as if the holder had died. */
	bool (*lease_release)(struct storage *st, const struct storage_context *ctx,
	    struct lease *lease, struct error *err);
	/* Whether a run holds thread_id's lease now, and whether a stop was requested for it. */
	bool (*lease_running)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, bool *running, bool *stop_requested, struct error *err);
	/* Whether somebody has it, be it for a run whose last chunks are still to be stored. */
	bool (*lease_held)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, bool *held, struct error *err);
	/* Requests a stop of the run in flight, where it is the one that aim means (NULL: any);
	 * *running says whether there is one. */
	bool (*lease_stop)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, const struct lease_aim *aim, bool *running, struct error *err);
};

/* One message: *body is arena text, or NULL when the list does not have it. */
bool thread_message_get(struct storage *st, const struct storage_context *ctx, struct arena *a,
    int64_t thread_row, const struct thread_view *view, const char *message_id, const char **body,
    struct error *err);

/* One write under a lease. */
bool thread_write(struct storage *st, const struct storage_context *ctx, const struct lease *lease,
    struct thread_write *w, struct error *err);

/* Bytes of the messages that w adds, and of t's state. */
int64_t thread_write_size(const struct thread_write *w);
int64_t thread_state_size(const struct thread *t);

/* Sets ERR_THREAD_BUSY, because somebody else has the thread by now and nothing was written.
 * Always false. */
bool thread_lost(const char *thread_id, struct error *err);

/* Sets ERR_THREAD_TOO_LARGE.  Always false. */
bool thread_too_large(const struct thread *t, int64_t max, struct error *err);

/* Whether w would fit the size limit, going by the thread's message_bytes; for callers who want to
 * know before they do work in vain. */
bool thread_write_fits(const struct storage *st, const struct thread_write *w, struct error *err);

#endif
