/* SPDX-License-Identifier: ISC */
/* The error tracker: failures and sampled runs, in Sentry's envelopes. */
#ifndef AGENTGRAPH_TELEMETRY_TRACKER_H
#define AGENTGRAPH_TELEMETRY_TRACKER_H

#include "base/buf.h"
#include "config/config.h"
#include "telemetry/report.h"

struct tracker;

/* NULL when nothing is reported: there is no address, or the mode is one that is not reported. */
struct tracker *tracker_new(const struct environment *env);
void tracker_stop(struct tracker *tracker, int64_t deadline);
void tracker_free(struct tracker *tracker);

/* Whether runs are sampled at all. */
bool tracker_samples(const struct tracker *tracker);

/* Hands over a run, which is sent with the configured probability; and a failure, which always
 * is. */
void tracker_run(struct tracker *tracker, const struct run_report *report);
void tracker_failure(struct tracker *tracker, const struct failure_report *report);

/* Reads the pauses that the header X-Sentry-Rate-Limits asks for: 0 of errors, 1 of
 * transactions. */
void tracker_limits(const char *header, int64_t pause_ms[2]);

/* Appends text without secrets (base/log/redact.h) and personal data: addresses of mail and of
 * machines, and numbers of nine digits and more, which may be of telephones, cards and accounts. */
void scrub(struct buf *out, const char *text);

#endif
