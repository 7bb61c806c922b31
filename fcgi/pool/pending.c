/* SPDX-License-Identifier: ISC */
/* A table of places under one robust mutex.  Places of dead processes are cleared by whoever looks
 * for one next. */
#include "fcgi/pool/pool.h"

#include "access/address.h"

#include <stdio.h>
#include <string.h>

#define PLACES 4096

struct place {
	uint32_t slot; /* of the process; 0: nobody's */
	char address[ADDRESS_SIZE];
	int64_t bytes;
};

struct table {
	struct shared_head head; /* its first mutex guards the rest */
	uint32_t used;           /* places above were never taken */
	int64_t bytes;           /* of all places */
	struct place places[PLACES];
};

_Static_assert(sizeof(struct table) <= SHARED_PENDING_SIZE, "SHARED_PENDING is too small");

/* Locks the table.  A process that died with the lock may have left a wrong sum. */
static struct table *pending_lock(struct shared *shared)
{
	struct table *table = shared_region(shared, SHARED_PENDING);
	if (shared_lock(&table->head.mutex[0])) {
		table->bytes = 0;
		for (uint32_t i = 0; i < table->used; i++)
			table->bytes += table->places[i].bytes;
	}
	return table;
}

static void place_clear(struct table *table, struct place *place)
{
	table->bytes -= place->bytes;
	memset(place, 0, sizeof(*place));
}

static void pending_sweep(struct table *table, struct shared *shared)
{
	uint32_t alive = shared_self(shared);
	for (uint32_t i = 0; i < table->used; i++) {
		struct place *place = &table->places[i];
		if (place->slot == 0 || place->slot == alive)
			continue;
		if (shared_alive(shared, place->slot))
			alive = place->slot;
		else
			place_clear(table, place);
	}
}

enum pending_answer pending_take(
    struct pending *pending, struct shared *shared, const char *address, int64_t most)
{
	struct table *table = pending_lock(shared);
	int64_t same = 0;
	uint32_t empty = PLACES;
	pending_sweep(table, shared);
	for (uint32_t i = 0; i < table->used; i++) {
		if (table->places[i].slot)
			same += !strcmp(table->places[i].address, address);
		else if (empty == PLACES)
			empty = i;
	}
	if (empty == PLACES && table->used < PLACES)
		empty = table->used++;
	bool taken = same < most && empty < PLACES;
	if (taken) {
		struct place *place = &table->places[empty];
		snprintf(place->address, sizeof(place->address), "%s", address);
		place->slot = shared_self(shared);
		*pending = (struct pending){shared, empty};
	}
	shared_unlock(&table->head.mutex[0]);
	return taken ? PENDING_TAKEN : same < most ? PENDING_FULL : PENDING_ADDRESS_FULL;
}

bool pending_grow(struct pending *pending, int64_t bytes, int64_t most)
{
	struct table *table = pending_lock(pending->shared);
	if (table->bytes + bytes > most)
		pending_sweep(table, pending->shared);
	bool fits = table->bytes + bytes <= most;
	if (fits) {
		table->places[pending->place].bytes += bytes;
		table->bytes += bytes;
	}
	shared_unlock(&table->head.mutex[0]);
	return fits;
}

void pending_drop(struct pending *pending)
{
	if (!pending->shared)
		return;
	struct table *table = pending_lock(pending->shared);
	place_clear(table, &table->places[pending->place]);
	shared_unlock(&table->head.mutex[0]);
	*pending = (struct pending){0};
}
