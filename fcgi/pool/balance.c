/* SPDX-License-Identifier: ISC */
/* Cells in shared memory, one a process; nothing is locked but for taking one. */
#include "fcgi/pool/pool.h"

#include <stdatomic.h>

#define CELLS 256

/* Processes whose requests in hand differ by no more are even: such differences are chance. */
#define MARGIN 2

/* A process that waits says so every second; one that has been silent for so long is stopped or
 * gone. */
#define SILENCE_MS 3000

struct balance_cell {
	_Atomic uint32_t slot; /* of the process; 0: nobody's */
	_Atomic int32_t in_hand;
	_Atomic int64_t waits; /* when it was last heard to wait for connections; 0: it does not */
};

struct table {
	struct shared_head head; /* its first mutex guards taking a cell */
	_Atomic uint32_t used;   /* cells above were never taken */
	struct balance_cell cells[CELLS];
};

_Static_assert(sizeof(struct table) <= SHARED_BALANCE_SIZE, "SHARED_BALANCE is too small");

void balance_join(struct balance *balance, struct shared *shared)
{
	struct table *table = shared_region(shared, SHARED_BALANCE);
	balance->shared = shared;
	shared_lock(&table->head.mutex[0]);
	for (uint32_t i = 0; i < CELLS && !balance->own; i++) {
		struct balance_cell *cell = &table->cells[i];
		uint32_t slot = atomic_load(&cell->slot);
		if (slot && shared_alive(shared, slot))
			continue;
		atomic_store(&cell->waits, 0);
		atomic_store(&cell->in_hand, 0);
		atomic_store(&cell->slot, shared_self(shared));
		if (i >= atomic_load(&table->used))
			atomic_store(&table->used, i + 1);
		balance->own = cell;
	}
	shared_unlock(&table->head.mutex[0]);
}

void balance_count(struct balance *balance, int change)
{
	if (balance->own)
		atomic_fetch_add(&balance->own->in_hand, change);
}

bool balance_busy(const struct balance *balance)
{
	return balance->own && atomic_load(&balance->own->in_hand) > 0;
}

void balance_waits(struct balance *balance, int64_t now)
{
	if (balance->own)
		atomic_store(&balance->own->waits, now);
}

bool balance_ahead(const struct balance *balance, int64_t now)
{
	if (!balance->own)
		return false;
	struct table *table = shared_region(balance->shared, SHARED_BALANCE);
	int32_t own = atomic_load(&balance->own->in_hand);
	uint32_t used = own > MARGIN ? atomic_load(&table->used) : 0;
	for (uint32_t i = 0; i < used; i++) {
		struct balance_cell *cell = &table->cells[i];
		int64_t waits = atomic_load(&cell->waits);
		if (cell != balance->own && waits && now - waits < SILENCE_MS &&
		    own > atomic_load(&cell->in_hand) + MARGIN &&
		    shared_alive(balance->shared, atomic_load(&cell->slot)))
			return true;
	}
	return false;
}
