/* SPDX-License-Identifier: ISC */
/*
 * What the service tells others of its work: traces by OTLP
 * (doc/observability.md#exporting-traces), and failures to an error tracker
 * (doc/observability.md#error-tracking).
 *
 * Nothing here ever makes a run wait or fail.  Items to be sent are put into bounded queues, each
 * with a thread of its own that is started with the first item; items that do not fit, or cannot be
 * delivered, are dropped and counted.
 */
#ifndef AGENTGRAPH_TELEMETRY_TELEMETRY_H
#define AGENTGRAPH_TELEMETRY_TELEMETRY_H

#include "config/config.h"
#include "telemetry/report.h"

struct telemetry;

/* Opens what the configuration asks for; that must outlive the result. */
struct telemetry *telemetry_new(const struct config *config);

/* Sends what waits, for two seconds at most, and ends the threads.  NULL is fine. */
void telemetry_free(struct telemetry *telemetry);

/* Whether traces are exported (info.publisher); and whether anything needs to be told of runs at
 * all. */
bool telemetry_exports(const struct telemetry *telemetry);
bool telemetry_wants_runs(const struct telemetry *telemetry);

/* Hands over a run that is over. */
void telemetry_run(struct telemetry *telemetry, const struct run_report *report);

/* Hands over a failure. */
void telemetry_failure(struct telemetry *telemetry, const struct failure_report *report);

#endif
