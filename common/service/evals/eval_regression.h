/* SPDX-License-Identifier: ISC */
/* The cases of a report as they are shown, and the comparison of a run with the one before it in
 * its set (doc/protocol-evals.md#one-report). */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVAL_REGRESSION_H
#define AGENTGRAPH_SERVICE_EVALS_EVAL_REGRESSION_H

#include "base/arena.h"
#include "service/evals/evals.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- eval_case.c */

#define EVAL_NOTHING "\xE2\x80\x94" /* the dash that stands for no value */

/* A case of a run, as far as runs are compared by it. */
struct eval_case {
	const char *id, *name;
	double score;
	bool passed;
};

/* The cases of one run, in file order. */
struct eval_cases {
	struct eval_case *items; /* malloc'd; texts live in the arena */
	size_t count;
};

/* Adds the case that result, an element of results[], describes. */
const struct eval_case *eval_cases_add(
    struct eval_cases *cases, const cJSON *result, struct arena *arena);
void eval_cases_release(struct eval_cases *cases);

/* Mean of all scores, 0 without cases. */
double eval_cases_score(const struct eval_cases *cases);

/* The view of one case, a new tree. */
cJSON *eval_case_view(const struct eval_case *c, const cJSON *result);

/* ---- eval_regression.c */

struct eval_run {
	const struct eval_report *report;
	double pass_rate;
	struct eval_cases cases;
};

/* A new tree. */
cJSON *eval_regression(const struct eval_run *current, const struct eval_run *previous);

#endif
