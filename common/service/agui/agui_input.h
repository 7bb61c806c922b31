/* SPDX-License-Identifier: ISC */
/*
 * The body of POST /v1/ag-ui, AG-UI's RunAgentInput (doc/protocol-ag-ui.md#the-request), checked
 * and brought into the shape of a run.
 *
 * Of the conversation that a browser sends, only what follows the last assistant message is looked
 * at: the thread has the rest.
 */
#ifndef AGENTGRAPH_SERVICE_AGUI_AGUI_INPUT_H
#define AGENTGRAPH_SERVICE_AGUI_AGUI_INPUT_H

#include "graph/run.h"
#include "service/run/run_input.h"
#include "service/service.h"

struct agui_input {
	struct run_input run; /* without resume, which the thread decides on */
	const cJSON
	    *resume; /* entries that answer interrupts, an array; NULL when there are none */
	bool reads;  /* it sends nothing at all: a page that was loaded again asks what there is */
	const cJSON *state; /* what the client has of the state, an object, or NULL */
};

/*
 * Reads a body; false with every mistake in call->error.  All of it lives in the call's arena or is
 * borrowed from the body.
 */
bool agui_input_read(struct call *call, const cJSON *body, struct agui_input *in);

/* ---- messages as clients write them (doc/protocol-ag-ui.md#what-is-new) */

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
