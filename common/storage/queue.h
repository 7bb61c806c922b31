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

/* The queue: something can be claimed now. */
void queue_wake(struct shared *shared);
/* What queue_wait compares: read it, look at the queue, then wait. */
uint32_t queue_word(struct shared *shared);
/* Sleeps until the word is not seen any more, at most timeout_ms (negative: for ever).  May return
 * early. */
void queue_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms);

/* The same three of the outbox of webhooks: it has more, or there is room to send some. */
void outbox_wake(struct shared *shared);
uint32_t outbox_word(struct shared *shared);
void outbox_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms);

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
/* One word for all runs, and waiting for it as above. */
uint32_t chunks_word(struct shared *shared);
/* Whether anybody waits for that. */
bool chunks_are_awaited(struct shared *shared);
void chunks_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms);

/* For who looks for chunks of other instances only while somebody waits: sleeps until somebody does
 * who did not when the word was seen. */
uint32_t chunks_listeners(struct shared *shared);
void chunks_listeners_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms);

#endif
