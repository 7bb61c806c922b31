/* SPDX-License-Identifier: ISC */
/* Messages as LangGraph's clients write and read them (doc/protocol-langgraph.md#messages). */
#ifndef AGENTGRAPH_SERVICE_LANGGRAPH_LG_MESSAGE_H
#define AGENTGRAPH_SERVICE_LANGGRAPH_LG_MESSAGE_H

#include "service/service.h"

/* Appends what stands before a value in its object, and the value: a text, or null, or a number. */
void lg_put_text(struct buf *out, const char *before, const char *text);
void lg_put_number(struct buf *out, const char *before, int64_t number);

/* Appends a message in output form, or a piece of one, as such a client reads it. */
void lg_message_write(struct buf *out, const cJSON *message);

/* The same as an item of a tree, which is text that only prints; a new one. */
cJSON *lg_message_view(const cJSON *message);

/* Appends the same of a stored message, of which json is the text. */
void lg_message_put(struct buf *out, const char *json);

/*
 * What one message, or an array of them, stands for as input of a run or of a state: an array of
 * messages that run_input_read takes, in the arena.  at is where they stand: "body.input.messages".
 * NULL with every mistake in call->error.
 */
cJSON *lg_messages_read(struct call *call, const cJSON *messages, const char *at);

#endif
