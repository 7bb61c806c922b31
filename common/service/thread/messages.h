/* SPDX-License-Identifier: ISC */
/* Storing messages outside of runs: POST messages and PUT state
 * (doc/protocol-threads.md#messages). */
#ifndef AGENTGRAPH_SERVICE_THREAD_MESSAGES_H
#define AGENTGRAPH_SERVICE_THREAD_MESSAGES_H

#include "service/thread/change.h"

/* In a body that was made of a request of another form: a member of a message, its path there. */
#define MESSAGE_AT "at"

/* Reads messages into an array in output form, in the arena; NULL with every mistake set.  where is
 * their path, such as "body.messages"; NULL: each says its own (MESSAGE_AT). */
cJSON *messages_read(struct call *call, const cJSON *messages, const char *where);

/* Says for each message of an array whether one before it has the same id; in the arena. */
bool *messages_repeated(struct call *call, const cJSON *messages);

/* Says what the thread has of each message of an array, or of those whose asked is set (NULL: all);
 * in the arena.  NULL with the error set. */
const struct message_known *messages_known(
    struct call *call, const struct thread *thread, const cJSON *messages, const bool *asked);

/*
 * Deletes those messages of the change's thread whose ids are given (an array), or all of them.
 * adds (may be NULL) are messages that are to follow; asked as for messages_known.  False, and
 * nothing deleted, with "Message not found" where the thread has no message of one of the ids, or
 * with THREAD_TOO_LARGE where it would have no room for adds.
 */
bool messages_drop(
    struct change *change, const cJSON *ids, bool all, const cJSON *adds, const bool *asked);

/*
 * Stores the change's thread and those of messages (may be NULL) that it does not have; those that
 * had left the context enter it again.  ids, when not NULL, gets the ids of the messages that were
 * stored.
 */
bool messages_store(struct change *change, const cJSON *messages, cJSON *ids);

#endif
