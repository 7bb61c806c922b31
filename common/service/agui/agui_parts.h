/* SPDX-License-Identifier: ISC */
/* What AG-UI events are made of: known tool calls, results as text, interrupts
 * (doc/protocol-ag-ui.md#events). */
#ifndef AGENTGRAPH_SERVICE_AGUI_AGUI_PARTS_H
#define AGENTGRAPH_SERVICE_AGUI_AGUI_PARTS_H

#include "base/buf.h"
#include "service/run/turn.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/*
 * Whether a message of the thread other than message_id, as it was stored when the turn began or
 * since, asks for that call.  A thread that cannot be read knows none; the log says so.
 */
bool agui_call_is_known(const struct turn *turn, const char *message_id, const char *call_id);

/* Appends the content of a tool_result block as a browser sees it: always text. */
void agui_put_output(struct buf *out, const cJSON *block);

/*
 * Appends a stored message as AG-UI has it, where it has one: of a tool message one for each of its
 * results.  What has been appended before is followed by a comma.
 */
void agui_put_message(struct buf *out, const cJSON *message);

/* The id in AG-UI of the message that a tool_result block becomes: that of its own message for the
 * first of its results. */
void agui_put_result_id(struct buf *out, const cJSON *message, const cJSON *block);

/* The outcome of a run that paused at interrupt (doc/protocol-messages.md#interrupts) in AG-UI's
 * names and without what is null, a new tree. */
cJSON *agui_outcome(const cJSON *interrupt);

#endif
