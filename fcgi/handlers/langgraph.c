/* SPDX-License-Identifier: ISC */
/* /lg: LangGraph's protocol (doc/protocol-langgraph.md). */
#include "service/langgraph/langgraph.h"

#include "base/json/json.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"
#include "service/langgraph/lg_run.h"
#include "service/run/records.h"

/* ---- the server and its assistant ---- */

void get_lg_ok(struct request *rq)
{
	reply_bare(rq, lg_ok(&rq->call));
}

void get_lg_info(struct request *rq)
{
	reply_bare(rq, lg_info(&rq->call));
}

void post_lg_assistants(struct request *rq)
{
	reply_bare(rq, lg_assistants(&rq->call, rq->body));
}

void get_lg_assistant(struct request *rq)
{
	reply_bare(rq, lg_assistant(&rq->call, rq->match.ids[0]));
}

void get_lg_assistant_graph(struct request *rq)
{
	reply_bare(rq, lg_assistant_graph(&rq->call, rq->match.ids[0]));
}

void get_lg_assistant_schemas(struct request *rq)
{
	reply_bare(rq, lg_assistant_schemas(&rq->call, rq->match.ids[0]));
}

cJSON *lg_error_body(struct request *rq, const struct error_view *view)
{
	return lg_error(&rq->call, view);
}

/* ---- threads ---- */

static void lg_reply(struct request *rq, bool ok, const struct lg_reply *reply)
{
	if (ok)
		reply_parts(rq, lg_reply_put, reply);
	else
		reply_error(rq);
}

void post_lg_threads(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_create(&rq->call, rq->body, &reply), &reply);
}

void get_lg_thread(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_read(&rq->call, rq->match.ids[0], &reply), &reply);
}

void patch_lg_thread(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_update(&rq->call, rq->match.ids[0], rq->body, &reply), &reply);
}

void delete_lg_thread(struct request *rq)
{
	if (lg_thread_remove(&rq->call, rq->match.ids[0]))
		reply_empty(rq, 204);
	else
		reply_error(rq);
}

void post_lg_copy(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_thread_copy(&rq->call, rq->match.ids[0], &reply), &reply);
}

void post_lg_threads_search(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_threads_search(&rq->call, rq->body, &reply), &reply);
}

void post_lg_threads_count(struct request *rq)
{
	reply_bare(rq, lg_threads_count(&rq->call, rq->body));
}

/* ---- states ---- */

void get_lg_state(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_state_read(&rq->call, rq->match.ids[0], NULL, &reply), &reply);
}

void get_lg_state_at(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_state_read(&rq->call, rq->match.ids[0], rq->match.ids[1], &reply), &reply);
}

void post_lg_state_at(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_state_named(&rq->call, rq->match.ids[0], rq->body, &reply), &reply);
}

void post_lg_state(struct request *rq)
{
	reply_bare(rq, lg_state_update(&rq->call, rq->match.ids[0], rq->body));
}

void post_lg_history(struct request *rq)
{
	struct lg_reply reply;
	lg_reply(rq, lg_history(&rq->call, rq->match.ids[0], rq->body, &reply), &reply);
}

/* The same by query: limit is a number there, before the id of a checkpoint. */
void get_lg_history(struct request *rq)
{
	struct query_field fields[] = {{"limit", false, NULL}, {"before", false, NULL}};
	struct lg_reply reply;
	bool ok = query_read(rq->call.arena, rq->path.query, fields, 2, &rq->call.error);
	const struct lg_history_query query = {fields[0].value, fields[1].value};
	lg_reply(
	    rq, ok && lg_history_by_query(&rq->call, rq->match.ids[0], &query, &reply), &reply);
}

/* ---- runs ---- */

/* Pages of other origins look there for the run's id. */
static void lg_say_location(struct request *rq, const char *location)
{
	response_header(rq, "Content-Location", location);
	response_header(rq, "Access-Control-Expose-Headers", "Content-Location");
}

static void lg_wait(struct request *rq, const char *thread_id)
{
	struct lg_reply reply;
	struct lg_run run;
	if (!lg_run_open(&rq->call, thread_id, rq->body, &run)) {
		reply_error(rq);
		return;
	}
	lg_say_location(rq, run.location);
	bool ok = lg_run_wait(&run, &reply);
	lg_run_close(&run);
	if (ok && run.failure)
		reply_bare(rq, run.failure);
	else
		lg_reply(rq, ok, &reply);
}

static void lg_stream(struct request *rq, const char *thread_id)
{
	struct reply_stream stream;
	struct lg_run run;
	reply_stream_init(&stream, rq);
	if (!lg_run_open(&rq->call, thread_id, rq->body, &run)) {
		reply_error(rq);
		return;
	}
	lg_say_location(rq, run.location);
	if (!lg_run_stream(&run, &stream.sink))
		reply_error(rq);
	lg_run_close(&run);
}

void post_lg_run_wait(struct request *rq)
{
	lg_wait(rq, rq->match.ids[0]);
}

void post_lg_run_stream(struct request *rq)
{
	lg_stream(rq, rq->match.ids[0]);
}

void post_lg_wait(struct request *rq)
{
	lg_wait(rq, NULL);
}

void post_lg_stream(struct request *rq)
{
	lg_stream(rq, NULL);
}

void post_lg_runs(struct request *rq)
{
	cJSON *run = lg_run_create(&rq->call, rq->match.ids[0], rq->body);
	const char *id = run ? json_str(run, "run_id") : NULL;
	if (id)
		lg_say_location(rq, lg_run_location(&rq->call, rq->match.ids[0], id));
	reply_bare(rq, run);
}

void get_lg_runs(struct request *rq)
{
	struct query_field fields[] = {
	    {"limit", false, NULL}, {"offset", false, NULL}, {"status", false, NULL}};
	query_read(rq->call.arena, rq->path.query, fields, 3, &rq->call.error);
	struct record_query query = {.limit = fields[0].value ? fields[0].value : "10",
	    .offset = fields[1].value,
	    .status = fields[2].value};
	reply_bare(rq, lg_runs_list(&rq->call, rq->match.ids[0], &query));
}

void get_lg_run(struct request *rq)
{
	reply_bare(rq, lg_run_read(&rq->call, rq->match.ids[0], rq->match.ids[1]));
}

void delete_lg_run(struct request *rq)
{
	if (lg_run_remove(&rq->call, rq->match.ids[0], rq->match.ids[1]))
		reply_empty(rq, 204);
	else
		reply_error(rq);
}

void post_lg_run_cancel(struct request *rq)
{
	struct query_field action = {"action", false, NULL};
	if (query_read(rq->call.arena, rq->path.query, &action, 1, &rq->call.error) &&
	    lg_run_cancel(&rq->call, rq->match.ids[0], rq->match.ids[1], action.value))
		reply_empty(rq, 204);
	else
		reply_error(rq);
}
