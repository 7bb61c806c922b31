/* SPDX-License-Identifier: ISC */
/*
 * A connection of the web server as the server sees it, a struct client over libfcgi; and a limit
 * on the threads that are held up by clients that do not read their answers.
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

/* The threads that wait for clients to read on; the one that has waited longest comes first. */
struct holdups {
	pthread_mutex_t lock; /* guards the rest */
	struct holdup *first, *last;
	unsigned count, most;
};

/* When more than `most` threads wait, the answer to the client that has read nothing for the
 * longest is broken off. */
void holdups_init(struct holdups *holdups, unsigned most);
void holdups_release(struct holdups *holdups);

struct connection {
	struct client client; /* first */
	struct holdups *holdups;
	FCGX_Request *request;
	struct arrival *slow; /* has the request if it came slowly; NULL: the socket has */
	size_t written;       /* bytes of the answer */
	size_t room;          /* bytes that the socket was said to have room for, and still has */
};

/* The connection of a request that was begun; slow is NULL if it was there as a whole.  All three
 * are borrowed. */
struct connection connection_of(
    struct holdups *holdups, FCGX_Request *request, struct arrival *slow);

/* Waits for the first bytes of a request; false when none came in SILENCE_SECONDS.  Web servers
 * send a head at once, so this is the only wait for one, and a debugger may interrupt it. */
bool connection_await(int fd);

/* Reads the head of a request from fd, which the request takes over; false when there is none. */
bool connection_begin(FCGX_Request *request, int fd);

/* Whether the web server has nothing left to send.  If it had, closing the connection at once would
 * be an error to it.  Where no body was announced, its end has mostly arrived with the head. */
bool connection_all_read(const FCGX_Request *request);

/* Sends what is left of the answer and closes; read: the request was read to its end. */
void connection_end(FCGX_Request *request, bool read);

#endif
