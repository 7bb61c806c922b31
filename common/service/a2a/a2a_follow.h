/* SPDX-License-Identifier: ISC */
/* Tasks that are subscribed to (doc/protocol-a2a.md#streams): who may, and what agentgraph-follow
 * tells them. */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_FOLLOW_H
#define AGENTGRAPH_SERVICE_A2A_A2A_FOLLOW_H

#include "service/a2a/a2a_request.h"
#include "storage/runs.h"

/* What is to be followed, in the arena of the call. */
struct a2a_followed {
	struct run_record record;
	const char *spec; /* for a2a_follower_new; NULL: nothing, the answer was streamed */
};

/* False with the error set: no such task, or one that is over. */
bool a2a_subscribe(struct call *call, struct a2a_post *post, const struct a2a_request *rq,
    struct a2a_followed *followed);

/* One reader of kept chunks, lines as they are shown at low granularity. */
struct a2a_follower;

/* send gets a response of JSON-RPC each; NULL where spec is none. */
struct a2a_follower *a2a_follower_new(struct service *service, const char *spec,
    void (*send)(void *arg, const char *json, size_t len), void *arg);
void a2a_follower_free(struct a2a_follower *follower); /* NULL is fine */

/* The task as it is now; then what comes, cut anywhere; then its state, unless that was told, and
 * of a run whose chunks are not kept before that what the task has made. */
void a2a_follower_begin(struct a2a_follower *follower);
void a2a_follower_read(struct a2a_follower *follower, const char *text, size_t len);
void a2a_follower_end(struct a2a_follower *follower, bool kept);

#endif
