/* SPDX-License-Identifier: ISC */
/* Messages that are stored outside runs: POST messages and PUT state
 * (doc/protocol-threads.md#messages). */
#ifndef AGENTGRAPH_SERVICE_THREAD_MESSAGES_H
#define AGENTGRAPH_SERVICE_THREAD_MESSAGES_H

#include "service/thread/change.h"

/* An array of messages in output form, in the arena; NULL with every mistake set.  where:
 * "body.messages". */
cJSON *messages_read(struct call *call, const cJSON *messages, const char *where);

/* For each message of an array whether one before it has the same id; in the arena. */
bool *messages_repeated(struct call *call, const cJSON *messages);

/* What the thread has of each message of an array, or of those that are asked for (NULL: of all);
 * in the arena.  NULL with the error set. */
const struct message_known *messages_known(
    struct call *call, const struct thread *thread, const cJSON *messages, const bool *asked);

/*
 * Stores those of messages (or NULL) that the thread does not have, and lets those that had left
 * the context enter again, together with the change's thread.  ids, when not NULL, gets the ids of
 * what was stored.
 */
bool messages_store(struct change *change, const cJSON *messages, cJSON *ids);

#endif
