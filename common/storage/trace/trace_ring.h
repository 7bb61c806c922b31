/* SPDX-License-Identifier: ISC */
/* The ring in shared memory through which runs are handed over (traces.h). */
#ifndef AGENTGRAPH_STORAGE_TRACE_TRACE_RING_H
#define AGENTGRAPH_STORAGE_TRACE_TRACE_RING_H

#include "storage/trace/traces.h"

#include <stdatomic.h>

#define RING_SIZE (4u << 20) /* a power of two */

/*
 * The layout of the region SHARED_TRACES.  Its first mutex guards adding, its second one the
 * storage and with it taking out.  added and taken only grow; a byte's place is its number modulo
 * the size.  An entry counts once added is behind it, so an adder that dies leaves nothing.
 */
struct trace_ring {
	struct shared_head head;
	_Atomic uint64_t numbers;
	_Atomic uint64_t added, taken; /* bytes, ever */
	_Atomic uint64_t dropped;      /* entries for which there was no room */
	_Atomic uint32_t made;         /* what the storage has is of this instance */
	_Alignas(64) char bytes[RING_SIZE];
};

_Static_assert(sizeof(struct trace_ring) <= SHARED_TRACES_SIZE, "SHARED_TRACES is too small");

/* The head of an entry; its texts follow, each with its NUL.  run.number 0: the thread is to be
 * forgotten. */
struct ring_entry {
	uint32_t size;               /* of all of it, a multiple of 8 */
	_Atomic uint32_t superseded; /* a later entry says all that this one does */
	struct trace_run run;        /* its texts are not to be followed */
	int32_t first;
	uint32_t thread_len, run_len, records_len; /* without NUL */
};

/* Adds an entry; false when there is no room.  *place as in traces_put. */
bool ring_add(struct trace_ring *ring, const struct trace_run *run, const struct trace_piece *piece,
    uint64_t *place);

/* How many bytes wait in the ring. */
size_t ring_fill(struct trace_ring *ring);

/*
 * A copy of all that waits, malloc'd, as entries one after the other; NULL when nothing does.
 * ring_remove then takes those len bytes out.  Both with the second mutex held.
 */
char *ring_copy(struct trace_ring *ring, size_t *len);
void ring_remove(struct trace_ring *ring, size_t len);

/* The thread, and the run, of an entry that lies in memory as ring_copy made it. */
static inline const char *ring_thread(const struct ring_entry *entry)
{
	return (const char *)(entry + 1);
}

static inline const char *ring_run(const struct ring_entry *entry)
{
	return ring_thread(entry) + entry->thread_len + 1;
}

/* Points the texts of an entry that lies in memory as ring_copy made it to where they are. */
void ring_unpack(struct ring_entry *entry, struct trace_run *run, struct trace_piece *piece);

#endif
