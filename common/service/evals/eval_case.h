/* SPDX-License-Identifier: ISC */
/* One case of a report, as it is shown and as it is compared (doc/protocol-evals.md#one-report). */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVAL_CASE_H
#define AGENTGRAPH_SERVICE_EVALS_EVAL_CASE_H

#include "base/arena.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define EVAL_NOTHING "\xE2\x80\x94" /* the dash that stands for no value */

/* What two runs are compared by. */
struct eval_case {
	const char *id, *name;
	double score;
	bool passed;
};

/* The cases of one run, in file order. */
struct eval_cases {
	struct eval_case *items; /* malloc'd; texts live in the arena */
	size_t count, size;
};

/* Adds what result, an element of results[], says. */
const struct eval_case *eval_cases_add(
    struct eval_cases *cases, const cJSON *result, struct arena *arena);
void eval_cases_release(struct eval_cases *cases);

/* Mean of all scores, 0 without cases. */
double eval_cases_score(const struct eval_cases *cases);

/* The view of one case, a new tree. */
cJSON *eval_case_view(const struct eval_case *c, const cJSON *result);

#endif
