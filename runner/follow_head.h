/* SPDX-License-Identifier: ISC */
/* The requests that the web server makes, and the heads of the answers. */
#ifndef AGENTGRAPH_RUNNER_FOLLOW_HEAD_H
#define AGENTGRAPH_RUNNER_FOLLOW_HEAD_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define FOLLOW_HEAD_LONGEST 32768

/* The texts point into the head that was parsed. */
struct follow_head {
	const char *ticket; /* NULL: there was none */
	const char *waited; /* where the web server is to go after a wait, or NULL */
};

/* Takes a head of exactly len bytes apart in place.  False when it is no request. */
bool follow_head_parse(char *data, size_t len, struct follow_head *head);

/* Appends the head of a stream, whose body comes in chunks (RFC 9112 7.1). */
void follow_head_stream(struct buf *out);

/* Appends a whole answer that sends the web server to a worker with the ticket. */
void follow_head_waited(struct buf *out, const char *where, const char *ticket);

/* Appends a whole answer without a body, for a client that only waited for the end of the run. */
void follow_head_silent(struct buf *out);

/* Appends a whole answer that says what went wrong. */
void follow_head_error(struct buf *out, const struct error *err, const char *request_id);

#endif
