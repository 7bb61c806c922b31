/* SPDX-License-Identifier: ISC */
/* /v1/chat/completions and /v1/models: OpenAI's protocol (doc/protocol-openai.md). */
#include "service/openai/openai.h"

#include "fcgi/handlers/handlers.h"
#include "fcgi/request/request.h"

/* Tells clients not to repeat a turn that has run: OpenAI's own would, up to three times in all.
 * Those in a page see the header only if it is exposed. */
static void openai_ran(struct request *rq)
{
	response_header(rq, "x-should-retry", "false");
	rq->response->exposed = "x-should-retry";
}

void post_chat_completions(struct request *rq)
{
	struct reply_stream stream;
	reply_events_init(&stream, rq);
	stream.on_head = openai_ran;
	struct openai_chat chat = {.body = rq->body,
	    .thread_id = param_find(rq->client->params, "HTTP_X_THREAD_ID"),
	    .sink = &stream.sink};
	bool ok = openai_chat(&rq->call, &chat);
	if (ok && chat.answer)
		reply_bare(rq, chat.answer);
	if (ok)
		return;
	if (chat.ran)
		openai_ran(rq);
	reply_error(rq);
}

void get_models(struct request *rq)
{
	reply_bare(rq, openai_models(&rq->call));
}

void get_model(struct request *rq)
{
	reply_bare(rq, openai_model_view(&rq->call, rq->match.ids[0]));
}

cJSON *openai_error_body(struct request *rq, const struct error_view *view)
{
	return openai_error(&rq->call, view);
}
