/* SPDX-License-Identifier: ISC */
/*
 * Records of runs (doc/protocol-runs.md#run-records), the queue of background runs, kept chunks and
 * the outbox of webhooks, as a storage engine offers them (struct storage has the table).
 *
 * A run writes its own record together with its thread: thread_write.run of its first write makes
 * the record, that of its last write ends it, and where both go in one transaction it is written
 * once.  In between, only the thread says how far the run is.  A record that says RUN_RUNNING was
 * left by a process that died, unless the lease says that a run has the thread.
 *
 * A background run has a job from its submission on, and a record, which says RUN_QUEUED until the
 * run begins.  Whoever claims the job executes the run, and writes as any run does, with
 * record.job, .number and .created_at set.  The first write of RUN_RUNNING begins the run and
 * stores .answers_json and .started_at.  A later write of RUN_RUNNING changes what the record says,
 * but not where its messages begin.  A write with any other status ends the run, and in the same
 * transaction ends its job, puts its webhook into the outbox, makes the thread's next job ready
 * and, on request, claims the next job of any thread.  All these writes fail like those of a lost
 * lease (ERR_THREAD_BUSY) when the job is no longer this process's: it was stopped, or its thread
 * is gone.
 *
 * A thread's jobs run one after the other, in the order in which they become due.  A claim belongs
 * to a process; when the process dies, recover finds its jobs.
 */
#ifndef AGENTGRAPH_STORAGE_RUNS_H
#define AGENTGRAPH_STORAGE_RUNS_H

#include "storage/threads.h"

/* Tokens that the models report for a run, summed up. */
struct run_usage {
	int64_t prompt, completion, reasoning, total;
};

struct run_claim;

/* Names a run's record: the row of its thread, and its number in the thread. */
struct run_key {
	int64_t thread, number;
};

/*
 * A subscription to a task, which is a run and those that answer its pauses.  Each notification
 * goes into the outbox in the transaction that ends a run: one of the task, or another one after
 * which nobody can answer the task's pause any more.  Where a process died before that, the next
 * end of a run of the thread makes up for it.
 */
struct push {
	const char *task; /* run_id of the first run */
	const char *id;   /* unique among the pushes of the task */
	const char *url;
	/* how it is notified; only the functions of storage.pushes read this */
	const char *how_json;
	int64_t number; /* for push_put: number of the task's latest run */
};

struct push_list {
	struct push *items; /* room for limit; their texts are from the arena */
	size_t limit, count;
};

struct webhook;

/* A notification, ready to be sent; its texts live in an arena. */
struct push_message {
	const char *body, *type;
	const char *token, *authorization; /* values of its headers, or NULL */
};

/* What notifications say; set by the service.  An engine calls the first two within its
 * transactions, so they must not use the storage. */
struct push_words {
	/* Whether a run that had the thread after a pause of the task has answered it. */
	bool (*follows)(const char *thread_id, const char *task, const char *run_id);
	/* What is put into the outbox for a run that has ended, malloc'd.  For a pause that nobody
	 * can answer any more the record says RUN_STOPPED. */
	char *(*body)(const struct run_record *record, const struct push *push);
	/* Fills *message with what is sent for an item of the outbox; arg is the storage's
	 * webhook_arg. */
	void (*deliver)(
	    void *arg, struct arena *a, const struct webhook *item, struct push_message *message);
};

/* Which messages of a run are meant: those that it was given, or those that it made. */
enum run_share { RUN_GIVEN, RUN_MADE };

/* Strings are never NULL unless said; times are microseconds since 1970. */
struct run_record {
	int64_t number; /* the engine's own, ascending within the thread; 0: not stored yet */
	const char *run_id;
	enum run_status status; /* never RUN_IDLE */
	int64_t created_at;     /* for a background run: when it was submitted */
	int64_t finished_at;    /* 0: the run goes on, or nobody knows */
	const char *node;       /* as in struct thread */
	int64_t step;
	struct run_usage usage;
	const char *error_json; /* what its client was told when it failed; NULL with RUN_ERROR: it
				   was lost with its process */

	/* Its messages are those at places above after, up to until (struct thread_view).  It was
	 * given the first brought of them, and made the others. */
	int64_t after, until, brought;

	int64_t job;        /* row of its job; 0: not a background run */
	int64_t started_at; /* when a background run began, 0: not yet; for other runs created_at */

