/* SPDX-License-Identifier: ISC */
/* A run as /v1/observability shows it, rebuilt from its records
 * (doc/protocol-traces.md#what-is-shown). */
#ifndef AGENTGRAPH_SERVICE_TRACE_TRACE_VIEW_H
#define AGENTGRAPH_SERVICE_TRACE_TRACE_VIEW_H

#include "storage/trace/traces.h"

#include <cjson/cJSON.h>

/* The run object, a new tree; records is the array that trace_record wrote. */
cJSON *trace_view(const struct trace_run *run, const cJSON *records);

#endif
