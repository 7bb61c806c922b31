/* SPDX-License-Identifier: ISC */
/*
 * One side's WebSocket (RFC 6455, 5): bytes in, whole messages out, and the other way round.
 *
 * wslay takes the frames apart; this file puts the fragments of a message together in one flat
 * buffer, with a limit on the whole.  It owns no socket: bytes to be sent are appended to a buf.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_FRAMES_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_FRAMES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct frames;

enum frames_role {
	FRAMES_OF_CLIENT, /* the relay is the server: frames come masked */
	FRAMES_OF_SERVER  /* the relay is the client: it masks, with zeroes */
};

/* Called for each message; it may change data, but not feed or free the frames.  After false
 * nothing more is read. */
typedef bool frames_message(void *arg, bool binary, char *data, size_t len);

#define FRAMES_SMALL 65536  /* no message up to this length is refused for want of room */
#define FRAMES_CROWDED 1013 /* closes one that is: Try Again Later; wslay has no name for it */

/* The bytes that messages which are not complete take, over all connections.  If more do not fit
 * make is called, unless it is NULL, to close another connection; false when it closed none. */
struct frames_room {
	size_t used, max; /* bytes */
	bool (*make)(void *arg, size_t more);
};

struct frames_setup {
	enum frames_role role;
	size_t limit;             /* of the longest message */
	struct frames_room *room; /* shared with others, or NULL */
	struct buf *out;          /* gets what is to be sent */
	frames_message *on_message;
	void *arg; /* of on_message, and of the room's make */
};

/* The setup is copied; what it points to stays valid. */
struct frames *frames_new(const struct frames_setup *setup);
void frames_free(struct frames *frames);

/*
 * Reads bytes that came.  Pings are answered, as long as the peer takes the answers.  A close frame
 * is answered with its own code, or with 1000 if it has none; a violation of the protocol with
 * 1002, text that is not UTF-8 with 1007, a message over the limit with 1009, and one for which
 * there is no room with 1013, each as soon as it is known.  After any of these nothing more is
 * read, and the result is false; frames_code says why.
 */
bool frames_feed(struct frames *frames, const char *data, size_t len);

/* Bytes of the message that is not complete; 0 when there is none. */
size_t frames_held(const struct frames *frames);

/* The code of the peer's close frame (1005: it had none), else the one that was sent to it; 0 while
 * both sides are open. */
int frames_code(const struct frames *frames);

/* Appends the beginning of a text message (RFC 6455, 5.4: a fragment) to a client; others, or the
 * text message that ends it, follow. */
void frames_begin(struct frames *frames, const char *data, size_t len);

/* Whether such a message was begun and not ended. */
bool frames_begun(const struct frames *frames);

/* Append a message, a ping, a close frame; nothing after a close frame. */
void frames_send(struct frames *frames, bool binary, const char *data, size_t len);
void frames_ping(struct frames *frames);
void frames_close(struct frames *frames, int code, const char *reason, size_t len);

#endif
