/* SPDX-License-Identifier: ISC */
/*
 * Metrics of the service: counters, histograms and gauges of all processes together.
 *
 * They live in shared memory, so one look sees the whole pool, and a process that dies takes only
 * its gauges along.  Counting is an atomic addition; before metrics_attach it does nothing.  Labels
 * are routes, states and models, never ids or anything of a user's.
 */
#ifndef AGENTGRAPH_BASE_METRICS_METRICS_H
#define AGENTGRAPH_BASE_METRICS_METRICS_H

#include "base/buf.h"
#include "base/os/shared.h"

#include <stddef.h>
#include <stdint.h>

enum metric {
	METRIC_RATE_LIMITED,      /* requests and frames that the rate limit refused */
	METRIC_OWNER_HITS,        /* owners found in this process's cache */
	METRIC_OWNER_SHARED_HITS, /* owners found in the shared cache */
	METRIC_OWNER_MISSES,      /* owners found in neither */
	METRIC_WRITES,            /* database writes */
	METRIC_WRITE_WAITS,       /* writes that waited for others */
	METRIC_WRITE_WAIT_US,     /* how long they waited */
	METRIC_SPANS_SENT,        /* runs that the export of traces has delivered */
	METRIC_SPANS_DROPPED,     /* runs that it had to drop */
	METRIC_FAILURES_SENT,     /* the same for the error tracker */
	METRIC_FAILURES_DROPPED,
	METRIC_TRACES_DROPPED, /* pieces of traces for /v1/observability */
	METRIC_FAILED_OPENAI,  /* calls to models of that provider that failed, each try of them */
	METRIC_FAILED_ANTHROPIC,
	METRIC_FAILED_GEMINI,
	METRIC_THREADS_RETIRED, /* threads and files that retention took away */
	METRIC_FILES_RETIRED,
	METRIC_WEBHOOKS_DELIVERED,
	METRIC_WEBHOOKS_FAILED, /* attempts that failed */
	METRIC_WEBHOOKS_GIVEN_UP,
	METRIC_ATTEMPTS,        /* runs in the background that were begun, or taken up again */
	METRIC_NODE_RETRIES,    /* attempts of nodes after one that failed */
	METRIC_NODE_CACHE_HITS, /* nodes that did not run because their results were kept */
	METRIC_NODE_CACHE_MISSES,
	METRICS
};

/* What a process has at the moment. */
enum gauge {
	GAUGE_THREADS,      /* threads that may serve requests */
	GAUGE_BUSY,         /* those that serve one */
	GAUGE_ARRIVING,     /* requests whose bodies are still arriving, which occupy no thread */
	GAUGE_SOCKETS,      /* WebSockets that are open */
	GAUGE_LIVE,         /* those to live agents */
	GAUGE_EXPORT_QUEUE, /* items that wait to be sent */
	GAUGE_LEASE_QUEUE,  /* requests that wait for another run on their thread */
	GAUGE_RUNS,         /* runs that are under way */
	GAUGE_BACKGROUND,   /* background runs that are under way */
	GAUGE_WEBHOOKS, /* webhooks that are not delivered yet, of the process that sends them */
	GAUGES
};

#define METRIC_ROUTES 128 /* rows of the route table that are told apart */
#define METRIC_MODELS 32  /* models that are told apart; further ones count as "other" */

/* From now on metrics are counted in shared; NULL ends that. */
void metrics_attach(struct shared *shared);

/* Adds to a counter, moves a gauge; from any thread,
 * and without effect while nothing is attached. */
void metrics_count(enum metric metric, uint64_t n);
void metrics_gauge(enum gauge gauge, int64_t change);

/* Counts an answer to a request; row is the row of the route table, METRIC_ROUTES - 1 for requests
 * without a route. */
void metrics_request(size_t row, int status, int64_t us);

/* How a run ended, and the word for it, which exported traces have as well. */
enum run_end { RUN_END_DONE, RUN_END_ERROR, RUN_END_STOPPED, RUN_ENDS };
const char *run_end_name(enum run_end end);

/* Counts a run that is over. */
void metrics_run(enum run_end end, int64_t us);

/* Counts the tokens that went into and came out of a model; model may be NULL. */
void metrics_tokens(const char *model, int64_t in, int64_t out);

/* All processes together, at this moment. */
struct metrics_view {
	int64_t started_at; /* when the first process began, in microseconds since the epoch */
	int64_t processes;  /* processes that serve requests */
	int64_t gauges[GAUGES];
	uint64_t requests, errors; /* answers since then, and those with a status 5xx */
	int64_t p50_us, p99_us; /* times of the answers of the last minute; -1: there were none */
};

/* Reads the metrics; all 0, and no times, while nothing is attached. */
void metrics_look(struct metrics_view *view);

/*
 * Appends everything in Prometheus's text format.  route_name gives method and path of a row of the
 * route table; false: there is no such row.
 */
struct metric_route {
	const char *method, *path;
};
void metrics_write(struct buf *out, bool (*route_name)(size_t row, struct metric_route *route));

#endif
