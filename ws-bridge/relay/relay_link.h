/* SPDX-License-Identifier: ISC */
/*
 * One non-blocking socket of the relay: what is to be written waits in a buffer that exists only
 * while it has something in it.
 */
#ifndef AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_LINK_H
#define AGENTGRAPH_WS_BRIDGE_RELAY_RELAY_LINK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

#endif
