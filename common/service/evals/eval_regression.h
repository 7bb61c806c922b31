/* SPDX-License-Identifier: ISC */
/* A run compared with the one before it in its set (doc/protocol-evals.md#one-report). */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVAL_REGRESSION_H
#define AGENTGRAPH_SERVICE_EVALS_EVAL_REGRESSION_H

#include "service/evals/eval_case.h"
#include "service/evals/eval_reports.h"

struct eval_run {
	const struct eval_report *report;
	double pass_rate;
	struct eval_cases cases;
};

/* A new tree. */
cJSON *eval_regression(const struct eval_run *current, const struct eval_run *previous);

#endif
