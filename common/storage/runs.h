/* SPDX-License-Identifier: ISC */
/*
 * Records of runs (doc/protocol-runs.md#records), the queue of those in the background, chunks that
 * are kept and the outbox of webhooks, as a storage engine offers them (struct storage has the
 * table).
 *
 * A record is written by the run itself, with its thread: thread_write.run of the first write makes
 * it, that of the last one ends it, and where both go in one transaction it is written once.  What
 * stands between belongs to the thread.  A record that says RUN_RUNNING was left by a process that
 * died, unless the lease says that a run has the thread.
 *
 * A run in the background has a job, from its submission on, and so a record before it begins,
 * RUN_QUEUED.  Who claims the job runs it, and writes as any run does, with record.job, .number and
 * .created_at set: the first write of RUN_RUNNING begins it, which keeps .answers_json and
 * .started_at; any write with another status ends it, and in the same transaction its job, puts its
 * webhook into the outbox and makes the thread's next job ready; and what is ready then, of
 * whichever thread, can be claimed along.  A write of RUN_RUNNING between
 * these changes what the record says, but not where its messages begin.  All of them fail as those
 * of a lost lease do (ERR_THREAD_BUSY) when the job is not this process's any more: it was stopped,
 * or its thread is gone.
 *
 * Of a thread's jobs the one that became due first comes first, and the next one is ready when it
 * is over.  A claim is that of a process; when that dies, recover finds out.
 */
#ifndef AGENTGRAPH_STORAGE_RUNS_H
#define AGENTGRAPH_STORAGE_RUNS_H

#include "storage/threads.h"

/* What models say that messages cost, summed up. */
struct run_usage {
	int64_t prompt, completion, reasoning, total;
};

struct run_claim;

/* A run's record by the row of its thread, and its number there. */
struct run_key {
	int64_t thread, number;
};

/*
 * Who is told how a task goes on: a run, and those that answer its pauses.  What is told goes into
 * the outbox in the transaction that ends a run: of the task, or another one that takes its pause
 * away.  Where a process died it comes with the next end of a run of the thread.
 */
struct push {
	const char *task; /* run_id of the first run */
	const char *id;   /* of those of a task no other has it */
	const char *url;
	const char *how_json; /* for storage.pushes, and for who delivers it */
	int64_t number;       /* of push_put: that of the task's latest run */
};

struct push_list {
	struct push *items; /* room for limit; their texts are from the arena */
	size_t limit, count;
};

struct webhook;

/* A notification as it is sent; its texts live in an arena. */
struct push_message {
	const char *body, *type;
	const char *token, *authorization; /* values of its headers, or NULL */
};

/* What is told; the first two use no storage, as they are called within its transactions. */
struct push_words {
	/* Whether a run that had the thread after a pause of the task has answered it. */
	bool (*follows)(const char *thread_id, const char *task, const char *run_id);
	/* malloc'd; of a pause that nobody answers any more the record says RUN_STOPPED. */
	char *(*body)(const struct run_record *record, const struct push *push);
	/* What is sent of it; arg is the storage's webhook_arg. */
	void (*deliver)(
	    void *arg, struct arena *a, const struct webhook *item, struct push_message *message);
};

/* Strings are never NULL unless said; times are microseconds since 1970. */
struct run_record {
	int64_t number; /* the engine's own, ascending within the thread; 0: not stored yet */
	const char *run_id;
	enum run_status status; /* never RUN_IDLE */
	int64_t created_at;     /* of one in the background: when it was submitted */
	int64_t finished_at;    /* 0: it goes on, or nobody knows */
	const char *node;       /* as in struct thread */
	int64_t step;
	struct run_usage usage;
	const char *error_json; /* what its client was told when it failed; NULL of RUN_ERROR: it
				   was lost with its process */

	/* Its messages, by their places in the thread's list, the first place excluded; brought
	 * says how many of them it was given.  Places are the engine's. */
	int64_t after, until, brought;

	int64_t job;        /* row of its job; 0: it is not in the background */
	int64_t started_at; /* 0: not yet; in the background alone, of others created_at */

