/* SPDX-License-Identifier: ISC */
/* The shared region of the queue: its bells, the unbegun jobs, and the counters of chunks. */
#include "storage/queue.h"

#include "storage/futex.h"

#include <stdatomic.h>

#define COUNTERS 4096
#define UNBEGUN 128

/* A futex that costs no system call while nobody sleeps on it. */
struct queue_bell {
	_Atomic uint32_t word;
	/* a process that died asleep stays counted, which does no harm */
	_Atomic uint32_t sleepers;
};

struct unbegun {
	_Atomic int64_t row; /* the job's; 0: this place is free, -1: it is being filled */
	_Atomic int64_t claimer;
};

/* The layout of the region SHARED_RUNS. */
struct queue_region {
	struct shared_head head;
	struct queue_bell bells[BELLS];
	_Atomic int64_t waiting;
	atomic_flag known; /* set once waiting includes the jobs that were there at the start */
	_Atomic uint32_t moved; /* belongs to every run's count */
	_Atomic uint32_t counters[COUNTERS];
	struct unbegun unbegun[UNBEGUN];
};

_Static_assert(sizeof(struct queue_region) <= SHARED_RUNS_SIZE, "SHARED_RUNS is too small");

static struct queue_region *queue_region(struct shared *shared)
{
	return shared_region(shared, SHARED_RUNS);
}

void bell_ring(struct shared *shared, enum bell which)
{
	struct queue_bell *bell = &queue_region(shared)->bells[which];
	atomic_fetch_add(&bell->word, 1);
	if (atomic_load(&bell->sleepers))
		futex_wake_all(&bell->word, FUTEX_OF_ALL);
}

uint32_t bell_word(struct shared *shared, enum bell which)
{
	return atomic_load(&queue_region(shared)->bells[which].word);
}

void bell_wait(struct shared *shared, enum bell which, uint32_t seen, int64_t timeout_ms)
{
	struct queue_bell *bell = &queue_region(shared)->bells[which];
	atomic_fetch_add(&bell->sleepers, 1);
	if (atomic_load(&bell->word) == seen)
		futex_wait(&bell->word, seen, timeout_ms, FUTEX_OF_ALL);
	atomic_fetch_sub(&bell->sleepers, 1);
}

bool bell_is_awaited(struct shared *shared, enum bell which)
{
	return atomic_load(&queue_region(shared)->bells[which].sleepers) != 0;
}

int64_t queue_waiting(struct shared *shared)
{
	return atomic_load(&queue_region(shared)->waiting);
}

void queue_waiting_add(struct shared *shared, int64_t jobs)
{
	atomic_fetch_add(&queue_region(shared)->waiting, jobs);
}

bool queue_waiting_unknown(struct shared *shared)
{
	return !atomic_flag_test_and_set(&queue_region(shared)->known);
}

static struct unbegun *queue_find_unbegun(struct queue_region *region, int64_t row)
{
	for (size_t i = 0; i < UNBEGUN; i++)
		if (atomic_load(&region->unbegun[i].row) == row)
			return &region->unbegun[i];
	return NULL;
}

/* An entry for this job that a dead process left is taken over: only one process at a time has
 * claimed a job. */
void queue_claimed(struct shared *shared, int64_t row, int64_t claimer)
{
	struct queue_region *region = queue_region(shared);
	struct unbegun *place;
	int64_t was;
	do {
		was = row;
		place = queue_find_unbegun(region, row);
		if (!place) {
			was = 0;
			place = queue_find_unbegun(region, 0);
		}
	} while (place && !atomic_compare_exchange_strong(&place->row, &was, -1));
	if (!place)
		return;
	atomic_store(&place->claimer, claimer);
	atomic_store(&place->row, row);
}

void queue_begun(struct shared *shared, int64_t row)
{
	struct unbegun *place = queue_find_unbegun(queue_region(shared), row);
	if (place)
		atomic_store(&place->row, 0);
}

bool queue_is_unbegun(struct shared *shared, int64_t row, int64_t claimer)
{
	const struct unbegun *place = queue_find_unbegun(queue_region(shared), row);
	return place && atomic_load(&place->claimer) == claimer;
}

static _Atomic uint32_t *queue_chunks_counter(
    struct queue_region *region, int64_t thread_row, int64_t number)
{
	uint64_t mixed = ((uint64_t)thread_row * 31 + (uint64_t)number) * 0x9e3779b97f4a7c15u;
	return &region->counters[mixed >> 32 & (COUNTERS - 1)];
}

void chunks_moved(struct shared *shared, int64_t thread_row, int64_t number)
{
	atomic_fetch_add(queue_chunks_counter(queue_region(shared), thread_row, number), 1);
	bell_ring(shared, BELL_CHUNKS);
}

void chunks_moved_all(struct shared *shared)
{
	atomic_fetch_add(&queue_region(shared)->moved, 1);
	bell_ring(shared, BELL_CHUNKS);
}

uint32_t chunks_count(struct shared *shared, int64_t thread_row, int64_t number)
{
	struct queue_region *region = queue_region(shared);
	return atomic_load(&region->moved) +
	    atomic_load(queue_chunks_counter(region, thread_row, number));
}

void chunks_wait(struct shared *shared, uint32_t seen, int64_t timeout_ms)
{
	/* most callers come again at once; the thread that this wakes counts on that */
	if (bell_is_awaited(shared, BELL_LISTENERS))
		bell_ring(shared, BELL_LISTENERS);
	bell_wait(shared, BELL_CHUNKS, seen, timeout_ms);
}
