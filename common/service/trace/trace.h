/* SPDX-License-Identifier: ISC */
/*
 * Recording what a run does (doc/protocol-traces.md#what-is-recorded,
 * doc/observability.md#exporting-traces), and showing it.
 *
 * A trace stands between a run and its observer, of whichever transport.  It turns events into
 * records for /v1/observability, into spans for systems outside, and into metrics.  It never holds
 * up a run: records are handed over in memory.
 */
#ifndef AGENTGRAPH_SERVICE_TRACE_TRACE_H
#define AGENTGRAPH_SERVICE_TRACE_TRACE_H

#include "service/run/turn.h"
#include "storage/trace/traces.h"

struct trace;

/* Begins a trace of a turn that is about to enter the graph, in the call's arena; inner is the
 * run's other observer. */
struct trace *trace_begin(struct turn *turn, struct run_observer *inner);

/* The observer to give to the run instead of inner. */
struct run_observer *trace_observer(struct trace *trace);

/* The traceparent to pass on, for run_setup; it is kept up to date while the run goes on.  NULL
 * where there is none. */
const char *trace_parent(const struct trace *trace);

/* Ends the trace; ok is what run_execute returned.  To be called while the turn still has its
 * lease, so that whoever finds the thread free also finds the end of its run. */
void trace_end(struct trace *trace, bool ok);

/* ---- observe.c: GET /v1/observability/{thread_id} (doc/protocol-traces.md#shapes) */

/* The traces of a thread; run_id NULL is its latest run. */
cJSON *observe_thread(struct call *call, const char *thread_id, const char *run_id);

/* Forgets the traces of a thread that was deleted. */
bool observe_forget(struct call *call, const char *thread_id);

/* The run as it is shown, a new tree made from the array that trace_record wrote. */
cJSON *trace_view(const struct trace_run *run, const cJSON *records);

#endif