	/* Of the write that makes it: */
	int64_t replaces; /* number of the record that goes, because it has the same id; or 0 */
	int64_t keep;     /* so many of the thread's latest runs are kept; 0: all */
	bool buries;      /* records that say RUN_RUNNING are those of dead processes */
	bool keeps; /* also of that which ends it: its chunks are kept, as those of jobs are */
	const struct push *push; /* is told of its end, or NULL */

	/* Of the write that begins one in the background: */
	const char *answers_json; /* answers that it goes on with, or NULL */

	/* Of the write that ends one in the background: */
	struct run_claim *claims; /* NULL: nothing */

	/* Of one that was read: */
	int64_t thread_row;
	const char *thread_id;
	bool new_thread;           /* it made the thread */
	int64_t attempt;           /* 1 of one that nobody has begun */
	const char *metadata_json; /* "{}" of others than jobs */
	int64_t kept_until;        /* its chunks; RUN_KEPT, RUN_NOT_KEPT, or microseconds */
	struct {
		const char *url; /* NULL: it has none */
		int64_t attempts, last_status;
		int64_t delivered_at; /* 0: not yet, or never */
	} webhook;
};

static inline struct run_key record_key(const struct run_record *record)
{
	return (struct run_key){record->thread_row, record->number};
}

enum { RUN_KEPT = 0, RUN_NOT_KEPT = -1 }; /* kept while it goes on; not, or not any more */

struct record_filter {
	const char *owner;     /* NULL: of every user */
	const char *thread_id; /* NULL: of every thread */
	unsigned statuses;     /* a bit for each, 1 << RUN_ERROR */
};

/* false ends the listing; the record's texts are valid only during the call. */
typedef bool (*record_fn)(void *arg, const struct run_record *record);

struct run_job {
	int64_t row, thread_row, number; /* number: of its record */
	const char *thread_id, *run_id;
	const char *body_json, *caller_json; /* what it was submitted with */
	const char *metadata_json;
	const char *webhook_url; /* or NULL */
	int64_t created_at; /* microseconds; that of a thread that is made with it is the same */
	int64_t due_at;     /* when it may begin */

	/* Of submit: */
	bool fresh_id; /* no record of the thread can have its run_id, which was just made */
	enum lease_order orders; /* stop_queued of the whole thread in the same transaction */
	const struct push *push; /* as in run_record */

	/* Of claim: */
	const char *answers_json;    /* what it began with, or NULL */
	int64_t attempt;             /* from 1 */
	bool given_back;             /* the latest attempt ended so, and not with its process */
	const struct thread *thread; /* as it was then; NULL: nobody has looked */
	uint64_t ended;              /* of leases, by then (lease_ended) */
};

/* How a branch of a run in the background is kept behind the region
 * that is stored with its thread. */
struct arrival {
	int64_t job;
	int64_t region; /* which writing of it; what followed others of the job goes with the first
			   of a new one */
	bool first;
	int64_t step;
	const char *branch_json;
};

typedef bool (*arrival_fn)(void *arg, const struct arrival *arrival);

enum submit_result {
	SUBMIT_DONE,
	SUBMIT_KNOWN,      /* the thread has a run of that id, and nothing was changed */
	SUBMIT_THREAD_GONE /* nor was it here */
};

/* Some of a run's chunks, one after the other. */
struct chunk_batch {
	int64_t thread_row, number; /* of the run */
	int64_t seq, count;         /* of the first, and how many; forgotten ones count */
	const char *lines; /* a line each, without NUL or the byte 4, but for forgotten ones */
	size_t len;
	struct lease *lease; /* of append, or NULL: dropped when it is on disk, before that is told
			      */
	bool mends; /* of append: an end that the run's own process does not write any more; where
		     * there is one after all nothing is added */
};

/* false ends the walk; the lines are valid only during the call. */
typedef bool (*chunk_batch_fn)(void *arg, const struct chunk_batch *batch);

/* Whether a line, which has no newline, is one of those that are looked for. */
typedef bool (*chunk_line_fn)(void *arg, const char *line, size_t len);

/* What the outbox holds for somebody. */
struct webhook {
	int64_t row;
	const char *id; /* the same at each attempt, and of no other one */
	const char *url, *body;
	const char *how_json; /* of a push; NULL: it is the webhook of a run */
	int64_t due_at;       /* microseconds; 0: given up */
	int64_t attempts, last_status;
	int64_t delivered_at; /* 0: not yet */
};

