/* SPDX-License-Identifier: ISC */
/* Tool calls that a person allows before they are made. */
#ifndef AGENTGRAPH_GRAPH_NODES_TOOLS_APPROVAL_H
#define AGENTGRAPH_GRAPH_NODES_TOOLS_APPROVAL_H

#include "graph/run_internal.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Asks for those of the calls, tool_call blocks, whose tools need it: the run pauses for the reason
 * "tool_approval" with {"calls": [{id, name, args}]}.  AG_OK when the calls may go on:
 * approval_declined then tells which of them were refused.  The answers true and {"approve": true}
 * allow all, {"approve": [id, …]} those, anything else none.  Beside approve may stand
 * {"arguments": {id: {…}}}: other arguments for calls that it allows.
 */
ag_result approval_ask(ag_run *run, const cJSON *const *calls, size_t count);

/* Whether the call of that id was refused in this step. */
bool approval_declined(const ag_run *run, const char *call_id);

/* What a person replaced that call's arguments with, any JSON; NULL: they are as they were. */
const cJSON *approval_arguments(const ag_run *run, const char *call_id);

/* The output of a call with replaced arguments, as the model is told: it asked for others, so it
 * gets both.  output is taken over. */
cJSON *approval_output(const cJSON *arguments, cJSON *output);

#endif
