/* SPDX-License-Identifier: ISC */
/* Answers of HTTP to handshakes that are not accepted (doc/protocol-errors.md#the-body-of-an-error,
 * doc/protocol-sockets.md#the-handshake). */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_REFUSAL_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_REFUSAL_H

#include "base/buf.h"
#include "base/error.h"

/* Appends the answer for an error; request_id is that of the handshake, NULL: a new one. */
void refusal_error(struct buf *out, const struct error *err, const char *request_id);

/* Appends the answer that a helper gave: a status and a body in the same shape.  False, and nothing
 * is appended, when the body is none. */
bool refusal_given(struct buf *out, int status, const char *json, size_t len);

#endif
