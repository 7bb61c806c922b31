/* SPDX-License-Identifier: ISC */
/*
 * Keeping the chunks of runs (doc/inside.md#kept-chunks).
 *
 * A keeper is the sink of one run, behind its gate: it numbers the chunks (metadata.seq) and
 * collects them.  One thread of the process puts on disk what all keepers have gathered, in one
 * transaction, and tells who follows the runs; while chunks come quickly, every few milliseconds,
 * some more where nobody follows, and at once where a run is held up.  Only then is a chunk handed
 * on to the client that waits for the run, by a thread of the keeper's own: a client that is slow
 * holds up nobody and reads from the disk what it has missed.
 *
 * What cannot be stored for the moment is tried again for half a minute, while the run waits with
 * what it says then.  A run without a record keeps nothing, and neither does one whose chunks
 * cannot be stored, from there on: its client is told the rest without numbers.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_STREAM_KEEPER_H
#define AGENTGRAPH_SERVICE_RUN_STREAM_KEEPER_H

#include "service/run/run_input.h"
#include "service/run/runs.h"
#include "service/run/stream/kept_line.h"

struct chunk_keeper;
struct chunk_keepers;

/* Those of a process; the thread begins with the first keeper.  Whether anybody follows a run is
 * seen in shared (storage/queue.h); NULL: somebody may elsewhere. */
struct chunk_keepers *chunk_keepers_new(struct storage *storage, struct shared *shared);
/* What has gathered goes to the disk at once: somebody wants a thread whose lease goes with it. */
void chunk_keepers_hurry(struct chunk_keepers *all);
/* Waits until what has ended is on disk; no other is left.  NULL is fine. */
void chunk_keepers_free(struct chunk_keepers *all);

/* What is different from run to run; but for run_id all of it outlives the keeper. */
struct chunk_keeper_setup {
	struct chunk_sink *live;        /* who waits for the run, or NULL */
	enum granularity granularity;   /* theirs */
	const struct kept_words *words; /* and, where they do not see chunks, its words */
	unsigned modes;                 /* of those */
	const char *thread_id, *run_id; /* for them, and for the log */
	const char *request_id;         /* for the log */
};

/* NULL with err set when there can be no thread. */
struct chunk_keeper *chunk_keeper_new(
    struct chunk_keepers *all, const struct chunk_keeper_setup *setup, struct error *err);

/* What the run writes to, chunks with the marks of kept_line.h.  It waits where more has gathered
 * than a keeper may hold. */
struct chunk_sink *chunk_keeper_sink(struct chunk_keeper *keeper);

/* The run's record is on disk, under that key, and has chunks up to seq already.
 * From any thread; again changes nothing. */
void chunk_keeper_begin(struct chunk_keeper *keeper, struct run_key run, int64_t seq);

/* Waits until everything so far is on disk, or was given up.  NULL is fine. */
void chunk_keeper_flush(struct chunk_keeper *keeper);

/* Takes over the lease of the run's thread: drops it as soon as the chunk that comes next, its
 * terminator, is on disk or was given up, and before anybody is told of that.  So nobody can delete
 * what is not there yet, who reads the terminator finds the thread free, and where the thread is
 * free of a run that has none, its process has died. */
void chunk_keeper_take_lease(struct chunk_keeper *keeper, struct lease *lease);

/* Nothing more comes, and the keeper is gone: where there is a client, when everything is on disk
 * and handed on, which this waits for; else as soon as it is on disk.  NULL is fine. */
void chunk_keeper_end(struct chunk_keeper *keeper);

#endif
