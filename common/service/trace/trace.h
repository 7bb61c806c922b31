/* SPDX-License-Identifier: ISC */
/*
 * What a run does, as it is recorded (doc/protocol-traces.md#what-is-recorded,
 * doc/observability.md#traces-elsewhere), and shown.
 *
 * A trace stands between a run and its observer, whichever transport that is of.  It turns events
 * into records for /v1/observability, into spans for those who are told of runs outside, and into
 * numbers.  It never holds up a run: what is recorded is handed over in memory.
 */
#ifndef AGENTGRAPH_SERVICE_TRACE_TRACE_H
#define AGENTGRAPH_SERVICE_TRACE_TRACE_H

#include "service/run/turn.h"
#include "storage/trace/traces.h"

struct trace;

/* A trace of a turn that is about to enter the graph, in the call's arena; inner is who else
 * watches it. */
struct trace *trace_begin(struct turn *turn, struct run_observer *inner);

/* Who watches the run instead of inner. */
struct run_observer *trace_observer(struct trace *trace);

/* For run_setup: kept up to date while the run goes on; NULL where there is no trace to pass on. */
const char *trace_parent(const struct trace *trace);

/* The run is over; ok is what run_execute returned.  Called while the turn still has its lease, so
 * that who finds the thread free finds the end of its run too. */
void trace_end(struct trace *trace, bool ok);

/* ---- observe.c: GET /v1/observability/{thread_id} (doc/protocol-traces.md#what-is-shown) */

/* The traces of a thread; run_id NULL is its latest run. */
cJSON *observe_thread(struct call *call, const char *thread_id, const char *run_id);

/* A thread is gone: so are its traces. */
bool observe_forget(struct call *call, const char *thread_id);

/* The run as it is shown, a new tree, rebuilt from the array that trace_record wrote. */
cJSON *trace_view(const struct trace_run *run, const cJSON *records);

#endif
