/* SPDX-License-Identifier: ISC */
/*
 * Push notifications (doc/protocol-a2a.md#push-notifications): who is told by a request how a task
 * goes on, in the words of the version that asked for it.
 */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_PUSH_H
#define AGENTGRAPH_SERVICE_A2A_A2A_PUSH_H

#include "service/a2a/a2a_task.h"

/* For storage.pushes; NULL where the configuration names no address that may be told. */
const struct push_words *a2a_push_words(const struct config *config);

/*
 * Reads the configuration that came with a message, at that place of params; given NULL is fine.
 * *push is NULL then, else in the arena, without its task.  False with the error set.
 */
bool a2a_push_given(struct call *call, const struct a2a_request *rq, const char *at,
    const cJSON *given, struct push **push);

/* Its task is the one of that id, of which there is nothing yet. */
void a2a_push_of_new(struct push *push, const char *task_id);

/* Adds it to a task that there is; NULL is fine.  False with the error set. */
bool a2a_push_add(struct call *call, struct push *push, const struct a2a_task *task);

/* The methods; NULL with the error set. */
cJSON *a2a_push_set(struct call *call, const struct a2a_request *rq);
cJSON *a2a_push_get(struct call *call, const struct a2a_request *rq);
cJSON *a2a_push_list(struct call *call, const struct a2a_request *rq);
cJSON *a2a_push_remove(struct call *call, const struct a2a_request *rq);

#endif
