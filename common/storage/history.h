/* SPDX-License-Identifier: ISC */
/*
 * Checkpoints: what a thread was at earlier times, as a storage engine offers them (struct storage
 * has the table).
 *
 * Checkpoints are made by writes of the thread (thread_write.checkpoint).  One is a row beside the
 * messages, which it names by a view, so that going back copies none of them.  Of a thread the
 * latest storage.history_keep can be read; what only older ones show is removed in its own time.
 */
#ifndef AGENTGRAPH_STORAGE_HISTORY_H
#define AGENTGRAPH_STORAGE_HISTORY_H

#include "storage/threads.h"

struct checkpoint {
	int64_t number; /* microseconds since 1970 when it was made, or a little more: ascending
			   within the thread */
	int64_t parent; /* number of the one that the thread came from; 0: there was none */
	enum checkpoint_source source;
	int64_t message_count; /* of the list then */
	/* Its latest run, state and view are those of then, all else is that of now.  What was
	 * removed since is missing in the view. */
	struct thread thread;
};

struct checkpoint_filter {
	int64_t before;     /* a number; 0: all of them */
	const char *run_id; /* those that this run made; NULL: all of them */
	int64_t limit;
};

/* One of the parts that a thread with all its history is made of, beside what its row says. */
struct history_part {
	enum history_part_kind {
		HISTORY_END,    /* there are no more */
		HISTORY_BRANCH, /* from its place on the list follows the other place */
		HISTORY_AGAIN,  /* the message of the other place enters the context again */
		HISTORY_MESSAGE,
		HISTORY_CHECKPOINT,
		HISTORY_RUN
	} kind;
	int64_t place, other;
	const char *message_id, *body_json;
	const struct checkpoint *checkpoint; /* its number, parent, source, message_count, and of
						the thread what checkpoints keep */
	const struct run_record *run;        /* as where it was stored; it gets no job */
};

/* false ends the walk, but not between a branch and the place that it begins with; the texts are
 * valid only during the call. */
typedef bool (*history_part_fn)(void *arg, const struct history_part *part);

/* Where parts come from: places in ascending order, then checkpoints and then runs in that of their
 * numbers. */
struct history_source {
	/* The next one, whose texts are valid until the call after.  Does not block, and may be
	 * called by another thread.  False with err set. */
	bool (*next)(struct history_source *source, struct history_part *part, struct error *err);
	/* The next one is the first one again. */
	bool (*rewind)(struct history_source *source, struct error *err);
};

/* Which checkpoint a thread goes on from. */
struct history_origin {
	int64_t number; /* 0: none */
	bool changed;   /* it is no more what it was there */
};

/* false ends the listing; the texts are valid only during the call. */
typedef bool (*checkpoint_fn)(void *arg, const struct checkpoint *checkpoint);

struct history_ops {
	/* *checkpoint is filled from the arena, with what thread, which was read before, is now;
	 * false with no error set when there is none. */
	bool (*get)(struct storage *st, const struct storage_context *ctx, struct arena *a,
	    const struct thread *thread, int64_t number, struct checkpoint *checkpoint,
	    struct error *err);
	/* Newest first, without what can be large: next is there, but pause_json, waiting_json and
	 * summary are NULL, and fields_json is "{}". */
	bool (*list)(struct storage *st, const struct storage_context *ctx,
	    const struct thread *thread, const struct checkpoint_filter *filter, checkpoint_fn fn,
	    void *arg, struct error *err);
	/*
	 * A new thread with the messages and the context that from's view shows, in one
	 * transaction; to has all the rest, and gets its row.  Its first checkpoint is
	 * CHECKPOINT_COPY.  ERR_THREAD_TOO_LARGE as for any write; ERR_STORAGE when from is gone.
	 */
	bool (*copy)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, const struct thread *from, struct thread *to,
	    struct error *err);

	/* All that a thread has in places from the one behind after up to until, whatever shows it:
	 * branches, messages, and those that entered the context again. */
	bool (*places)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    int64_t after, int64_t until, history_part_fn fn, void *arg, struct error *err);
	/* All-zero when the thread is gone. */
	bool (*origin)(struct storage *st, const struct storage_context *ctx, int64_t thread_row,
	    struct history_origin *origin, struct error *err);
	/*
	 * A new thread of parts, in one transaction: with its view, in which nothing is above last,
	 * and what parts there are.  thread gets its row.  ERR_INVALID_INPUT when a list would have
	 * two messages of one id, ERR_THREAD_TOO_LARGE, and what the source says.
	 */
	bool (*make)(struct storage *st, const struct storage_context *ctx,
	    const struct lease *lease, struct thread *thread, const struct history_origin *origin,
	    struct history_source *source, struct error *err);
};

#endif
