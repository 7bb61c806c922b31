/* SPDX-License-Identifier: ISC */
/* Runs in the JSON form of OTLP, with the attributes of the semantic conventions for
 * generative AI. */
#ifndef AGENTGRAPH_TELEMETRY_OTLP_H
#define AGENTGRAPH_TELEMETRY_OTLP_H

#include "base/buf.h"
#include "base/http/http.h"
#include "config/config.h"
#include "telemetry/report.h"

/* Appends the spans of a run, separated by commas, as elements of an array. */
void otlp_spans(struct buf *out, const struct run_report *report, enum trace_level level);

/* The text before and after the spans of a request; malloc'd. */
char *otlp_prefix(const struct environment *env, const char *service_name);
char *otlp_suffix(void);

/* What the answer's partialSuccess says of spans that were refused, for the log; malloc'd, NULL
 * when all were taken. */
char *otlp_complaint(const struct http_response *response);

/* Appends the name of a span at that level: its kind and, from `standard` on, what it is of. */
void otlp_name(struct buf *out, const struct run_report *report, const struct span *span,
    enum trace_level level);

#endif
