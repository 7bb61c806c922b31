/* SPDX-License-Identifier: ISC */
/* Subscribing to tasks (doc/protocol-a2a.md#streams): who may, and what agentgraph-follow tells
 * them. */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_FOLLOW_H
#define AGENTGRAPH_SERVICE_A2A_A2A_FOLLOW_H

#include "service/a2a/a2a_request.h"
#include "storage/runs.h"

/* The run to follow, in the call's arena. */
struct a2a_followed {
	struct run_record record;
	const char *spec; /* for a2a_follower_new; NULL: there is nothing to follow, the answer was
			     streamed */
};

/* Reads the request and finds the run.  False with the error set when there is no such task, or it
 * is over. */
bool a2a_subscribe(struct call *call, struct a2a_post *post, const struct a2a_request *rq,
    struct a2a_followed *followed);

/* Tells one client kept chunks, which it is given as lines of granularity low. */
struct a2a_follower;

/* send is called with each response of JSON-RPC.  NULL where spec is not valid. */
struct a2a_follower *a2a_follower_new(struct service *service, const char *spec,
    void (*send)(void *arg, const char *json, size_t len), void *arg);
void a2a_follower_free(struct a2a_follower *follower); /* NULL is fine */

/* Tells the task as it is now; then lines as they come, cut anywhere; in the end the task's state,
 * unless that was told.  Where the chunks are not kept, what the task has made is told before
 * that. */
void a2a_follower_begin(struct a2a_follower *follower);
void a2a_follower_read(struct a2a_follower *follower, const char *text, size_t len);
void a2a_follower_end(struct a2a_follower *follower, bool kept);

#endif
