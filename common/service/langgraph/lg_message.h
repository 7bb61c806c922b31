/* SPDX-License-Identifier: ISC */
/* Messages as LangGraph's clients write and read them (doc/protocol-langgraph.md#messages). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_MESSAGE_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_MESSAGE_H

#include "service/service.h"

/* Append before, which is the text in front of a value, and the value: a string (NULL: null), or a
 * number. */
void lg_put_text(struct buf *out, const char *before, const char *text);
void lg_put_number(struct buf *out, const char *before, int64_t number);

/* Appends the members of an object, each behind a comma. */
void lg_put_members(struct buf *out, const cJSON *object);

/* Appends a message in output form, or a piece of one, in the form that such a client reads. */
void lg_message_write(struct buf *out, const cJSON *message);

/* The same as a new item for a tree, which can only be printed. */
cJSON *lg_message_view(const cJSON *message);

/* The same for a stored message, whose text is json. */
void lg_message_put(struct buf *out, const char *json);

/* What messages of the type remove ask for. */
struct lg_removal {
	const char *at; /* path of the messages of the request */
	cJSON *ids;     /* of messages to be deleted, an array in the arena */
	bool all;       /* all messages of the thread are deleted, and ids is empty */
};

static inline bool lg_removes(const struct lg_removal *removal)
{
	return removal->all || cJSON_GetArraySize(removal->ids);
}

/* Whether the user may delete messages, if any are to be: what a run or an update may do is less.
 */
bool lg_may_remove(struct call *call, const char *thread_id, const struct lg_removal *removal);

/*
 * Reads one message, or an array of them, that is input of a run or a state.  Returns an array of
 * messages that run_input_read takes, each with its path (MESSAGE_AT), in the arena; NULL with
 * mistakes in call->error.  at is their path, such as "body.input.messages".  removal is filled in;
 * NULL: none may be removed.
 */
cJSON *lg_messages_read(
    struct call *call, const cJSON *messages, const char *at, struct lg_removal *removal);

#endif
