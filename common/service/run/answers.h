/* SPDX-License-Identifier: ISC */
/* Tool results in the input of a run: answers to remote calls that wait at the client
 * (doc/protocol-runs.md#client-side-tools).  Only tool messages may have them. */
#ifndef AGENTGRAPH_SERVICE_RUN_ANSWERS_H
#define AGENTGRAPH_SERVICE_RUN_ANSWERS_H

#include "service/run/run_input.h"
#include "service/service.h"

/*
 * Matches the tool messages of bring with the waiting calls.  Answered calls are removed from
 * calls, and *answered counts them; plain text becomes the result of the only call; the answers are
 * moved before the other messages.  False with INVALID_INPUT set.
 */
bool answers_match(struct call *call, cJSON *bring, cJSON *calls, int *answered);

/* The id of the call that the first result of a message answers, or NULL when it has none. */
const char *answers_call(const cJSON *message);

/* Puts an error result for every call before the messages of bring, because a new turn closes the
 * calls that wait. */
void answers_close(struct call *call, cJSON *bring, const cJSON *calls);

/* Refuses tool messages, and results in other messages, where nothing waits. */
bool answers_none_waiting(struct call *call, const cJSON *bring);

/* Whether the thread knows all messages of a request that have calls: clients send its messages
 * again, but only the model may ask for tools.  Else, or where the storage fails, false with the
 * error set. */
bool answers_calls_known(
    struct call *call, const struct thread *thread, const struct run_input *in);

/*
 * Removes from the messages of a request results of calls that are answered in the thread already,
 * or are for the server's tools: clients repeat the results of the step that they are in, and make
 * up one for a call that a stop or a failure left open.  False with the error set.
 */
bool answers_drop_known(struct call *call, const struct thread *thread, struct run_input *in);

#endif
