/* SPDX-License-Identifier: ISC */
/* Messages, parts and artifacts of the protocol (doc/protocol-a2a.md#parts), to and from the
 * service's messages. */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_MESSAGE_H
#define AGENTGRAPH_SERVICE_A2A_A2A_MESSAGE_H

#include "service/service.h"

/* A message of a client. */
struct a2a_said {
	const char *message_id;
	const char *task_id; /* NULL: none */
	cJSON *message;      /* in the form that a run takes, in the arena */
	const cJSON *data;   /* the only part, if that is data; else NULL */
};

/* Reads params.message; false with every mistake in call->error. */
bool a2a_message_read(struct call *call, bool old, const cJSON *message, struct a2a_said *said);

/* Appends the parts that stand for a content, an array of blocks, to an array. */
void a2a_parts_add(cJSON *parts, bool old, const cJSON *content);

/* A part with a text, a new tree. */
cJSON *a2a_text_part(bool old, const char *text);

/* An artifact without parts, or a message of the agent's; new trees. */
cJSON *a2a_artifact(const char *id);
cJSON *a2a_agent_message(bool old, const char *id, const char *context_id, const char *task_id);

/* A stored user message as a history shows it, a new tree. */
cJSON *a2a_user_message(
    bool old, const cJSON *message, const char *context_id, const char *task_id);

#endif
