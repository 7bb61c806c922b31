/* SPDX-License-Identifier: ISC */
/* /lg: LangGraph's protocol (doc/protocol-langgraph.md). */
#include "service/langgraph/langgraph.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"

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
