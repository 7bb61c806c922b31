/* SPDX-License-Identifier: ISC */
/* GET /v1/observability/{thread_id} (doc/protocol-traces.md#what-is-shown). */
#ifndef AGENTGRAPH_SERVICE_TRACE_OBSERVE_H
#define AGENTGRAPH_SERVICE_TRACE_OBSERVE_H

#include "service/service.h"
#include "storage/trace/traces.h"

#include <cjson/cJSON.h>

/* The traces of a thread; run_id NULL is its latest run. */
cJSON *observe_thread(struct call *call, const char *thread_id, const char *run_id);

/* A thread is gone: so are its traces. */
bool observe_forget(struct call *call, const char *thread_id);

/* The run as it is shown, a new tree, rebuilt from the array that trace_record wrote. */
cJSON *trace_view(const struct trace_run *run, const cJSON *records);

#endif
