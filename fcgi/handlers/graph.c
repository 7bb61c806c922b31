/* SPDX-License-Identifier: ISC */
/* /v1/graph: running the graph, and what it is (doc/protocol-runs.md,
 * doc/protocol-threads.md#repair). */
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "service/about.h"
#include "service/agui/agui.h"
#include "service/run/runs.h"
#include "service/thread/threads.h"

void post_invoke(struct request *rq)
{
	reply_run(rq, run_invoke(&rq->call, rq->body));
}

void post_stream(struct request *rq)
{
	struct reply_stream stream;
	reply_stream_init(&stream, rq);
	if (!run_stream(&rq->call, rq->body, &stream.sink))
		reply_error(rq);
}

void post_ag_ui(struct request *rq)
{
	struct reply_stream stream;
	reply_events_init(&stream, rq);
	if (!run_agui(&rq->call, rq->body, &stream.sink))
		reply_error(rq);
}

void post_stop(struct request *rq)
{
	reply_data(rq, run_stop(&rq->call, rq->body));
}

void post_fix(struct request *rq)
{
	reply_data(rq, thread_fix(&rq->call, rq->body));
}

void post_setup(struct request *rq)
{
	reply_data(rq, graph_setup(&rq->call, rq->body));
}

void get_graph(struct request *rq)
{
	reply_data(rq, graph_info(&rq->call));
}

void get_graph_tools(struct request *rq)
{
	reply_data(rq, graph_tools(&rq->call));
}

void get_graph_schema(struct request *rq)
{
	reply_data(rq, graph_schema(&rq->call));
}
