/* SPDX-License-Identifier: ISC */
/*
 * One connection of the relay, and what its two sides ask of each other.
 *
 * The sides end independently: the client's lingers until its close frame has arrived, the helper's
 * until it has said BYE.  When both are gone so is the connection.
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
 * ---- relay_link.c: one non-blocking socket of the relay: what is to be written waits in a buffer
 * that exists only while it has something in it.
 */

struct link {
	int fd; /* -1: none, or closed */
	int epoll;
	uint32_t armed; /* the events it waits for */
	bool ending;    /* the peer has sent its last byte: what is there can be read without end in
			   sight of more */
	bool watched;   /* epoll knows it */
	struct buf out; /* append here, then call link_flush */
	size_t sent;    /* bytes of out that are gone */
	int64_t received; /* when bytes last came, in milliseconds */
	int64_t moved;    /* when bytes last went */
};

/* Takes fd over, which must not block. */
void link_open(struct link *link, int epoll, int fd, int64_t now);

/* Closes, and forgets what was not sent; fine on a closed link. */
void link_close(struct link *link);

/* What read(2) says, up to size bytes: -1 also when there is nothing to read now (EAGAIN). */
ssize_t link_read(struct link *link, char *to, size_t size, int64_t now);

/* Writes what the socket takes.  False when the peer takes nothing any more; what waited is
 * dropped. */
bool link_flush(struct link *link, int64_t now);

/* Bytes that wait to be written. */
size_t link_backlog(const struct link *link);

/* Waits for input if read, for room if there is a backlog, and for the end in any case; target is
 * what epoll reports.  Once the peer is ending, input is always waited for: it is finite. */
void link_watch(struct link *link, bool read, void *target);

#define HANDSHAKE_MS 10000 /* for a client's head, and for a helper to be ready */
#define LAST_WORDS_MS 5000 /* for a client to take what waits for it before the end */
#define RELAY_CHUNK 65536  /* bytes read at once */
#define HELPER_MARK                                                                   \
	(256 << 10) /* bytes that may wait for a helper before its client is not read \
		     */

enum client_stage {
	CLIENT_HEAD, /* its request is not there yet */
	CLIENT_HELD, /* it waits for the answer */
	CLIENT_OPEN,
	CLIENT_CLOSING,   /* the last bytes for it are on their way */
	CLIENT_LINGERING, /* it has all of them, and we wait for its end */
	CLIENT_GONE
};

enum helper_stage {
	HELPER_NONE,
	HELPER_CONNECTING,
	HELPER_ANSWERING, /* websocketd's answer is not there yet */
	HELPER_CHECKING,  /* the helper's READY is not there yet */
	HELPER_OPEN,
	HELPER_LEAVING, /* it was told GONE, and has BYE to say */
	HELPER_GONE
};

/* What epoll reports. */
struct side {
	struct connection *connection;
	struct link link;
	struct frames *frames; /* NULL before the handshake */
	struct buf head;       /* what came before it */
	int64_t deadline;      /* 0: none */
};

struct connection {
	struct relay *relay;
	struct connection *previous, *next;
	struct side client, helper;
	enum client_stage client_stage;
	enum helper_stage helper_stage;
	char accept[HANDSHAKE_ACCEPT_SIZE];        /* for the client */
	char helper_accept[HANDSHAKE_ACCEPT_SIZE]; /* expected from websocketd */
	char *request_id, *user, *subprotocol;     /* of the ticket; user: a verified one */
	bool has_slot;
	bool live;      /* the slot is one of a live agent */
	bool hold;      /* the helper wants nothing from the client for now */
	int gone;       /* the client's code, to be told as soon as the helper can hear it */
	int64_t pinged; /* when the last ping was sent */
	int64_t clear;  /* when nothing was seen to wait for the client */
};

/* A new connection from fd. */
void connection_new(struct relay *relay, int fd);

/* Handles what epoll reported, the time, and the end of the relay. */
void connection_event(struct side *side, uint32_t events);
void connection_tick(struct connection *c);
void connection_stop(struct connection *c);

/* Frees those that ended. */
void connection_sweep(struct relay *relay);

/* ---- The client's side */

/* Handles readiness and the time of its socket; reading says whether more of it is wanted now. */
void client_event(struct connection *c);
void client_tick(struct connection *c);
bool client_reading(const struct connection *c);

/* The helper is ready: 101. */
void client_accept(struct connection *c);

/* Answer a handshake that has no answer yet: with 503, with what the helper says. */
void client_unavailable(struct connection *c);
void client_refuse_given(struct connection *c, const struct record *record);

/* Ends it with a close frame, when it is open. */
void client_close(struct connection *c, int code, const char *reason, size_t len);

/* Where its message of so many bytes more does not fit among those that are not complete: closes
 * the longest one of whoever holds more of them than it does; false: nobody does. */
bool client_make_room(void *connection, size_t more);

/* Everything waiting for it was written. */
void client_flushed(struct connection *c);

/* Closes its socket and gives its slot back. */
void client_drop(struct connection *c);

/* ---- What goes to the helper */

/* Connects to websocketd for the ticket's route; false when that is out of reach. */
bool helper_start(struct connection *c, const char *route, const char *ticket);

/* Begins a stage, which may take that long; 0: without end. */
void helper_enter(struct connection *c, enum helper_stage stage, int64_t wait_ms);

/* Passes a client's message on. */
void helper_message(struct connection *c, bool binary, const char *data, size_t len);

/* The client is gone, or is being closed, with this code. */
void helper_leave(struct connection *c, int code);

/* Closes the connection to websocketd. */
void helper_drop(struct connection *c);

/* ---- What comes from the helper, and the time */

void helper_event(struct connection *c);
void helper_tick(struct connection *c);
bool helper_reading(const struct connection *c);

#endif