/* A look at what the outbox holds. */
struct webhooks_due {
	int64_t now, per_site; /* so many of a site at most */

	struct webhook *items; /* room for limit; their texts are from the arena */
	size_t limit, count;
	int64_t next_due; /* when the next one is due that is not yet; INT64_MAX: there is none */
};

/* What the process that ends a run takes up next, where it wants to: the job that is ready and due
 * for longest, claimed in the transaction that ends the run. */
struct run_claim {
	struct arena *arena;
	const _Atomic bool *unless; /* true: nothing is to be claimed any more */

	struct run_job job; /* as of claim; row 0: there was nothing, or nothing was ended */
};

struct run_ops {
	/* *record is filled from the arena; false with no error set when there is none. */
	bool (*get)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *thread_id, const char *run_id, struct run_record *record,
	    struct error *err);
	/* Newest first: of one thread in the order in which the runs had it, of several by
	 * created_at.  Takes no longer than what is asked for: fn ends it. */
	bool (*list)(struct storage *st, const struct storage_context *ctx,
	    const struct record_filter *filter, record_fn fn, void *arg, struct error *err);
	/* The messages of a run that are there still, oldest first: those that it was given, or
	 * those that it made. */
	bool (*messages)(struct storage *st, const struct storage_context *ctx,
	    const struct run_record *record, bool made, message_fn fn, void *arg,
	    struct error *err);
	/* Removes the record with what belongs to it; one that is queued, or whose job is not over,
	 * stays. */
	bool (*remove)(struct storage *st, const struct storage_context *ctx,
	    const struct run_record *record, struct error *err);

	/*
	 * The queue.
	 */

	/*
	 * Puts a job into the queue, with its record.  thread->row 0: the thread is made under the
	 * lease, in the same transaction, and has its row then; else lease is NULL, and the thread
	 * may be busy.  job->row, thread_row and number are set.
	 */
	bool (*submit)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, struct thread *thread, struct run_job *job,
	    enum submit_result *result, struct error *err);
	/*
	 * Takes the job that is ready and due for longest, or with a row that one, if its attempt
	 * was lost: recover names those.  *job is filled from the arena.  false with no error set
	 * when there is none; *next_due says then when the next one that is ready will be
	 * (INT64_MAX: there is none).
	 */
	bool (*claim)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    int64_t row, int64_t now, struct run_job *job, int64_t *next_due, struct error *err);
	/* A job that was claimed is executed from now on.  When its process dies before that, there
	 * was no attempt. */
	void (*begins)(struct storage *st, const struct run_job *job);
	/* Undoes the claim, as if the attempt had not been; it is ready again, or if there was
	 * another attempt before, as recover left it.  One that is over stays so. */
	bool (*give_back)(struct storage *st, const struct storage_context *ctx,
	    const struct run_job *job, struct error *err);
	/* Leaves a claimed job as a process that died would leave it: the attempt counts.  *lost is
	 * false of one that is over. */
	bool (*lose)(struct storage *st, const struct storage_context *ctx,
	    const struct run_job *job, bool *lost, struct error *err);
	/* Ends a job whose run does not write: it was refused, or given up.  One that is over stays
	 * as it is. */
	bool (*finish)(struct storage *st, const struct storage_context *ctx, int64_t job_row,
	    enum run_status status, const char *error_json, struct error *err);
	/*
	 * Looks whether who claimed jobs is alive.  What the dead have left can be claimed by its
	 * row, or ends with RUN_ERROR and no error_json when it was its max_attempts'th attempt and
	 * there is no order that is still to be heeded.
	 * rows gets those that can be claimed so, oldest first; *count is the room, then how many
	 * there are in it.
	 */
	bool (*recover)(struct storage *st, const struct storage_context *ctx, int64_t max_attempts,
	    int64_t *rows, size_t *count, struct error *err);
	/*
	 * Ends with RUN_STOPPED what is in the queue of a thread, or only the run of that id:
	 * whatever no process runs at present, so that one that was lost and is to be taken up
	 * again is stopped as well.  *count says how many there were.  More than a few hundred are
	 * stopped in several transactions, the one that would come first last.
	 *
	 * The order is kept with the one that has begun and goes on, for whoever takes it up again
	 * (ordered): its process may die before it heeds what it is told.  With ORDER_ROLLBACK one
	 * that was lost is not ended, as its thread is to be put back first.  ORDER_NONE does
	 * nothing.
	 */
	bool (*stop_queued)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, const char *run_id, enum lease_order order, int64_t *count,
	    struct error *err);
	/* What stop_queued has kept with a job; of one that is gone ORDER_NONE. */
	bool (*ordered)(struct storage *st, const struct storage_context *ctx, int64_t job_row,
	    enum lease_order *order, struct error *err);
	/* Keeps it until the job is over; of one that is over nothing is kept. */
	bool (*arrive)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, const struct arrival *arrival, struct error *err);
	/* All of a region, in the order in which they arrived; false ends the walk. */
	bool (*arrived)(struct storage *st, const struct storage_context *ctx, int64_t job,
	    int64_t region, arrival_fn fn, void *arg, struct error *err);
	/* Whether so many jobs that are due wait; of a thread those count that were claimed, too.
	 * NULL: of all threads. */
	bool (*queued_due)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, int64_t now, int64_t at_least, bool *reached, struct error *err);

	/*
	 * Chunks, of runs whose record says that they are kept.
	 */

	/* All in one transaction.  Of a run that is gone, keeps none, or has lost its thread to
	 * another instance, nothing can be added: ERR_THREAD_BUSY, and an end that mends is left
	 * out. */
	bool (*chunks_append)(struct storage *st, const struct storage_context *ctx,
	    const struct chunk_batch *batches, size_t count, struct error *err);
	/* The batches with chunks behind that seq, in order; the first may begin before it. */
	bool (*chunks_read)(struct storage *st, const struct storage_context *ctx,
	    struct run_key run, int64_t after, chunk_batch_fn fn, void *arg, struct error *err);
	/* The seq of the last one; 0: there is none. */
	bool (*chunks_last)(struct storage *st, const struct storage_context *ctx,
	    struct run_key run, int64_t *seq, struct error *err);
	/* Removes the lines of the thread that a function chooses, of all its runs; it may be asked
	 * again for one, within a transaction, and from any thread.  What is read meanwhile may
	 * still have them. */
	bool (*chunks_forget)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, chunk_line_fn forgets, void *arg, struct error *err);
	/* Removes batches of those whose time is over, and finds out which runs are lost; *count
	 * says how much it did, about as much as most at a time, 0 that there was nothing.  Runs
	 * without batches are RUN_NOT_KEPT then. */
	bool (*chunks_expire)(struct storage *st, const struct storage_context *ctx, int64_t now,
	    int64_t most, int64_t *count, struct error *err);

	/*
	 * The outbox.
	 */

	/* What is due: of each site (url_site of the address) the per_site that are due for
	 * longest, so that a thousand for one hide no others. */
	bool (*webhooks_due)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    struct webhooks_due *due, struct error *err);
	/* How many are neither delivered nor given up. */
	bool (*webhooks_waiting)(struct storage *st, const struct storage_context *ctx,
	    int64_t *count, struct error *err);
	/* Keeps attempts, last_status, due_at and delivered_at. */
	bool (*webhook_settle)(struct storage *st, const struct storage_context *ctx,
	    const struct webhook *item, struct error *err);

	/*
	 * Pushes.
	 */

	/* Adds one to a task whose latest run has that status, or replaces that of its id.  *room
	 * says whether the task had any left, of so many at most. */
	bool (*push_put)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    const struct push *push, enum run_status status, int64_t most, bool *room,
	    struct error *err);
	/* Those of a task by their ids, as many as there is room for. */
	bool (*pushes_read)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    int64_t thread_row, const char *task, struct push_list *list, struct error *err);
	bool (*push_remove)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const char *task, const char *id, struct error *err);
	/* A run ended, and whom that concerns may not know; who does is not told again.  Status
	 * RUN_STOPPED: its pause was taken away without a run; else RUN_IDLE. */
	bool (*pushes_tell)(struct storage *st, const struct storage_context *ctx,
	    struct run_key run, enum run_status status, struct error *err);
};

#endif
