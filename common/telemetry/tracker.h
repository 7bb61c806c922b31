/* SPDX-License-Identifier: ISC */
/* The error tracker: failures and sampled runs, in Sentry's envelopes. */
#ifndef AGENTGRAPH_TELEMETRY_TRACKER_H
#define AGENTGRAPH_TELEMETRY_TRACKER_H

#include "base/buf.h"
#include "config/config.h"
#include "telemetry/report.h"

struct tracker;

/* NULL when there is none: no address, or a mode that is not reported. */
struct tracker *tracker_new(const struct environment *env);
void tracker_stop(struct tracker *tracker, int64_t deadline);
void tracker_free(struct tracker *tracker);

/* Whether runs are sampled at all. */
bool tracker_samples(const struct tracker *tracker);

/* A run, which is sent or not by chance; and a failure, which always is. */
void tracker_run(struct tracker *tracker, const struct run_report *report);
void tracker_failure(struct tracker *tracker, const struct failure_report *report);

/* Milliseconds that the header X-Sentry-Rate-Limits asks for, by kind: 0 errors, 1 transactions. */
void tracker_limits(const char *header, int64_t pause_ms[2]);

/* Appends text without personal data: secrets (base/log/redact.h), addresses of mail and of
 * machines, and numbers of nine digits and more, which are telephones, cards and accounts. */
void scrub(struct buf *out, const char *text);

#endif
