/* SPDX-License-Identifier: ISC */
/*
 * Reports of evaluations, read from eval_reports/ in the working directory (doc/protocol-evals.md).
 * Nothing is evaluated here, and nothing is written.
 */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVALS_H
#define AGENTGRAPH_SERVICE_EVALS_EVALS_H

#include "service/service.h"

/* data of GET /v1/evals/runs. */
cJSON *evals_list(struct call *call);

/* data of GET /v1/evals/runs/{run_id}; NULL with "Eval run '<id>' not found" set. */
cJSON *evals_read(struct call *call, const char *run_id);

#endif
