/* Messages as AG-UI clients write them (doc/protocol-ag-ui.md#what-is-new). */
#ifndef AGENTGRAPH_SERVICE_AGUI_MESSAGE_H
#define AGENTGRAPH_SERVICE_AGUI_MESSAGE_H

#include "service/service.h"

/*
 * The message of a run (doc/protocol-messages.md#messages, output form) that the user or tool
 * message item stands for, a new tree; NULL with every mistake in call->error.  at is where it
 * stands: "messages[3]".
 */
cJSON *agui_message_read(struct call *call, const cJSON *item, const char *at);

/*
 * One mistake in the body of POST /v1/ag-ui: "Invalid AG-UI RunAgentInput: <field>: <expected>".
 * type as for error_field.  Returns false.
 */
bool agui_invalid(struct call *call, const char *field, const char *type, const char *expected);

#endif
