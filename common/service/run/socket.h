/* SPDX-License-Identifier: ISC */
/*
 * The turn socket (doc/protocol-sockets.md#frames): one client frame in, StreamChunks out.
 *
 * A frame is read into the body of a run, and from there on it is the run of /v1/graph/stream.  A
 * frame that is refused gives exactly one error chunk and no terminator, and the socket goes on.
 */
#ifndef AGENTGRAPH_SERVICE_RUN_SOCKET_H
#define AGENTGRAPH_SERVICE_RUN_SOCKET_H

#include "service/run/runs.h"

/* What follows a frame. */
enum socket_next {
	SOCKET_GOES_ON,
	SOCKET_EXPIRED /* the chunk was sent; close 1008 `Session expired` */
};

/* What the handshake of a socket says about all its frames. */
struct socket_session {
	int64_t credential_exp; /* Unix seconds, 0: never */
	const char *path;       /* of the handshake */
	const char *address;    /* the client's */
};

/* Handles one text frame of len bytes.  The call serves this frame alone. */
enum socket_next socket_frame(struct call *call, const struct socket_session *session,
    const char *text, size_t len, struct chunk_sink *sink);

/* Answers a frame that cannot be handled with the call's error.  Its len bytes say which thread it
 * asks for; there are none of a frame that is not read. */
void socket_refuse(struct call *call, const char *text, size_t len, struct chunk_sink *sink);

/* Answers a frame that is not read: it is binary, or larger than MAX_REQUEST_SIZE. */
void socket_refuse_binary(struct call *call, struct chunk_sink *sink);
void socket_refuse_large(struct call *call, struct chunk_sink *sink);

/* The chunk that a live graph is refused with before close 1008
 * (doc/protocol-sockets.md#frames). */
void socket_refuse_live(struct call *call, struct chunk_sink *sink);

#endif
