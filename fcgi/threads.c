/* SPDX-License-Identifier: ISC */
/* /v1/threads: threads, their state and their messages (doc/protocol-threads.md). */
#include "service/thread/threads.h"

#include "handlers.h"
#include "query.h"
#include "request.h"

/* Mistakes are left in the call's error, for the service to add its own. */
static void fcgi_threads_read_query(struct request *rq, struct list_query *query)
{
	struct query_field fields[] = {
	    {"search", true, NULL}, {"offset", false, NULL}, {"limit", false, NULL}};
	query_read(rq->call.arena, rq->path.query, fields, 3, &rq->call.error);
	*query = (struct list_query){fields[0].value, fields[1].value, fields[2].value};
}

void get_threads(struct request *rq)
{
	struct list_query query;
	fcgi_threads_read_query(rq, &query);
	reply_data(rq, threads_list(&rq->call, &query));
}

void get_thread(struct request *rq)
{
	reply_data(rq, thread_read(&rq->call, rq->match.ids[0]));
}

void delete_thread(struct request *rq)
{
	reply_data(rq, thread_remove(&rq->call, rq->match.ids[0], rq->body));
}

void get_state(struct request *rq)
{
	reply_data(rq, state_read(&rq->call, rq->match.ids[0]));
}

void put_state(struct request *rq)
{
	reply_data(rq, state_update(&rq->call, rq->match.ids[0], rq->body));
}

void delete_state(struct request *rq)
{
	reply_data(rq, state_clear(&rq->call, rq->match.ids[0], rq->body));
}

void get_messages(struct request *rq)
{
	struct list_query query;
	fcgi_threads_read_query(rq, &query);
	reply_data(rq, messages_list(&rq->call, rq->match.ids[0], &query));
}

void post_messages(struct request *rq)
{
	reply_data(rq, messages_add(&rq->call, rq->match.ids[0], rq->body));
}

void get_message(struct request *rq)
{
	reply_data(rq, message_read(&rq->call, rq->match.ids[0], rq->match.ids[1]));
}

void delete_message(struct request *rq)
{
	reply_data(rq, message_remove(&rq->call, rq->match.ids[0], rq->match.ids[1], rq->body));
}
