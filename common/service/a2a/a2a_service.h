/* SPDX-License-Identifier: ISC */
/*
 * The agent among agents (doc/protocol-a2a.md): a server of the Agent2Agent protocol over JSON-RPC,
 * in its versions 1.0 and 0.3.  A context is a thread, and a task is a run with those that resumed
 * it; a message starts a turn like any other.
 */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_SERVICE_H
#define AGENTGRAPH_SERVICE_A2A_A2A_SERVICE_H

#include "service/run/runs.h"

struct a2a_followed;

/* One POST. */
struct a2a_post {
	const cJSON *body;
	const char *version;     /* the header's value; "" where it is absent */
	struct chunk_sink *sink; /* the sink for an event stream */

	/* Set by a2a_answer: */
	cJSON *answer; /* the response; NULL: there is none, or it was streamed */
	bool streamed;
	/* not NULL: agentgraph-follow sends the rest of the answer */
	const struct a2a_followed *followed;
};

/* Answers a message.  False with call->error set, and nothing sent, when it was refused. */
bool a2a_answer(struct call *call, struct a2a_post *post);

/* The body of an answer with an error, a response of JSON-RPC, in the call's arena. */
cJSON *a2a_error(struct call *call, const struct a2a_post *post, const struct error_view *view);

/* The card of the agent in the version that a header names, or else in the latest, in the arena;
 * base is the address under which the client knows the service. */
cJSON *a2a_card(struct call *call, const char *version, const char *base);

#endif
