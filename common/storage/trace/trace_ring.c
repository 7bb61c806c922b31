/* SPDX-License-Identifier: ISC */
/* Entries laid end to end around a ring, superseded in place, and copied out of it. */
#include "storage/trace/trace_ring.h"

#include "base/memory.h"

#include <stddef.h>
#include <string.h>

/* Copies to the ring, around its end. */
static void trace_ring_put(struct trace_ring *ring, uint64_t at, const void *data, size_t len)
{
	size_t from = at % RING_SIZE, first = RING_SIZE - from;
	if (first > len)
		first = len;
	memcpy(ring->bytes + from, data, first);
	memcpy(ring->bytes, (const char *)data + first, len - first);
}

static void trace_ring_put_text(struct trace_ring *ring, uint64_t *at, const char *text, size_t len)
{
	trace_ring_put(ring, *at, text, len);
	trace_ring_put(ring, *at + len, "", 1);
	*at += len + 1;
}

/* Entries are aligned, so this word never lies around the end. */
static _Atomic uint32_t *ring_superseded_at(struct trace_ring *ring, uint64_t place)
{
	size_t at = (place + offsetof(struct ring_entry, superseded)) % RING_SIZE;
	return (_Atomic uint32_t *)(void *)(ring->bytes + at);
}

bool ring_add(struct trace_ring *ring, const struct trace_run *run, const struct trace_piece *piece,
    uint64_t *place)
{
	struct ring_entry entry = {
	    .run = *run,
	    .first = piece->first,
	    .thread_len = (uint32_t)strlen(run->thread_id),
	    .run_len = (uint32_t)strlen(run->run_id),
	    .records_len = (uint32_t)piece->len,
	};
	entry.run.thread_id = entry.run.run_id = NULL;
	size_t size = sizeof(entry) + entry.thread_len + entry.run_len + entry.records_len + 3;
	entry.size = (uint32_t)((size + 7) & ~(size_t)7); /* the next one is aligned */
	shared_lock(&ring->head.mutex[0]);
	uint64_t start = atomic_load(&ring->added), at = start + sizeof(entry);
	bool added = start - atomic_load(&ring->taken) + entry.size <= RING_SIZE;
	if (added) {
		trace_ring_put(ring, start, &entry, sizeof(entry));
		trace_ring_put_text(ring, &at, run->thread_id, entry.thread_len);
		trace_ring_put_text(ring, &at, run->run_id, entry.run_len);
		trace_ring_put_text(ring, &at, piece->len ? piece->records : "", entry.records_len);
		atomic_store_explicit(&ring->added, start + entry.size, memory_order_release);
		/* place is that of the entry plus 1, so that 0 is none */
		if (*place && *place - 1 >= atomic_load(&ring->taken))
			atomic_store(ring_superseded_at(ring, *place - 1), 1);
		*place = start + 1;
	}
	shared_unlock(&ring->head.mutex[0]);
	if (!added)
		atomic_fetch_add(&ring->dropped, 1);
	return added;
}

size_t ring_fill(struct trace_ring *ring)
{
	uint64_t taken = atomic_load(&ring->taken);
	return (size_t)(atomic_load(&ring->added) - taken);
}

/* Copies from the ring, around its end. */
static void trace_ring_get(const struct trace_ring *ring, uint64_t at, void *data, size_t len)
{
	size_t from = at % RING_SIZE, first = RING_SIZE - from;
	if (first > len)
		first = len;
	memcpy(data, ring->bytes + from, first);
	memcpy((char *)data + first, ring->bytes, len - first);
}

char *ring_copy(struct trace_ring *ring, size_t *len)
{
	uint64_t taken = atomic_load(&ring->taken);
	*len = (size_t)(atomic_load_explicit(&ring->added, memory_order_acquire) - taken);
	if (!*len)
		return NULL;
	char *copy = xmalloc(*len);
	const size_t mark = offsetof(struct ring_entry, superseded);
	for (size_t at = 0; at < *len;) {
		struct ring_entry *entry = (struct ring_entry *)(void *)(copy + at);
		const size_t behind = mark + sizeof(entry->superseded);
		/* others may supersede it meanwhile, so that word is read by itself */
		trace_ring_get(ring, taken + at, entry, mark);
		atomic_init(&entry->superseded, atomic_load(ring_superseded_at(ring, taken + at)));
		trace_ring_get(
		    ring, taken + at + behind, (char *)entry + behind, entry->size - behind);
		at += entry->size;
	}
	return copy;
}

void ring_remove(struct trace_ring *ring, size_t len)
{
	atomic_fetch_add(&ring->taken, len);
}

void ring_unpack(struct ring_entry *entry, struct trace_run *run, struct trace_piece *piece)
{
	*run = entry->run;
	run->thread_id = ring_thread(entry);
	run->run_id = ring_run(entry);
	*piece = (struct trace_piece){
	    entry->first, run->run_id + entry->run_len + 1, entry->records_len};
}
