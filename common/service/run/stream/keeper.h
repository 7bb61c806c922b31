/* SPDX-License-Identifier: ISC */
/*
 * Keeping the chunks of runs (doc/inside.md#resumable-streams).
 *
 * A keeper is the sink of one run, behind its gate: it numbers the chunks (metadata.seq) and
 * collects them.  One thread of the process puts on disk what all keepers have collected, in one
 * transaction, and tells those who follow the runs.  While chunks come quickly it does so every few
 * milliseconds, less often where nobody follows, but at once where a run has to wait for it.  Only
 * when a chunk is on disk a thread of its keeper hands it on to the client that waits for the run;
 * a slow client holds up nobody and reads from the disk what it has missed.
 *
 * If chunks cannot be stored for the moment, that is tried again for half a minute, and a run that
 * says more waits.  A run without a record keeps nothing.  Where chunks cannot be stored at all,
 * the run keeps nothing from there on, and its client is told the rest without numbers.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_KEEPER_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_KEEPER_H

#include "service/run/run_input.h"
#include "service/run/runs.h"
#include "service/run/stream/kept_line.h"

struct chunk_keeper;
struct chunk_keepers;

/* All keepers of a process; their thread starts with the first one.  shared (storage/queue.h) shows
 * whether anybody follows a run; NULL: somebody may. */
struct chunk_keepers *chunk_keepers_new(struct storage *storage, struct shared *shared);
/* Puts what was collected on disk at once, because somebody waits for a thread whose lease is
 * dropped with it. */
void chunk_keepers_hurry(struct chunk_keepers *all);
/* All keepers must have ended; waits until their chunks are on disk.  NULL is fine. */
void chunk_keepers_free(struct chunk_keepers *all);

/* What differs from run to run.  All that this points to, except run_id, must outlive the
 * keeper. */
struct chunk_keeper_setup {
	struct chunk_sink *live;      /* the client that waits for the run, or NULL */
	enum granularity granularity; /* the client's */
	/* the words in which the client is told; NULL: it gets chunks */
	const struct kept_words *words;
	unsigned modes;                 /* the modes of those words */
	const char *thread_id, *run_id; /* for those words, and for the log */
	const char *request_id;         /* for the log */
};

/* NULL with err set when the thread cannot be started. */
struct chunk_keeper *chunk_keeper_new(
    struct chunk_keepers *all, const struct chunk_keeper_setup *setup, struct error *err);

/* The sink that the run writes to, chunks with the marks of kept_line.h.  A write waits while the
 * keeper holds as much as it may. */
struct chunk_sink *chunk_keeper_sink(struct chunk_keeper *keeper);

/* Tells that the run's record is on disk under this key, with chunks up to seq.  May be called by
 * any thread; a second call changes nothing. */
void chunk_keeper_begin(struct chunk_keeper *keeper, struct run_key run, int64_t seq);

/* Waits until all chunks so far are on disk or given up.  NULL is fine. */
void chunk_keeper_flush(struct chunk_keeper *keeper);

/*
 * Takes over the lease of the run's thread.  It is dropped as soon as the next chunk, the
 * terminator, is on disk or given up, and before anybody is told of that.  So nobody can delete
 * what is not stored yet, whoever reads the terminator finds the thread free, and if the thread is
 * free but the run has no terminator, its process has died.
 */
void chunk_keeper_take_lease(struct chunk_keeper *keeper, struct lease *lease);

/* Ends a keeper; nothing more comes.  With a client, waits until everything is on disk and handed
 * on; else the keeper frees itself when everything is on disk.  NULL is fine. */
void chunk_keeper_end(struct chunk_keeper *keeper);

#endif
