/* SPDX-License-Identifier: ISC */
/*
 * Push notifications (doc/protocol-a2a.md#push-notifications): requests that tell how a task goes
 * on, in the version of the protocol that asked for them.
 */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_PUSH_H
#define AGENTGRAPH_SERVICE_A2A_A2A_PUSH_H

#include "service/a2a/a2a_task.h"

/* For storage.pushes; NULL where the configuration allows no address. */
const struct push_words *a2a_push_words(const struct config *config);

/*
 * Reads the configuration given with a message, at place at of params.  *push is in the arena and
 * still without its task; NULL where given is.  False with the error set.
 */
bool a2a_push_given(struct call *call, const struct a2a_request *rq, const char *at,
    const cJSON *given, struct push **push);

/* Makes it a push of the task with this id, which does not exist yet. */
void a2a_push_of_new(struct push *push, const char *task_id);

/* Adds it to an existing task; push may be NULL.  False with the error set. */
bool a2a_push_add(struct call *call, struct push *push, const struct a2a_task *task);

/* The protocol's methods; each returns its result, NULL with the error set. */
cJSON *a2a_push_set(struct call *call, const struct a2a_request *rq);
cJSON *a2a_push_get(struct call *call, const struct a2a_request *rq);
cJSON *a2a_push_list(struct call *call, const struct a2a_request *rq);
cJSON *a2a_push_remove(struct call *call, const struct a2a_request *rq);

#endif
