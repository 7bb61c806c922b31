/* SPDX-License-Identifier: ISC */
/*
 * What both kinds of sockets are made of: records that come in and go out, signals, and the end of
 * a connection.  Only the main thread uses it, but for the output.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_SOCKET_H
#define AGENTGRAPH_WS_BRIDGE_WS_SOCKET_H

#include "ws-bridge/record.h"
#include "ws-bridge/ws_input.h"
#include "ws-bridge/ws_output.h"
#include "ws-bridge/ws_session.h"

#include <poll.h>

#define WS_TRIM_AFTER 1000 /* milliseconds of rest before free memory is given back */

struct ws_socket {
	struct input in;
	struct output out;
	struct buf record; /* the one that is being made */
	int signals;
	unsigned interrupts; /* signals that came */
	bool gone;           /* the client is */
	bool bye;            /* BYE was sent */
	bool dirty;          /* something was done since free memory was last given back */
};

/* Takes standard input and output, and says READY.  No text or data of the client has more than
 * longest bytes as it stands in a record. */
void ws_socket_open(struct ws_socket *s, const struct session_setup *setup, size_t longest);
void ws_socket_release(struct ws_socket *s);

/* Sends s->record. */
void ws_socket_send(struct ws_socket *s);

enum ws_said {
	WS_NOTHING, /* all lines that have come were handed out */
	WS_TEXT,    /* data and len of the record are set; they are valid until the next call */
	WS_BINARY,  /* likewise */
	WS_LARGE_TEXT,
	WS_LARGE_BINARY, /* it was over the limit, and is gone */
	WS_GONE,         /* the client is; s->gone is set */
	WS_NONSENSE /* the relay and this program do not understand each other; this was logged */
};

/* The next thing that the relay has said; input_read reads more. */
enum ws_said ws_socket_next(struct ws_socket *s, struct record *record);

/* What poll is to wait for. */
enum { WS_FD_IN, WS_FD_OUT, WS_FD_WAKE, WS_FD_TIMER, WS_FD_SIGNALS, WS_FDS };

/* Fills fds for poll. */
void ws_socket_watch(struct ws_socket *s, struct pollfd fds[WS_FDS]);

/* Writes what can be written, and counts signals, after poll; the input is the caller's. */
void ws_socket_polled(struct ws_socket *s, const struct pollfd fds[WS_FDS]);

/* Gives free memory back: an idle connection should cost little, whatever its runs had needed. */
void ws_socket_trim(struct ws_socket *s);

/* Called when nothing is in hand: says BYE to the relay if the client is gone.  True when all was
 * written, and the input is at its end or a second signal has come. */
bool ws_socket_is_over(struct ws_socket *s);

#endif
