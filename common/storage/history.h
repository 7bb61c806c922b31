/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints: the earlier states of a thread, as a storage engine offers them (struct storage has
 * the table).
 *
 * Writes of the thread make them (thread_write.checkpoint).  A checkpoint does not copy messages;
 * it names them by a view, so going back copies none either.  The latest storage.history_keep
 * checkpoints of a thread can be read; older ones, and messages that only they show, are removed in
 * their own time.
 */
#ifndef AGENTGRAPH_STORAGE_HISTORY_H
#define AGENTGRAPH_STORAGE_HISTORY_H

#include "storage/threads.h"

struct checkpoint {
	int64_t number; /* microseconds since 1970 when it was made, or a little more: ascending
			   within the thread */
	int64_t parent; /* number of the checkpoint that the thread came from; 0: there was none */
	enum checkpoint_source source;
	int64_t message_count; /* in the list at that time */
	/* Latest run, state and view are those of that time; all else is as it is now.  Messages
	 * that were removed since are missing from the view. */
	struct thread thread;
};

struct checkpoint_filter {
	int64_t before;     /* only those with a lower number; 0: all of them */
	const char *run_id; /* only those that this run made; NULL: all of them */
	int64_t limit;
};

/* A thread with all its history is made of its row and a sequence of parts; this is one of them. */
struct history_part {
	enum history_part_kind {
		HISTORY_END,    /* there are no more */
		HISTORY_BRANCH, /* a branch begins at place; before that, its list is what it was up
				   to other */
		HISTORY_AGAIN,  /* at place, the message of place other enters the context again */
		HISTORY_MESSAGE,
		HISTORY_CHECKPOINT,
		HISTORY_RUN
	} kind;
	int64_t place, other;
	const char *message_id, *body_json;
	const struct checkpoint *checkpoint; /* with all that a checkpoint keeps of the thread */
	const struct run_record *run;        /* as it was stored elsewhere; it gets no job */
};

/* Returns false to end the walk, which still hands out the place that a branch begins with; the
 * texts are valid only during the call. */
typedef bool (*history_part_fn)(void *arg, const struct history_part *part);

/* Where parts come from.  Places come in ascending order, then checkpoints, then runs, both in the
 * order of their numbers. */
struct history_source {
	/* Gives the next part, whose texts are valid until the next call.  Must not block, and may
	 * be called by another thread.  False with err set. */
	bool (*next)(struct history_source *source, struct history_part *part, struct error *err);
	/* Begins again with the first part. */
	bool (*rewind)(struct history_source *source, struct error *err);
};

/* Which checkpoint a thread goes on from. */
struct history_origin {
	int64_t number; /* 0: it came from none */
	bool changed;   /* it has changed since */
};

/* Returns false to end the listing; the texts are valid only during the call. */
typedef bool (*checkpoint_fn)(void *arg, const struct checkpoint *checkpoint);

struct history_ops {
	/* Reads a checkpoint of thread, which was read before and supplies what checkpoints do not
	 * keep.  The texts are in the arena.  False with no error set when there is none. */
	bool (*get)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const struct thread *thread, int64_t number, struct checkpoint *checkpoint,
	    struct error *err);
	/* Lists checkpoints, newest first, without what can be large: pause_json, waiting_json and
	 * summary are NULL, and fields_json is "{}"; but next is there. */
	bool (*list)(struct storage *st, const struct storage_context *ctx,
	    const struct thread *thread, const struct checkpoint_filter *filter, checkpoint_fn fn,
	    void *arg, struct error *err);
	/*
	 * Makes a new thread, in one transaction, with the list and the context that from's view
	 * shows; to says all the rest, and gets its row.  Its first checkpoint is a
	 * CHECKPOINT_COPY.  ERR_THREAD_TOO_LARGE as for any write; ERR_STORAGE when from is gone.
	 */
	bool (*copy)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, const struct thread *from, struct thread *to,
	    struct error *err);

	/* Hands out all that a thread has at places above after, up to until, even what it does not
	 * show any more: branches, messages, and messages that entered the context again. */
	bool (*places)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    int64_t after, int64_t until, history_part_fn fn, void *arg, struct error *err);
	/* Reads where the thread comes from; all-zero when it is gone. */
	bool (*origin)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    struct history_origin *origin, struct error *err);
	/*
	 * Makes a new thread from the parts of a source, in one transaction.  thread says the rest,
	 * with a view whose last is not below any place, and gets its row.  Fails with
	 * ERR_INVALID_INPUT when a list would have two messages of one id, with
	 * ERR_THREAD_TOO_LARGE, and as the source does.
	 */
	bool (*make)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, struct thread *thread, const struct history_origin *origin,
	    struct history_source *source, struct error *err);
};

#endif
