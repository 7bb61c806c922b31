/* SPDX-License-Identifier: ISC */
/* The inside of metrics.h: the layout of the region SHARED_METRICS. */
#ifndef AGENTGRAPH_BASE_METRICS_METRICS_TABLE_H
#define AGENTGRAPH_BASE_METRICS_METRICS_TABLE_H

#include "base/metrics/metrics.h"

#include <stdatomic.h>

#define METRIC_CELLS 512  /* most processes with gauges */
#define METRIC_BUCKETS 12 /* buckets without +Inf */
#define METRIC_CLASSES 5  /* 1xx to 5xx */
#define METRIC_MODEL_SIZE 64

struct histogram {
	_Atomic uint64_t buckets[METRIC_BUCKETS + 1]; /* not cumulative */
	_Atomic uint64_t sum_us;
};

struct metric_model {
	_Atomic uint32_t ready; /* the name can be read */
	char name[METRIC_MODEL_SIZE];
	_Atomic uint64_t in, out;
};

/* The gauges of the process in that slot; 0: nobody's. */
struct metric_cell {
	_Atomic uint32_t slot;
	_Atomic int64_t gauges[GAUGES];
};

/*
 * How long answers took lately.  Time is divided into spells of some seconds, numbered since the
 * machine was started; the first to come in a new spell clears the place of the oldest for it.
 * Times are counted in steps of an eighth of a doubling, so they are known to within 12 %.
 */
#define METRIC_SPELL_US 5000000
#define METRIC_SPELLS 13 /* a minute and the one that goes on */
#define METRIC_STEP_BITS 3
#define METRIC_STEP_LEAST 6 /* all below 2^6 us is one step */
#define METRIC_STEPS 192    /* up to 2^30 us */

struct metric_spell {
	_Atomic uint32_t number;
	_Atomic uint32_t steps[METRIC_STEPS];
};

struct metrics_table {
	struct shared_head head; /* its first mutex guards taking models, cells and spells */
	_Atomic int64_t started_at;
	_Atomic uint64_t counters[METRICS];
	_Atomic uint64_t requests[METRIC_ROUTES][METRIC_CLASSES];
	struct histogram request_times[METRIC_ROUTES];
	_Atomic uint64_t runs[RUN_ENDS];
	struct histogram run_times;
	struct metric_spell spells[METRIC_SPELLS];
	struct metric_model models[METRIC_MODELS];
	struct metric_cell cells[METRIC_CELLS];
};

_Static_assert(sizeof(struct metrics_table) <= SHARED_METRICS_SIZE, "SHARED_METRICS is too small");

/* Upper ends of the buckets, in microseconds. */
extern const int64_t metric_request_bounds[METRIC_BUCKETS], metric_run_bounds[METRIC_BUCKETS];

/* The table, and the memory it is in; NULL while none is attached. */
struct metrics_table *metrics_table(struct shared **shared);

#endif
