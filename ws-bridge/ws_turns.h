/* SPDX-License-Identifier: ISC */
/*
 * The frames of one turn socket, handled one after another by a thread of their own, which starts
 * with the first.  That thread opens the storage, too: a connection that never says anything costs
 * neither.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_WS_TURNS_H
#define AGENTGRAPH_WS_BRIDGE_WS_TURNS_H

#include "access/ticket/ticket.h"
#include "service/service.h"
#include "ws-bridge/ws_output.h"

#include <stdbool.h>
#include <stddef.h>

enum frame_kind { FRAME_TEXT, FRAME_BINARY, FRAME_LARGE };

enum turns_end {
	TURNS_GO_ON,
	TURNS_EXPIRED, /* the chunk was sent; the socket is to be closed */
	TURNS_FAILED   /* nothing more can be handled; the log has the cause */
};

struct turns;

/* All three are borrowed.  What the frames make goes to out. */
struct turns *turns_new(struct service *service, const struct ticket *ticket, struct output *out);

/* Waits for the frame in hand; those that wait are dropped. */
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

/* How things stand.  With watch, the wake is set after every frame from now on, until a look
 * without; at an end it is set in any case. */
struct turns_state turns_look(struct turns *turns, bool watch);

#endif
