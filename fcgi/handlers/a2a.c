/* SPDX-License-Identifier: ISC */
/* /v1/a2a: the agent among agents, and its card (doc/protocol-a2a.md). */
#include "service/a2a/a2a_service.h"

#include "fcgi/follow.h"
#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"
#include "service/a2a/a2a_follow.h"

#define VERSION_PARAM "HTTP_A2A_VERSION"

static struct a2a_post a2a_post_of(const struct request *rq)
{
	return (struct a2a_post){
	    .body = rq->body, .version = param_find(rq->client->params, VERSION_PARAM)};
}

void post_a2a(struct request *rq)
{
	struct reply_stream stream;
	struct a2a_post post = a2a_post_of(rq);
	reply_events_init(&stream, rq);
	post.sink = &stream.sink;
	if (!a2a_answer(&rq->call, &post))
		reply_error(rq);
	else if (post.answer)
		reply_bare(rq, post.answer);
	else if (post.followed)
		follow_task(rq, &post.followed->record, post.followed->spec);
}

cJSON *a2a_error_body(struct request *rq, const struct error_view *view)
{
	const struct a2a_post post = a2a_post_of(rq);
	return a2a_error(&rq->call, &post, view);
}

void get_agent_card(struct request *rq)
{
	const char *version = param_find(rq->client->params, VERSION_PARAM);
	response_header(rq, "Vary", "A2A-Version");
	reply_bare(rq, a2a_card(&rq->call, version, head_base(&rq->head, rq->call.arena)));
}
