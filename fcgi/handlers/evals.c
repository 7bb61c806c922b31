/* SPDX-License-Identifier: ISC */
/* /v1/evals: reports of evaluations (doc/protocol-evals.md). */
#include "service/evals/evals.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"

void get_eval_runs(struct request *rq)
{
	reply_data(rq, evals_list(&rq->call));
}

void get_eval_run(struct request *rq)
{
	reply_data(rq, evals_read(&rq->call, rq->match.ids[0]));
}
