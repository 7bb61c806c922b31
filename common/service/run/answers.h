/* SPDX-License-Identifier: ISC */
/* Results in a run's input: answers to remote calls that wait at the client
 * (doc/protocol-runs.md#tools-at-the-client).  They come in tool messages alone. */
#ifndef AGENTGRAPH_SERVICE_RUN_ANSWERS_H
#define AGENTGRAPH_SERVICE_RUN_ANSWERS_H

#include "service/run/run_input.h"
#include "service/service.h"

/*
 * Matches the tool messages of bring with the waiting calls.  Calls that are answered leave calls;
 * plain text becomes the result of the only call; the answers move before the other messages.
 * *answered counts them.  False with INVALID_INPUT set.
 */
bool answers_match(struct call *call, cJSON *bring, cJSON *calls, int *answered);

/* The id of the call that the first result of a message answers, or NULL when it has none. */
const char *answers_call(const cJSON *message);

/* Puts an error result for every call before the messages of bring:
 * a new turn closes what waited. */
void answers_close(struct call *call, cJSON *bring, const cJSON *calls);

/* Refuses tool messages, and results in others, where nothing waits. */
bool answers_none_waiting(struct call *call, const cJSON *bring);

/*
 * Takes results of calls that the thread has answers of already, or that are for the server's
 * tools, out of the messages of a request: clients repeat those of the step they are in, and invent
 * those of a call that a stop or a failure left open.  False with the error set.
 */
bool answers_drop_known(struct call *call, const struct thread *thread, struct run_input *in);

#endif
