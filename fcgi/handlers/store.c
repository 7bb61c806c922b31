/* SPDX-License-Identifier: ISC */
/* /v1/store: the memory store (doc/protocol-store.md). */
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "service/memory/memory_calls.h"

void post_memory(struct request *rq)
{
	reply_done(rq, memory_store(&rq->call, rq->body), "Memory stored successfully");
}

void post_memory_search(struct request *rq)
{
	reply_data(rq, memory_search(&rq->call, rq->body));
}

void post_memory_list(struct request *rq)
{
	reply_data(rq, memory_list(&rq->call, rq->body));
}

void post_memory_forget(struct request *rq)
{
	reply_done(rq, memory_forget(&rq->call, rq->body), "Memories removed successfully");
}

void post_memory_read(struct request *rq)
{
	reply_data(rq, memory_read(&rq->call, rq->match.ids[0], rq->body));
}

void put_memory(struct request *rq)
{
	reply_done(rq, memory_update(&rq->call, rq->match.ids[0], rq->body),
	    "Memory updated successfully");
}

void delete_memory(struct request *rq)
{
	reply_done(rq, memory_remove(&rq->call, rq->match.ids[0], rq->body),
	    "Memory deleted successfully");
}
