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
};

#endif
