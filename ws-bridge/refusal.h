/* SPDX-License-Identifier: ISC */
/* The JSON body of the answer to a handshake that is refused
 * (doc/protocol-errors.md#error-body, doc/protocol-sockets.md#the-handshake). */
#ifndef AGENTGRAPH_WS_BRIDGE_REFUSAL_H
#define AGENTGRAPH_WS_BRIDGE_REFUSAL_H

#include "base/error.h"

/*
 * The error body with the close code that the status stands for; malloc'd, one line.  The detail
 * is that of err, or the kind's fixed text; the cause is not told.
 */
char *refusal_json(const struct error *err, const char *request_id);

#endif
