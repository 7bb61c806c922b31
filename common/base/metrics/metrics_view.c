/* SPDX-License-Identifier: ISC */
/* The numbers as they are now: sums over the processes that live, and times of the last minute. */
#include "base/metrics/metrics_table.h"
#include "base/os/clock.h"

/* The longest time that counts as this step. */
static int64_t metrics_step_end(int step)
{
	int doublings = METRIC_STEP_LEAST + (step >> METRIC_STEP_BITS);
	int64_t part = step & ((1 << METRIC_STEP_BITS) - 1);
	int64_t width = (int64_t)1 << (doublings - METRIC_STEP_BITS);
	return ((int64_t)1 << doublings) + (part + 1) * width - 1;
}

/* The time that so many of a thousand did not exceed; -1: there are none. */
static int64_t metrics_quantile(const uint64_t steps[METRIC_STEPS], uint64_t of_thousand)
{
	uint64_t all = 0, seen = 0;
	for (int i = 0; i < METRIC_STEPS; i++)
		all += steps[i];
	for (int i = 0; i < METRIC_STEPS && all; i++) {
		seen += steps[i];
		if (seen * 1000 >= all * of_thousand)
			return metrics_step_end(i);
	}
	return -1;
}

void metrics_look(struct metrics_view *view)
{
	struct shared *shared;
	struct metrics_table *table = metrics_table(&shared);
	*view = (struct metrics_view){.p50_us = -1, .p99_us = -1};
	if (!table)
		return;
	view->started_at = atomic_load(&table->started_at);
	for (int i = 0; i < METRIC_CELLS; i++) {
		struct metric_cell *cell = &table->cells[i];
		uint32_t slot = atomic_load(&cell->slot);
		if (!slot || !shared_alive(shared, slot))
			continue;
		view->processes += atomic_load(&cell->gauges[GAUGE_THREADS]) > 0;
		for (int g = 0; g < GAUGES; g++)
			view->gauges[g] += atomic_load(&cell->gauges[g]);
	}
	for (int row = 0; row < METRIC_ROUTES; row++) {
		for (int k = 0; k < METRIC_CLASSES; k++)
			view->requests += atomic_load(&table->requests[row][k]);
		view->errors += atomic_load(&table->requests[row][METRIC_CLASSES - 1]);
	}
	uint64_t steps[METRIC_STEPS] = {0};
	uint32_t now = (uint32_t)(clock_uptime_us() / METRIC_SPELL_US);
	for (int i = 0; i < METRIC_SPELLS; i++) {
		struct metric_spell *spell = &table->spells[i];
		uint32_t number = atomic_load_explicit(&spell->number, memory_order_acquire);
		if (number == 0 || now - number >= METRIC_SPELLS)
			continue;
		for (int k = 0; k < METRIC_STEPS; k++)
			steps[k] += atomic_load_explicit(&spell->steps[k], memory_order_relaxed);
	}
	view->p50_us = metrics_quantile(steps, 500);
	view->p99_us = metrics_quantile(steps, 990);
}
