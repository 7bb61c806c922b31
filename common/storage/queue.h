/* SPDX-License-Identifier: ISC */
/*
 * What the processes of an instance tell each other about background runs, in the shared region
 * SHARED_RUNS: that the queue, the outbox or the chunks of a run have moved, and about how many
 * jobs wait in the queue.
 *
 * An engine tells of a move after its commit.  These are mere hints: a process that dies between
 * commit and hint has told nobody, so whoever waits must also look again now and then.
 */
#ifndef AGENTGRAPH_STORAGE_QUEUE_H
#define AGENTGRAPH_STORAGE_QUEUE_H

#include "base/os/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* What a process can sleep on: each bell is a word that counts up when it rings. */
enum bell {
	BELL_QUEUE,     /* something can be claimed now */
	BELL_OUTBOX,    /* the outbox of webhooks has more, or there is room to send some */
	BELL_CHUNKS,    /* chunks of some run have moved */
	BELL_LISTENERS, /* somebody has begun to wait for chunks */
	BELLS
};

void bell_ring(struct shared *shared, enum bell which);
/* The count of a bell: read it, look whether there is something to do, then wait with it. */
uint32_t bell_word(struct shared *shared, enum bell which);
/* Sleeps while the bell's count is seen, at most timeout_ms (negative: for ever).  May return
 * early. */
void bell_wait(struct shared *shared, enum bell which, uint32_t seen, int64_t timeout_ms);
/* Whether anybody sleeps on this bell. */
bool bell_is_awaited(struct shared *shared, enum bell which);

/* About how many jobs nobody has claimed, delayed ones included; and a change of that. */
int64_t queue_waiting(struct shared *shared);
void queue_waiting_add(struct shared *shared, int64_t jobs);
/* True once in the life of an instance: the caller must then add the jobs that an earlier instance
 * left in the queue. */
bool queue_waiting_unknown(struct shared *shared);

/* Remembers jobs that a process, named by its number, has claimed and not begun: if it dies, they
 * do not count as attempted.  There is room for about a hundred; any other job counts as begun. */
void queue_claimed(struct shared *shared, int64_t row, int64_t claimer);
void queue_begun(struct shared *shared, int64_t row);
bool queue_is_unbegun(struct shared *shared, int64_t row, int64_t claimer);

/* Tells that a run has more chunks, or has ended.  Several runs share a counter, so a changed count
 * only means that it is worth a look. */
void chunks_moved(struct shared *shared, int64_t thread_row, int64_t number);
/* The same for all runs. */
void chunks_moved_all(struct shared *shared);
uint32_t chunks_count(struct shared *shared, int64_t thread_row, int64_t number);
/* Waits for BELL_CHUNKS.  Rings BELL_LISTENERS first, because chunks that other instances store are
 * looked for only while somebody waits. */
void chunks_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms);

#endif
