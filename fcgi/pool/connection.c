/* SPDX-License-Identifier: ISC */
/* One request on one connection, by libfcgi: begun, read, answered, and closed with care. */
#include "fcgi/pool/connection.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FREE_SIZE (64 << 10)  /* so much of an answer surely fits into the socket's buffer, */
#define SLICE_SIZE (16 << 10) /* and so much more whenever the socket is said to have room */
#define PATIENCE_MS 500       /* a client that makes no room for so long holds up its thread */

static FCGX_Request *connection_request_of(struct client *client)
{
	return ((struct connection *)client)->request;
}

/*
 * A process that was stopped and goes on, by a debugger or a suspended machine, finds its read of a
 * socket with a time-out interrupted, which libfcgi takes for the end.  Nothing of the stream is
 * lost then.
 */
static ssize_t connection_read_request(FCGX_Request *request, char *out, size_t size)
{
	FCGX_Stream *in = request->in;
	int got = FCGX_GetStr(out, (int)size, in);
	while (got == 0 && FCGX_GetError(in) == EINTR) {
		FCGX_ClearError(in);
		in->isClosed = 0;
		got = FCGX_GetStr(out, (int)size, in);
	}
	return got == 0 && FCGX_GetError(in) ? -1 : got;
}

/* A request that came slowly is read from its file, which is dropped once it has been read. */
static ssize_t connection_read(struct client *client, char *out, size_t size)
{
	FCGX_Request *request = connection_request_of(client);
	struct arrival *slow = ((struct connection *)client)->slow;
	if (!slow)
		return connection_read_request(request, out, size);
	if (client->lacking || slow->file < 0)
		return client->lacking ? -1 : 0;
	request->ipcFd = slow->file;
	ssize_t got = connection_read_request(request, out, size);
	request->ipcFd = slow->socket;
	if (got == 0)
		arrival_forget(slow);
	return got;
}

/* ---- readers who hold up a thread ---- */

/* A thread that waits until its client reads on. */
struct holdup {
	int socket;
	bool ended; /* it has left the list */
	struct holdup *previous, *next;
};

void holdups_init(struct holdups *holdups, unsigned most)
{
	*holdups = (struct holdups){.most = most};
	pthread_mutex_init(&holdups->lock, NULL);
}

void holdups_release(struct holdups *holdups)
{
	pthread_mutex_destroy(&holdups->lock);
}

/* The lock is held. */
static void holdup_end(struct holdups *holdups, struct holdup *holdup)
{
	if (holdup->ended)
		return;
	*(holdup->previous ? &holdup->previous->next : &holdups->first) = holdup->next;
	*(holdup->next ? &holdup->next->previous : &holdups->last) = holdup->previous;
	holdups->count--;
	holdup->ended = true;
}

/* Waits until the client reads on or is gone.  If as many threads wait as may, the client that has
 * kept one for the longest is cut off. */
static void holdup_wait(struct holdups *holdups, int socket)
{
	struct holdup self = {.socket = socket};
	struct pollfd room = {.fd = socket, .events = POLLOUT};
	pthread_mutex_lock(&holdups->lock);
	if (holdups->count == holdups->most) {
		log_warning("an answer was broken off: too many clients do not read theirs");
		shutdown(holdups->first->socket, SHUT_RDWR);
		holdup_end(holdups, holdups->first);
	}
	self.previous = holdups->last;
	*(self.previous ? &self.previous->next : &holdups->first) = &self;
	holdups->last = &self;
	holdups->count++;
	pthread_mutex_unlock(&holdups->lock);
	while (poll(&room, 1, -1) < 0)
		; /* interrupted by a debugger */
	pthread_mutex_lock(&holdups->lock);
	holdup_end(holdups, &self);
	pthread_mutex_unlock(&holdups->lock);
}

static void connection_write(struct client *client, const char *data, size_t len)
{
	struct connection *connection = (struct connection *)client;
	FCGX_Request *request = connection->request;
	struct pollfd room = {.fd = request->ipcFd, .events = POLLOUT};
	size_t slice = len;
	for (; len > 0; data += slice, len -= slice) {
		if (connection->written + len > FREE_SIZE) {
			if (!connection->room) {
				if (poll(&room, 1, PATIENCE_MS) == 0)
					holdup_wait(connection->holdups, request->ipcFd);
				connection->room = SLICE_SIZE;
			}
			slice = len < connection->room ? len : connection->room;
			connection->room -= slice;
		}
		FCGX_PutStr(data, (int)slice, request->out);
		connection->written += slice;
	}
}

static void connection_flush(struct client *client)
{
	FCGX_FFlush(connection_request_of(client)->out);
}

/* The web server closes the connection when its own client leaves. */
static bool connection_gone(struct client *client)
{
	return descriptor_hung_up(connection_request_of(client)->ipcFd);
}

static void connection_abort(struct client *client)
{
	shutdown(connection_request_of(client)->ipcFd, SHUT_RDWR);
}

struct connection connection_of(
    struct holdups *holdups, FCGX_Request *request, struct arrival *slow)
{
	return (struct connection){
	    .client = {.params = request->envp,
		.read = connection_read,
		.lacking = slow ? slow->lacking : ERR_NONE,
		.write = connection_write,
		.flush = connection_flush,
		.gone = connection_gone,
		.abort = connection_abort},
	    .holdups = holdups,
	    .request = request,
	    .slow = slow,
	};
}

bool connection_await(int fd)
{
	struct pollfd waiting = {fd, POLLIN, 0};
	int64_t end = clock_monotonic_ms() + SILENCE_SECONDS * 1000;
	int64_t left, ready = -1;
	while (ready < 0 && (left = end - clock_monotonic_ms()) > 0)
		ready = poll(&waiting, 1, (int)left);
	return ready > 0;
}

bool connection_begin(FCGX_Request *request, int fd)
{
	request->ipcFd = fd;
	request->keepConnection = 1;
	return FCGX_Accept_r(request) >= 0;
}

bool connection_all_read(const FCGX_Request *request)
{
	const char *length = FCGX_GetParam("CONTENT_LENGTH", request->envp);
	if (FCGX_HasSeenEOF(request->in))
		return true;
	return (!length || !*length || !strcmp(length, "0")) && FCGX_GetChar(request->in) == EOF;
}

void connection_end(FCGX_Request *request, bool read)
{
	request->keepConnection = read;
	FCGX_Finish_r(request);
	if (request->ipcFd >= 0)
		close(request->ipcFd);
	request->ipcFd = -1;
}
