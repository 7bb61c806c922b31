/* SPDX-License-Identifier: ISC */
/*
 * A connection of the web server as the server sees it, a struct client over libfcgi, and those
 * whose readers hold up a thread.
 *
 * libfcgi's one call to accept a connection and read the head of a request would let a connection
 * that sends nothing hold up the thread between the two, and its way to end one waits until the web
 * server has closed first.  So connections are accepted and, where that is safe, closed here, and
 * FCGX_Request's ipcFd and keepConnection say so: to libfcgi each is one that it keeps.  None is
 * kept in fact, whatever the web server wishes: a thread that waits for the next request on one
 * connection serves no other.
 */
#ifndef AGENTGRAPH_FCGI_POOL_CONNECTION_H
#define AGENTGRAPH_FCGI_POOL_CONNECTION_H

#include "fcgi/pool/pool.h"
#include "fcgi/request/client.h"

#include <fcgiapp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SILENCE_SECONDS 90 /* a web server that sends nothing for so long is gone */

struct holdup;

/* Threads that wait for clients to read on, the longest first. */
struct holdups {
	pthread_mutex_t lock; /* guards the rest */
	struct holdup *first, *last;
	unsigned count, most;
};

/* When more than most wait, the answer to the one who has read nothing for the longest is broken
 * off. */
void holdups_init(struct holdups *holdups, unsigned most);
void holdups_release(struct holdups *holdups);

struct connection {
	struct client client; /* first */
	struct holdups *holdups;
	FCGX_Request *request;
	struct arrival *slow; /* NULL: it is read from the socket */
	size_t written;       /* of the answer */
	size_t room;          /* that the socket was said to have, and that was not used since */
};

/* Of a request that was begun; slow is where it came slowly.  All is borrowed. */
struct connection connection_of(
    struct holdups *holdups, FCGX_Request *request, struct arrival *slow);

/* Web servers send a head at once, so that what waits for it, and may be interrupted, is this.
 * False when nothing came in SILENCE_SECONDS. */
bool connection_await(int fd);

/* Reads the head of a request from fd, which the request takes over; false when there is none. */
bool connection_begin(FCGX_Request *request, int fd);

/* Whether the web server has nothing left to send, which closing at once would turn into an error
 * there.  Where no body was announced, the end of the body has mostly arrived with the head. */
bool connection_all_read(const FCGX_Request *request);

/* Sends what is left, and closes; all of it was read, or not. */
void connection_end(FCGX_Request *request, bool read);

#endif
