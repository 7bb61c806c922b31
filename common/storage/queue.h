/* SPDX-License-Identifier: ISC */
/*
 * What the processes of an instance tell each other about runs in the background, in the region
 * SHARED_RUNS: that the queue has moved, or the outbox, about how many wait in the queue, and that
 * chunks of a run have moved.
 *
 * An engine calls what moves after its commits; nothing here is more than a hint.  A process that
 * dies between commit and hint has told nobody, so who waits looks again now and then.
 */
#ifndef AGENTGRAPH_STORAGE_QUEUE_H
#define AGENTGRAPH_STORAGE_QUEUE_H

#include "base/os/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* Words that count up, for whoever sleeps until they do. */
enum bell {
	BELL_QUEUE,     /* something can be claimed now */
	BELL_OUTBOX,    /* the outbox of webhooks has more, or there is room to send some */
	BELL_CHUNKS,    /* chunks of some run have moved */
	BELL_LISTENERS, /* somebody begins to wait for chunks */
	BELLS
};

void bell_ring(struct shared *shared, enum bell which);
/* What bell_wait compares: read it, look at what it is about, then wait. */
uint32_t bell_word(struct shared *shared, enum bell which);
/* Sleeps until the word is not seen any more, at most timeout_ms (negative: for ever).  May return
 * early. */
void bell_wait(struct shared *shared, enum bell which, uint32_t seen, int64_t timeout_ms);
/* Whether anybody sleeps there. */
bool bell_is_awaited(struct shared *shared, enum bell which);

/* A gauge of the jobs that nobody has claimed, delayed ones too. */
int64_t queue_waiting(struct shared *shared);
void queue_waiting_add(struct shared *shared, int64_t jobs);
/* True once in the life of the instance: the caller is to add what an earlier one has left. */
bool queue_waiting_unknown(struct shared *shared);

/* Jobs that the process of that number has claimed and not begun: what it leaves of them when it
 * dies was no attempt.  There is room for some hundred; others count as begun. */
void queue_claimed(struct shared *shared, int64_t row, int64_t claimer);
void queue_begun(struct shared *shared, int64_t row);
bool queue_is_unbegun(struct shared *shared, int64_t row, int64_t claimer);

/* A run's chunks: there are more of them, or it has ended.  Runs share counters, so one that moved
 * says no more than that it is worth a look. */
void chunks_moved(struct shared *shared, int64_t thread_row, int64_t number);
/* The same of every run. */
void chunks_moved_all(struct shared *shared);
uint32_t chunks_count(struct shared *shared, int64_t thread_row, int64_t number);
/* Waits at BELL_CHUNKS, and rings BELL_LISTENERS first: chunks of other instances are looked for
 * only while somebody waits. */
void chunks_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms);

#endif
