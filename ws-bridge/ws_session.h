/* SPDX-License-Identifier: ISC */
/*
 * One connection, from READY to the end of the input: records in, records out.
 *
 * The rules (agentgraph-record(7)): the input is always read; a run goes on when its client is
 * gone, and BYE is sent when its result is stored; after the last record the input is read to its
 * end.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_SESSION_H
#define AGENTGRAPH_WS_BRIDGE_WS_SESSION_H

#include "access/ticket/ticket.h"
#include "service/service.h"
#include "ws-bridge/ws_output.h"

#include <stdbool.h>
#include <stddef.h>

struct session_setup {
	const struct ticket *ticket;
	int signals; /* a signalfd, or -1; after SIGINT, SIGTERM or SIGHUP there nothing begins any
		      * more, and the run in hand comes to its end */
	bool joins;  /* the reader is a relay that understands several records on one line */
};

/* Serves the turn socket on standard input and output. */
void session_run(struct service *service, const struct session_setup *setup);

/* Serves the live socket, from READY to the end of the input.  False when a tool of the graph does
 * not end: then the service must be left alone, and the process end. */
bool ws_live_run(struct service *service, const struct session_setup *setup);

/*
 * ---- ws_turns.c: the frames of one turn socket, handled one after another by a thread of their
 * own, which starts with the first.  That thread opens the storage, too: a connection that never
 * says anything costs neither.
 */

enum frame_kind { FRAME_TEXT, FRAME_BINARY, FRAME_LARGE };

enum turns_end {
	TURNS_GO_ON,
	TURNS_EXPIRED, /* the chunk was sent; the socket is to be closed */
	TURNS_FAILED   /* nothing more can be handled; the log has the cause */
};

struct turns;

/* All three are borrowed.  The answers to the frames go to out. */
struct turns *turns_new(struct service *service, const struct ticket *ticket, struct output *out);

/* Waits for the frame in hand to end; drops those that wait. */
void turns_free(struct turns *turns);

/* Takes a frame; text is copied, and not looked at unless the kind is FRAME_TEXT. */
void turns_push(struct turns *turns, enum frame_kind kind, const char *text, size_t len);

/* Forgets the frames whose turn has not come. */
void turns_drop_waiting(struct turns *turns);

struct turns_state {
	bool busy;      /* a frame is in hand */
	size_t waiting; /* frames behind it */
	size_t bytes;   /* of those */
	enum turns_end end;
};

/* Tells how things stand.  After a look with watch, every frame that is done wakes the output's
 * polling thread, until a look without it; an end of the turns does so in any case. */
struct turns_state turns_look(struct turns *turns, bool watch);

#endif