	/* Only in the write that makes the record: */
	int64_t replaces; /* number of an older record with the same id, which is removed; or 0 */
	int64_t keep;     /* how many of the thread's latest records are kept; 0: all */
	bool buries; /* records of the thread that say RUN_RUNNING belong to dead processes and are
			ended */
	bool keeps;  /* its chunks are kept, as those of jobs always are; set in the write that ends
			it, too */
	const struct push *push; /* who is told of its end, or NULL */

	/* Only in the write that begins a background run: */
	const char *answers_json; /* the answers to a pause that it goes on with, or NULL */

	/* Only in the write that ends a background run: */
	struct run_claim *claims; /* where to put a next job, claimed along; NULL: none is wanted */

	/* Only in a record that was read: */
	int64_t thread_row;
	const char *thread_id;
	bool new_thread;           /* the run made the thread */
	int64_t attempt;           /* from 1; 1 also while nobody has begun it */
	const char *metadata_json; /* "{}" where there is no job */
	int64_t kept_until;        /* until when its chunks are kept, in microseconds; or RUN_KEPT,
				      RUN_NOT_KEPT */
	struct {
		const char *url; /* NULL: the run has no webhook */
		int64_t attempts, last_status;
		int64_t delivered_at; /* 0: not yet, or never */
	} webhook;
};

static inline struct run_key record_key(const struct run_record *record)
{
	return (struct run_key){record->thread_row, record->number};
}

/* Chunks are kept as long as the run goes on; they are not kept, or no longer. */
enum { RUN_KEPT = 0, RUN_NOT_KEPT = -1 };

struct record_filter {
	const char *owner;     /* NULL: every user's */
	const char *thread_id; /* NULL: every thread's */
	unsigned statuses;     /* one bit for each that is wanted, such as 1 << RUN_ERROR */
};

/* Returns false to end the listing; the record's texts are valid only during the call. */
typedef bool (*record_fn)(void *arg, const struct run_record *record);

struct run_job {
	int64_t row, thread_row, number; /* number: its record's */
	const char *thread_id, *run_id;
	const char *body_json, *caller_json; /* what it was submitted with */
	const char *metadata_json;
	const char *webhook_url; /* or NULL */
	int64_t created_at;      /* microseconds; also that of a thread that is made with the job */
	int64_t due_at;          /* when it may begin */

	/* For submit: */
	bool fresh_id;           /* run_id was just made, so no record of the thread can have it */
	enum lease_order orders; /* does stop_queued of the whole thread with this order first, in
				    the same transaction */
	const struct push *push; /* as in struct run_record */

	/* Set by claim: */
	const char *answers_json; /* the answers that an earlier attempt began with, or NULL */
	int64_t attempt;          /* from 1 */
	bool given_back;          /* the latest attempt was given back; its process did not die */
	/* its thread at the time of the claim; NULL: it was not read */
	const struct thread *thread;
	uint64_t ended; /* what lease_ended said of the thread before that */
};

/* A branch of a background run that has come to its end.  The parallel region that it is in was
 * stored with the thread before; each branch that arrives is stored beside it. */
struct arrival {
	int64_t job;
	int64_t region; /* says which stored state of the region this belongs to */
	bool first; /* the first of its region: arrivals of the job's earlier regions are removed */
	int64_t step; /* of the run, at that time */
	const char *branch_json;
};

typedef bool (*arrival_fn)(void *arg, const struct arrival *arrival);

enum submit_result {
	SUBMIT_DONE,
	SUBMIT_KNOWN,      /* the thread has a run of that id, and nothing was changed */
	SUBMIT_THREAD_GONE /* the thread is gone, and nothing was changed */
};

/* A batch of a run's chunks, which follow each other. */
struct chunk_batch {
	int64_t thread_row, number; /* of the run */
	int64_t seq, count; /* seq of the first chunk, and how many there are, with those that were
			       forgotten since */
	/* one line for each chunk that was not forgotten, without NUL or the byte 4 */
	const char *lines;
	size_t len;
	struct lease *lease; /* for append, or NULL: a lease that is dropped once the batch is on
				disk, before anybody is told of it */
	bool mends; /* for append: writes the end of a run whose own process did not; nothing is
		       added where there is an end after all */
};

/* Returns false to end the walk; the lines are valid only during the call. */
typedef bool (*chunk_batch_fn)(void *arg, const struct chunk_batch *batch);

/* Whether this line, which comes without its newline, is one of those to be removed. */
typedef bool (*chunk_line_fn)(void *arg, const char *line, size_t len);

