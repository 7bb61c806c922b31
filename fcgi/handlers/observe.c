/* SPDX-License-Identifier: ISC */
/* /v1/observability: what the runs of a thread did (doc/protocol-traces.md). */
#include "service/trace/trace.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"

void get_observability(struct request *rq)
{
	struct query_field run_id = {.name = "run_id", .empty_is_absent = true};
	bool ok = query_read(rq->call.arena, rq->path.query, &run_id, 1, &rq->call.error);
	reply_data(rq, ok ? observe_thread(&rq->call, rq->match.ids[0], run_id.value) : NULL);
}
