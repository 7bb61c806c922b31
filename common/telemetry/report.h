/* SPDX-License-Identifier: ISC */
/* A run that is over, as it is told to the outside: a tree of spans. */
#ifndef AGENTGRAPH_TELEMETRY_REPORT_H
#define AGENTGRAPH_TELEMETRY_REPORT_H

#include "base/http/traceparent.h"
#include "base/metrics/metrics.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum span_kind { SPAN_RUN, SPAN_NODE, SPAN_LLM, SPAN_TOOL };

/* An attempt of a node that failed, and was followed by another one. */
struct span_attempt {
	struct span_attempt *next;
	int64_t at;
	int number;        /* from 1 */
	const char *node;  /* its name, or that of the graph */
	const char *code;  /* the error's code, */
	const char *error; /* and its text */
};

/* Times are microseconds since 1970.  Everything that is pointed to is borrowed. */
struct span {
	enum span_kind kind;
	char id[SPAN_ID_SIZE];
	const struct span *parent; /* NULL for the run */
	const char *name;          /* of the node, model or tool; NULL where it is not known */
	int64_t start, end;
	const char *error;             /* what went wrong, or NULL */
	struct span_attempt *attempts; /* SPAN_NODE, SPAN_RUN: in their order, or NULL */
	int step;                      /* SPAN_NODE */
	const char *branch;            /* SPAN_NODE: "a/w[3]", or NULL */
	bool cached;                   /* SPAN_NODE: it did not run, its result was kept */

	int64_t input_tokens, output_tokens; /* SPAN_LLM */
	const cJSON *message;                /* SPAN_LLM: the model's answer */

	const char *call_id; /* SPAN_TOOL */
	const cJSON *args;   /* NULL when the call was made in an earlier run */
	const cJSON *output;
};

struct run_report {
	struct trace_context context; /* of the run's own span */
	char parent[SPAN_ID_SIZE];    /* the span of the caller, or "" */
	const char *agent, *thread_id, *run_id;
	const struct span *const *spans; /* the run's own first, and parents before children */
	size_t span_count;
	size_t spans_left_out; /* how many more there were */
	enum run_end end;
	const char *error_code; /* RUN_END_ERROR; the run's own span has the words */
	int64_t input_tokens, output_tokens;
	const cJSON *input; /* an array of messages; its first input_count were given to the run */
	size_t input_count;
};

/* A failure that is ours, not the client's. */
struct failure_report {
	const char *code, *message, *cause;
	const char *node;                /* where a node failed, else NULL */
	const char *route;               /* as in the table of routes, or NULL */
	const char *request_id, *run_id; /* or NULL */
	const char *trace_id, *span_id;  /* or NULL */
};

#endif
