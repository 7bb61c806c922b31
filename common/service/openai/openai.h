/* SPDX-License-Identifier: ISC */
/* OpenAI's chat completions (doc/protocol-openai.md): clients of chat models talk to the graph, by
 * a turn like any other. */
#ifndef AGENTGRAPH_SERVICE_OPENAI_OPENAI_H
#define AGENTGRAPH_SERVICE_OPENAI_OPENAI_H

#include "service/run/runs.h"

struct openai_chat {
	const cJSON *body;
	const char *thread_id;   /* the header X-Thread-ID; "" where it is absent */
	struct chunk_sink *sink; /* the sink for a stream */

	/* Set by openai_chat: */
	cJSON *answer; /* the whole answer; NULL: it was streamed */
	bool ran;      /* nodes have run, and would run again if the client repeated the request */
};

/*
 * POST /v1/chat/completions: sets the answer, or sends all chunks.  False with call->error set, and
 * nothing sent, when the request was refused, or a run failed that was not streamed.
 */
bool openai_chat(struct call *call, struct openai_chat *chat);

/* GET /v1/models, and one of them; NULL with call->error set when there is no such model. */
cJSON *openai_models(struct call *call);
cJSON *openai_model_view(struct call *call, const char *name);

/* The body of an answer with an error, in the call's arena; the details of the call's error say
 * which parameter it is about. */
cJSON *openai_error(struct call *call, const struct error_view *view);

#endif
