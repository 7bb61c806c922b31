/* SPDX-License-Identifier: ISC */
/* /v1/threads: threads, their state and their messages (doc/protocol-threads.md). */
#include "service/thread/threads.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/query.h"
#include "fcgi/request/request.h"

/* Mistakes are left in the call's error, for the service to add its own. */
static void fcgi_threads_read_query(struct request *rq, struct list_query *query)
{
	struct query_field fields[] = {
	    {.name = "search", .empty_is_absent = true}, {.name = "offset"}, {.name = "limit"}};
	query_read(rq->call.arena, rq->path.query, fields, 3, &rq->call.error);
	*query = (struct list_query){
	    .search = fields[0].value, .offset = fields[1].value, .limit = fields[2].value};
}

#define LABELS_MAX 16 /* doc/protocol-threads.md#listing */

void get_threads(struct request *rq)
{
	struct query_field status = {.name = "status"};
	struct query_member members[LABELS_MAX];
	struct label labels[LABELS_MAX];
	struct thread_query query = {.labels = labels, .label_count = LABELS_MAX};
	fcgi_threads_read_query(rq, &query.page);
	query_read(rq->call.arena, rq->path.query, &status, 1, &rq->call.error);
	query.status = status.value;
	query_members(rq->call.arena, rq->path.query, "metadata", members, &query.label_count,
	    &rq->call.error);
	for (size_t i = 0; i < query.label_count; i++)
		labels[i] = (struct label){members[i].name, members[i].value};
	reply_data(rq, threads_list(&rq->call, &query));
}

void post_threads(struct request *rq)
{
	reply_data(rq, thread_create(&rq->call, rq->body));
}

void patch_thread(struct request *rq)
{
	reply_data(rq, thread_update(&rq->call, rq->match.ids[0], rq->body));
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
	reply_data(rq, state_update(&rq->call, rq->match.ids[0], NULL, rq->body));
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
