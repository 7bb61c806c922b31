/* SPDX-License-Identifier: ISC */
/* Records of runs, of one thread and of all (doc/protocol-runs.md#run-records). */
#include "service/run/records.h"

#include "fcgi/follow.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"
#include "service/run/background/background.h"
#include "service/run/stream/follow.h"

/* Mistakes are left in the call's error, for the service to add its own. */
static void fcgi_runs_read_query(struct request *rq, struct record_query *query)
{
	struct query_field fields[] = {
	    {.name = "status"}, {.name = "offset"}, {.name = "limit"}, {.name = "thread_id"}};
	query_read(rq->call.arena, rq->path.query, fields, 4, &rq->call.error);
	*query = (struct record_query){.status = fields[0].value,
	    .offset = fields[1].value,
	    .limit = fields[2].value,
	    .thread_id = fields[3].value};
}

void get_runs(struct request *rq)
{
	struct record_query query;
	fcgi_runs_read_query(rq, &query);
	reply_data(rq, records_list(&rq->call, &query));
}

void post_runs(struct request *rq)
{
	reply_accepted(rq, background_submit(&rq->call, rq->body, NULL));
}

void get_thread_runs(struct request *rq)
{
	struct record_query query;
	fcgi_runs_read_query(rq, &query);
	query.thread_id = NULL;
	reply_data(rq, records_of_thread(&rq->call, rq->match.ids[0], &query));
}

void get_run(struct request *rq)
{
	reply_data(rq, record_read(&rq->call, rq->match.ids[0], rq->match.ids[1]));
}

void get_run_result(struct request *rq)
{
	struct query_field fields[] = {{.name = "response_granularity"}, {.name = "wait"}};
	bool active = false, waits;
	double seconds = 0;
	const cJSON *data = NULL;
	if (query_read(rq->call.arena, rq->path.query, fields, 2, &rq->call.error) &&
	    run_wait_read(&rq->call, fields[1].value, &seconds))
		data = record_result(
		    &rq->call, rq->match.ids[0], rq->match.ids[1], fields[0].value, &active);
	waits = seconds > 0 && !rq->waited && rq->method == METHOD_GET;
	if (active && waits)
		follow_wait(rq, &(struct follow_wish){.seconds = seconds});
	else if (active)
		reply_accepted(rq, data);
	else
		reply_run(rq, data);
}

void post_run_stop(struct request *rq)
{
	reply_data(rq, record_stop(&rq->call, rq->match.ids[0], rq->match.ids[1], rq->body));
}

void delete_run(struct request *rq)
{
	reply_data(rq, record_remove(&rq->call, rq->match.ids[0], rq->match.ids[1], rq->body));
}
