/* SPDX-License-Identifier: ISC */
/*
 * The two heads of HTTP/1.1 that a WebSocket begins with (RFC 6455, 4), as the relay meets them:
 * the client's request, which the web server in front has normalised, and websocketd's answer.
 * Parsing is strict: whatever a normalised head cannot have is refused.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_HANDSHAKE_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_HANDSHAKE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define HANDSHAKE_LONGEST 16384 /* bytes of a head */
#define HANDSHAKE_KEY_SIZE 25   /* of these texts, with NUL */
#define HANDSHAKE_ACCEPT_SIZE 29

enum handshake_fault {
	HANDSHAKE_OK,
	HANDSHAKE_MALFORMED,
	HANDSHAKE_NO_UPGRADE, /* HTTP, but no opening of a WebSocket */
	HANDSHAKE_VERSION     /* not version 13 */
};

struct handshake {
	const char *path; /* without the query */
	const char *key;
	const char *ticket; /* NULL when there is none */
};

/* Takes a whole head apart in place; the members of handshake then point into it. */
enum handshake_fault handshake_parse(char *head, size_t len, struct handshake *handshake);

/* The status of an answer, or 0 when it is no answer of HTTP.  *good: the status is 101, and the
 * answer fits the key that accept belongs to. */
int handshake_answer(char *head, size_t len, const char *accept, bool *good);

/* A random Sec-WebSocket-Key, and the Sec-WebSocket-Accept that belongs to one. */
void handshake_key(char key[HANDSHAKE_KEY_SIZE]);
void handshake_accept(const char *key, char accept[HANDSHAKE_ACCEPT_SIZE]);

/*
 * ---- relay_refusal.c: answers of HTTP to handshakes that are not accepted
 * (doc/protocol-errors.md#error-body, doc/protocol-sockets.md#the-handshake).
 */

/* Appends the answer for an error; request_id is the handshake's, NULL: a new one is made. */
void refusal_error(struct buf *out, const struct error *err, const char *request_id);

/* Appends the answer that a helper gave: a status and a body in the same shape.  False, and nothing
 * is appended, when the body is no JSON object. */
bool refusal_given(struct buf *out, int status, const char *json, size_t len);

#endif
