/* SPDX-License-Identifier: ISC */
/* Messages to the agent (doc/protocol-a2a.md#sending): what one means for its context, and the run
 * that it begins. */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_SEND_H
#define AGENTGRAPH_SERVICE_A2A_A2A_SEND_H

#include "service/a2a/a2a_request.h"

/* The task that the message began or answered, in the arena, when its run is over, or at once where
 * that is asked for; NULL with the error set. */
cJSON *a2a_send(struct call *call, const struct a2a_request *rq);

/* The same with every event to the post's sink.  False with the error set, and nothing sent, when
 * it was refused. */
bool a2a_stream(struct call *call, struct a2a_post *post, const struct a2a_request *rq);

#endif
