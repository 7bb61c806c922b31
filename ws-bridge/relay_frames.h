/*
 * One side's WebSocket (RFC 6455, 5): bytes in, whole messages out, and the other way round.
 *
 * wslay takes the frames apart; this puts the fragments of a message together in one flat buffer,
 * with a limit on the whole.  It owns no socket: what is to be sent is appended to a buf.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_FRAMES_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_FRAMES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct frames;

enum frames_role {
	FRAMES_OF_CLIENT, /* the relay is the server: frames come masked */
	FRAMES_OF_SERVER  /* the relay is the client: it masks, with zeroes */
};

/* Called for each message; it may change data, but not feed or free the frames.  False stops:
 * nothing more is read. */
typedef bool frames_message(void *arg, bool binary, char *data, size_t len);

/* limit is the longest message; out gets what is to be sent.  Both pointers stay valid. */
struct frames *frames_new(
    enum frames_role role, size_t limit, struct buf *out, frames_message *message, void *arg);
void frames_free(struct frames *frames);

/*
 * Reads bytes that came.  Pings are answered.  A close frame is answered with its own code, 1000
 * when it has none; a broken protocol with 1002, text that is not UTF-8 with 1007, a message over
 * the limit with 1009, each as soon as it is known.  After any of these nothing more is read, and
 * the result is false; frames_code says why.
 */
bool frames_feed(struct frames *frames, const char *data, size_t len);

/* The code of the peer's close frame (1005: it had none), else the one that was sent to it; 0 while
 * both sides are open. */
int frames_code(const struct frames *frames);

/* Append a message, a ping, a close frame; nothing after a close frame. */
void frames_send(struct frames *frames, bool binary, const char *data, size_t len);
void frames_ping(struct frames *frames);
void frames_close(struct frames *frames, int code, const char *reason, size_t len);

#endif
