/* SPDX-License-Identifier: ISC */
/* OpenAI's chat completions over the same turn (doc/protocol-openai.md): clients of chat models
 * talk to the graph. */
#ifndef AGENTGRAPH_SERVICE_OPENAI_OPENAI_H
#define AGENTGRAPH_SERVICE_OPENAI_OPENAI_H

#include "service/run/runs.h"

struct openai_chat {
	const cJSON *body;
	const char *thread_id;   /* what the header X-Thread-ID says, "" where it is not there */
	struct chunk_sink *sink; /* where a stream goes */

	/* Set by openai_chat: */
	cJSON *answer; /* the whole one; NULL: it was streamed */
	bool ran;      /* nodes have run, and would again where a client asked again */
};

/*
 * POST /v1/chat/completions: an answer, or chunks until the last one was sent.  False with
 * call->error set, and nothing sent, when the request was refused, or the run failed that was not
 * streamed.
 */
bool openai_chat(struct call *call, struct openai_chat *chat);

/* GET /v1/models, and one of them; NULL with call->error set for one that there is not. */
cJSON *openai_models(struct call *call);
cJSON *openai_model_view(struct call *call, const char *name);

/* The body of an answer with an error, in the call's arena; the details of the call's error say
 * which parameter it is about. */
cJSON *openai_error(struct call *call, const struct error_view *view);

#endif
