/* SPDX-License-Identifier: ISC */
/* Counting: the atomic additions, and the places of models and gauges in the table. */
#include "base/metrics/metrics.h"

#include "base/metrics/metrics_table.h"
#include "base/os/clock.h"

#include <string.h>

#define MS(n) ((n) * (int64_t)1000)

/* clang-format off */
const int64_t metric_request_bounds[METRIC_BUCKETS] = {MS(1), MS(5), MS(10), MS(25), MS(50), MS(100),
    MS(250), MS(500), MS(1000), MS(2500), MS(5000), MS(10000)};
const int64_t metric_run_bounds[METRIC_BUCKETS] = {MS(5), MS(25), MS(100), MS(500), MS(1000), MS(2500),
    MS(5000), MS(10000), MS(30000), MS(60000), MS(300000), MS(900000)};
/* clang-format on */

static struct shared *memory;
static struct metrics_table *table;
static struct metric_cell *_Atomic own; /* this process's, once it had a gauge */

void metrics_attach(struct shared *shared)
{
	struct metric_cell *cell = atomic_exchange(&own, NULL);
	if (cell)
		atomic_store(&cell->slot, 0);
	memory = shared;
	table = shared ? shared_region(shared, SHARED_METRICS) : NULL;
	int64_t never = 0;
	if (table)
		atomic_compare_exchange_strong(&table->started_at, &never, clock_now());
}

struct metrics_table *metrics_table(struct shared **shared)
{
	*shared = memory;
	return table;
}

static void metrics_add(_Atomic uint64_t *number, uint64_t n)
{
	atomic_fetch_add_explicit(number, n, memory_order_relaxed);
}

void metrics_count(enum metric metric, uint64_t n)
{
	if (table)
		metrics_add(&table->counters[metric], n);
}

static void metrics_observe(struct histogram *histogram, const int64_t *bounds, int64_t us)
{
	int i = 0;
	while (i < METRIC_BUCKETS && us > bounds[i])
		i++;
	metrics_add(&histogram->buckets[i], 1);
	metrics_add(&histogram->sum_us, us > 0 ? (uint64_t)us : 0);
}

static unsigned metrics_step(int64_t us)
{
	unsigned doublings = METRIC_STEP_LEAST;
	if (us < (int64_t)1 << METRIC_STEP_LEAST)
		return 0;
	while (us >> (doublings + 1))
		doublings++;
	unsigned part =
	    (unsigned)(us >> (doublings - METRIC_STEP_BITS)) & ((1 << METRIC_STEP_BITS) - 1);
	unsigned step = ((doublings - METRIC_STEP_LEAST) << METRIC_STEP_BITS) + part;
	return step < METRIC_STEPS ? step : METRIC_STEPS - 1;
}

void metrics_request(size_t row, int status, int64_t us)
{
	int class = status / 100 - 1;
	if (!table || class < 0 || class >= METRIC_CLASSES)
		return;
	if (row >= METRIC_ROUTES)
		row = METRIC_ROUTES - 1;
	metrics_add(&table->requests[row][class], 1);
	metrics_observe(&table->request_times[row], metric_request_bounds, us);
	uint32_t number = (uint32_t)(clock_uptime_us() / METRIC_SPELL_US);
	struct metric_spell *spell = &table->spells[number % METRIC_SPELLS];
	if (atomic_load_explicit(&spell->number, memory_order_acquire) != number) {
		/* The number is stored last: a process that dies before that has begun nothing. */
		shared_lock(&table->head.mutex[0]);
		if (atomic_load(&spell->number) != number) {
			for (int i = 0; i < METRIC_STEPS; i++)
				atomic_store_explicit(&spell->steps[i], 0, memory_order_relaxed);
			atomic_store_explicit(&spell->number, number, memory_order_release);
		}
		shared_unlock(&table->head.mutex[0]);
	}
	atomic_fetch_add_explicit(&spell->steps[metrics_step(us)], 1, memory_order_relaxed);
}

const char *run_end_name(enum run_end end)
{
	static const char *const names[RUN_ENDS] = {"done", "error", "stopped"};
	return names[end];
}

void metrics_run(enum run_end end, int64_t us)
{
	if (!table)
		return;
	metrics_add(&table->runs[end], 1);
	metrics_observe(&table->run_times, metric_run_bounds, us);
}

/* ---- models ---- */

static struct metric_model *metrics_known_model(const char *name)
{
	for (int i = 0; i < METRIC_MODELS; i++) {
		struct metric_model *model = &table->models[i];
		if (!atomic_load_explicit(&model->ready, memory_order_acquire))
			return NULL;
		if (strcmp(model->name, name) == 0)
			return model;
	}
	return NULL;
}

/* Takes a place for a model; the last one is for all others.  Call with the lock held. */
static struct metric_model *metrics_take_model(const char *name)
{
	struct metric_model *model = metrics_known_model(name);
	for (int i = 0; !model && i < METRIC_MODELS; i++) {
		struct metric_model *free = &table->models[i];
		bool last = i == METRIC_MODELS - 1;
		if (atomic_load(&free->ready) && !last)
			continue;
		model = free;
		if (atomic_load(&free->ready))
			break;
		strcpy(free->name, last ? "other" : name);
		atomic_store_explicit(&free->ready, 1, memory_order_release);
	}
	return model;
}

void metrics_tokens(const char *model, int64_t in, int64_t out)
{
	if (!table)
		return;
	if (!model || !*model || strlen(model) >= METRIC_MODEL_SIZE)
		model = "other";
	struct metric_model *found = metrics_known_model(model);
	if (!found) {
		shared_lock(&table->head.mutex[0]);
		found = metrics_take_model(model);
		shared_unlock(&table->head.mutex[0]);
	}
	metrics_add(&found->in, in > 0 ? (uint64_t)in : 0);
	metrics_add(&found->out, out > 0 ? (uint64_t)out : 0);
}

/* ---- gauges ---- */

static struct metric_cell *metrics_take_cell(void)
{
	for (int i = 0; i < METRIC_CELLS; i++) {
		struct metric_cell *cell = &table->cells[i];
		uint32_t slot = atomic_load(&cell->slot);
		if (slot && slot != shared_self(memory) && shared_alive(memory, slot))
			continue;
		for (int g = 0; g < GAUGES; g++)
			atomic_store(&cell->gauges[g], 0);
		atomic_store(&cell->slot, shared_self(memory));
		return cell;
	}
	return NULL;
}

void metrics_gauge(enum gauge gauge, int64_t change)
{
	if (!table)
		return;
	if (!atomic_load_explicit(&own, memory_order_acquire)) {
		shared_lock(&table->head.mutex[0]);
		if (!atomic_load(&own))
			atomic_store(&own, metrics_take_cell());
		shared_unlock(&table->head.mutex[0]);
	}
	struct metric_cell *cell = atomic_load_explicit(&own, memory_order_acquire);
	if (cell)
		atomic_fetch_add_explicit(&cell->gauges[gauge], change, memory_order_relaxed);
}