/* An item of the outbox: a webhook or a push that is to be sent. */
struct webhook {
	int64_t row;
	const char *id; /* unique, and the same at each attempt */
	const char *url, *body;
	const char *how_json; /* of a push, as in struct push; NULL: it is a run's webhook */
	int64_t due_at;       /* microseconds; 0: given up */
	int64_t attempts, last_status;
	int64_t delivered_at; /* 0: not yet */
};

/* A request for the items of the outbox that are due, and its result. */
struct webhooks_due {
	int64_t now, per_site; /* the time now, and the most items of one site */

	struct webhook *items; /* room for limit; their texts are from the arena */
	size_t limit, count;
	int64_t next_due; /* when the first of the items that are not due yet will be; INT64_MAX:
			     there are none */
};

/* A wish of the process that ends a run: in the same transaction it claims the job that is ready
 * and has been due for longest. */
struct run_claim {
	struct arena *arena;
	const _Atomic bool *unless; /* true: nothing is to be claimed after all */

	struct run_job job; /* as claim fills it; row 0: there was nothing to claim, or the run was
			       not ended */
};

struct run_ops {
	/* Reads a record; its texts are in the arena.  False with no error set when there is
	 * none. */
	bool (*get)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const char *thread_id, const char *run_id, struct run_record *record,
	    struct error *err);
	/* Lists records, newest first: those of one thread in the order in which the runs had the
	 * thread, those of several by created_at.  fn ends the listing, which costs no more than
	 * what it handed out. */
	bool (*list)(struct storage *st, const struct storage_context *ctx,
	    const struct record_filter *filter, record_fn fn, void *arg, struct error *err);
	/* Hands out those messages of a run that still exist, oldest first. */
	bool (*messages)(struct storage *st, const struct storage_context *ctx,
	    const struct run_record *record, enum run_share which, message_fn fn, void *arg,
	    struct error *err);
	/* Removes the record with all that belongs to it, unless its run is queued or its job is
	 * not over. */
	bool (*remove)(struct storage *st, const struct storage_context *ctx,
	    const struct run_record *record, struct error *err);

	/*
	 * The queue.
	 */

	/*
	 * Puts a job into the queue, and makes its record.  Where thread->row is 0, the thread is
	 * made under the lease in the same transaction, and its row is set; else lease is NULL, and
	 * the thread may be busy.  Sets job->row, thread_row and number.
	 */
	bool (*submit)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, struct thread *thread, struct run_job *job,
	    enum submit_result *result, struct error *err);
	/*
	 * Claims the job that is ready and has been due for longest; with a row, that job, if its
	 * latest attempt was lost (recover names those).  The texts of *job are in the arena.
	 * False with no error set when there is none; *next_due then says when the next ready job
	 * will be due (INT64_MAX: there is none).
	 */
	bool (*claim)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    int64_t row, int64_t now, struct run_job *job, int64_t *next_due, struct error *err);
	/* Says that a claimed job is executed from now on.  If its process dies before that, it
	 * does not count as an attempt. */
	void (*begins)(struct storage *st, const struct run_job *job);
	/* Undoes the claim; the attempt does not count.  The job is ready again or, where an
	 * earlier attempt had begun, lost as recover left it.  Does nothing to a job that is
	 * over. */
	bool (*give_back)(struct storage *st, const struct storage_context *ctx,
	    const struct run_job *job, struct error *err);
	/* Leaves a claimed job as recover finds it after its process died: the attempt counts.
	 * *lost is false when the job is over. */
	bool (*lose)(struct storage *st, const struct storage_context *ctx,
	    const struct run_job *job, bool *lost, struct error *err);
	/* Ends a job whose run does not write its own end, because it was refused or given up.
	 * Does nothing to a job that is over. */
	bool (*finish)(struct storage *st, const struct storage_context *ctx, int64_t job_row,
	    enum run_status status, const char *error_json, struct error *err);
	/*
	 * Looks for jobs whose claimer has died.  Such a job can then be claimed by its row; but
	 * after its max_attempts'th attempt it ends with RUN_ERROR and no error_json, unless an
	 * order for it has still to be heeded.  rows gets the jobs that can be claimed so, oldest
	 * first; *count is the room in it, then their number.
	 */
	bool (*recover)(struct storage *st, const struct storage_context *ctx, int64_t max_attempts,
	    int64_t *rows, size_t *count, struct error *err);
	/*
	 * Ends with RUN_STOPPED the thread's jobs (with run_id only that one) that no process
	 * executes at present, a lost one included.  More than a few hundred are stopped in several
	 * transactions, the one that would run first last.
	 *
	 * A job that is being executed keeps the order for whoever takes it up again (ordered),
	 * because its process may die before it heeds the order.  With ORDER_ROLLBACK a lost job is
	 * not ended, since its thread has to be put back first.  ORDER_NONE does nothing.
	 */
	bool (*stop_queued)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, const char *run_id, enum lease_order order, struct error *err);
	/* Reads the order that stop_queued has kept with a job; ORDER_NONE when the job is gone. */
	bool (*ordered)(struct storage *st, const struct storage_context *ctx, int64_t job_row,
	    enum lease_order *order, struct error *err);
	/* Stores an arrival until its job is over; does nothing when it is over already. */
	bool (*arrive)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, const struct arrival *arrival, struct error *err);
	/* Hands out all arrivals of a region, in the order in which they came. */
	bool (*arrived)(struct storage *st, const struct storage_context *ctx, int64_t job,
	    int64_t region, arrival_fn fn, void *arg, struct error *err);
	/* Whether at_least jobs wait that are due by now, in all threads or, where thread_id is not
	 * NULL, in this one, whose claimed jobs count as well. */
	bool (*queued_due)(struct storage *st, const struct storage_context *ctx,
	    const char *thread_id, int64_t now, int64_t at_least, bool *reached, struct error *err);

	/*
	 * Chunks of runs whose record says that they are kept.
	 */

	/* Adds all batches in one transaction.  A run that is gone, keeps no chunks, or has lost
	 * its thread to another instance can add nothing: then this fails with ERR_THREAD_BUSY, but
	 * a batch that mends is left out silently. */
	bool (*chunks_append)(struct storage *st, const struct storage_context *ctx,
	    const struct chunk_batch *batches, size_t count, struct error *err);
	/* Hands out, in order, the batches that have chunks behind the seq after; the first one may
	 * begin before it. */
	bool (*chunks_read)(struct storage *st, const struct storage_context *ctx,
	    struct run_key run, int64_t after, chunk_batch_fn fn, void *arg, struct error *err);
	/* Reads the seq of the run's last chunk; 0: there is none. */
	bool (*chunks_last)(struct storage *st, const struct storage_context *ctx,
	    struct run_key run, int64_t *seq, struct error *err);
	/* Removes from the chunks of all the thread's runs those lines that forgets chooses.  It
	 * may be asked twice about a line, within a transaction, and from any thread.  Who reads
	 * meanwhile may still see them. */
	bool (*chunks_forget)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, chunk_line_fn forgets, void *arg, struct error *err);
	/* Removes batches of runs whose chunks have been kept long enough, and starts that time for
	 * runs whose process has died.  Removes about most batches in a call; *count says how much
	 * was done, 0 when nothing was left.  A run without batches is then RUN_NOT_KEPT. */
	bool (*chunks_expire)(struct storage *st, const struct storage_context *ctx, int64_t now,
	    int64_t most, int64_t *count, struct error *err);

	/*
	 * The outbox.
	 */

	/* Reads the items that are due: of each site (url_site of the address) the per_site
	 * items that have been due for longest, so that a thousand for one site do not hide the
	 * others. */
	bool (*webhooks_due)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    struct webhooks_due *due, struct error *err);
	/* Counts the items that are neither delivered nor given up. */
	bool (*webhooks_waiting)(struct storage *st, const struct storage_context *ctx,
	    int64_t *count, struct error *err);
	/* Stores an item's attempts, last_status, due_at and delivered_at after an attempt. */
	bool (*webhook_settle)(struct storage *st, const struct storage_context *ctx,
	    const struct webhook *item, struct error *err);

	/*
	 * Pushes.
	 */

	/* Adds a push to a task, whose latest run has this status, or replaces the one with the
	 * same id.  *room is false when the task has its most pushes already, and nothing was
	 * added. */
	bool (*push_put)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    const struct push *push, enum run_status status, int64_t most, bool *room,
	    struct error *err);
	/* Reads the pushes of a task in the order of their ids, as many as list has room for. */
	bool (*pushes_read)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    int64_t thread_row, const char *task, struct push_list *list, struct error *err);
	bool (*push_remove)(struct storage *st, const struct storage_context *ctx,
	    int64_t thread_row, const char *task, const char *id, struct error *err);
	/* Notifies the pushes of a run's task that the run has ended, but for those that were told
	 * already.  status is RUN_STOPPED when the run's pause was taken away without another run;
	 * else RUN_IDLE. */
	bool (*pushes_tell)(struct storage *st, const struct storage_context *ctx,
	    struct run_key run, enum run_status status, struct error *err);
};

#endif
