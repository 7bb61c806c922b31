/* SPDX-License-Identifier: ISC */
/*
 * One connection of the relay, and what its two sides ask of each other.
 *
 * The sides end independently: the client's stays until the client has closed its end, the helper's
 * until the helper has said BYE.  The connection ends with the second of them.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_CONNECTION_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_CONNECTION_H

#include "base/buf.h"
#include "base/error.h"
#include "ws-bridge/record.h"
#include "ws-bridge/relay/relay.h"
#include "ws-bridge/relay/relay_frames.h"
#include "ws-bridge/relay/relay_handshake.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * ---- relay_link.c: one non-blocking socket of the relay.  Bytes to be written wait in a buffer,
 * which takes memory only while there are any.
 */

struct link {
	int fd; /* -1: none, or closed */
	int epoll;
	uint32_t armed; /* the events that epoll watches for */
	bool ending;    /* the peer has sent its last byte: only what has arrived is left to read */
	bool watched;   /* epoll knows fd */
	struct buf out; /* append here, then call link_flush */
	size_t sent;    /* bytes of out that were written */
	int64_t received; /* when bytes last came, in milliseconds */
	int64_t moved;    /* when bytes last went */
};

/* Takes fd over, which must not block. */
void link_open(struct link *link, int epoll, int fd, int64_t now);

/* Closes the socket and forgets what was not sent; does nothing to a closed link. */
void link_close(struct link *link);

/* Reads up to size bytes; returns what read(2) would, so -1 with EAGAIN when there are none now. */
ssize_t link_read(struct link *link, char *to, size_t size, int64_t now);

/* Writes as much as the socket takes.  False when the peer takes nothing any more; what waited for
 * it is dropped then. */
bool link_flush(struct link *link, int64_t now);

/* Bytes that wait to be written. */
size_t link_backlog(const struct link *link);

/* Has epoll watch for input if read is set, for room if there is a backlog, and for the peer's end;
 * target is what epoll reports then.  Once the peer is ending it always watches for input, of which
 * there is only so much left. */
void link_watch(struct link *link, bool read, void *target);

#define HANDSHAKE_MS 10000      /* a client has so long to send its head, a helper to be ready */
#define LAST_WORDS_MS 5000      /* a client has so long to take what waits for it before the end */
#define RELAY_CHUNK 65536       /* bytes read at once */
#define HELPER_MARK (256 << 10) /* when so many bytes wait for a helper, its client is not read */

enum client_stage {
	CLIENT_HEAD, /* its request has not arrived yet */
	CLIENT_HELD, /* it waits for the answer */
	CLIENT_OPEN,
	CLIENT_CLOSING,   /* the last bytes are being sent to it */
	CLIENT_LINGERING, /* it was sent all of them, and has to close its end */
	CLIENT_GONE
};

enum helper_stage {
	HELPER_NONE,
	HELPER_CONNECTING,
	HELPER_ANSWERING, /* websocketd has not answered the handshake yet */
	HELPER_CHECKING,  /* the helper has not said READY yet */
	HELPER_OPEN,
	HELPER_LEAVING, /* it was told GONE, and has to say BYE */
	HELPER_GONE
};

/* One side of a connection, which is what epoll reports. */
struct side {
	struct connection *connection;
	struct link link;
	struct frames *frames; /* NULL before the handshake */
	struct buf head;       /* what has come of the handshake */
	int64_t deadline;      /* 0: none */
};

struct connection {
	struct relay *relay;
	struct connection *previous, *next;
	struct side client, helper;
	enum client_stage client_stage;
	enum helper_stage helper_stage;
	char accept[HANDSHAKE_ACCEPT_SIZE];        /* what the client is told */
	char helper_accept[HANDSHAKE_ACCEPT_SIZE]; /* what websocketd has to answer */
	char *request_id, *user, *subprotocol;     /* of the ticket; user is NULL if not verified */
	bool has_slot;
	bool live; /* it is a socket of a live agent */
	bool hold; /* the helper wants nothing from the client for now */
	int gone;  /* the code with which the client left, for a helper that cannot hear it yet */
	int64_t pinged; /* when the last ping was sent */
	int64_t clear;  /* when there was last nothing waiting for the client */
};

/* Adds a connection for a client that was just accepted, and takes fd over. */
void connection_new(struct relay *relay, int fd);

/* What epoll reports of a side, what is due by the time, and the end of the relay. */
void connection_event(struct side *side, uint32_t events);
void connection_tick(struct connection *c);
void connection_stop(struct connection *c);

/* Frees the connections that ended. */
void connection_sweep(struct relay *relay);

/* ---- The client's side */

/* What epoll reports of the client, what is due by the time, and whether more of it is wanted
 * now. */
void client_event(struct connection *c);
void client_tick(struct connection *c);
bool client_reading(const struct connection *c);

/* Answers the handshake with 101, as the helper is ready. */
void client_accept(struct connection *c);

/* Answer a handshake that was not answered yet: with 503, or with what the helper says. */
void client_unavailable(struct connection *c);
void client_refuse_given(struct connection *c, const struct record *record);

/* Closes an open client with a close frame. */
void client_close(struct connection *c, int code, const char *reason, size_t len);

/* Makes room for so many more bytes of this connection's message among those that are not complete:
 * of users that hold more bytes in such messages than this one will, closes the client with the
 * longest message.  False when there is no such user. */
bool client_make_room(void *connection, size_t more);

/* To be called when everything that waited for the client was written. */
void client_flushed(struct connection *c);

/* Closes the client's socket and gives its slot back. */
void client_drop(struct connection *c);

/* ---- What goes to the helper */

/* Connects to websocketd for the ticket's route; false when it cannot be reached. */
bool helper_start(struct connection *c, const char *route, const char *ticket);

/* Begins a stage, which may take that long; 0: any time. */
void helper_enter(struct connection *c, enum helper_stage stage, int64_t wait_ms);

/* Passes a message of the client on to the helper. */
void helper_message(struct connection *c, bool binary, const char *data, size_t len);

/* Tells the helper that the client is gone, or is being closed, with this code. */
void helper_leave(struct connection *c, int code);

/* Closes the connection to websocketd. */
void helper_drop(struct connection *c);

/* ---- What comes from the helper, and the time */

/* Acts on what the socket to websocketd has; on the time, when the helper is late; and whether that
 * socket is to be read: not while a slow client holds up too much. */
void helper_event(struct connection *c);
void helper_tick(struct connection *c);
bool helper_reading(const struct connection *c);

#endif
