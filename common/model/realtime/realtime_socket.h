/* SPDX-License-Identifier: ISC */
/*
 * A WebSocket to a realtime provider, by libwebsockets.
 *
 * Each has a thread of its own, because looking up a host's name blocks.  What its owner calls here
 * never blocks; between the two are two queues and a descriptor.  A process may end while a thread
 * is in the middle of TLS, so it must have told OpenSSL at its start not to take itself apart at
 * the end (OPENSSL_INIT_NO_ATEXIT).
 *
 * TLS is verified with the authorities of this machine (SSL_CERT_FILE and SSL_CERT_DIR go first).
 * A peer that is silent for 20 seconds is pinged, and 45 seconds later given up.
 */
#ifndef AGENTGRAPH_MODEL_REALTIME_REALTIME_SOCKET_H
#define AGENTGRAPH_MODEL_REALTIME_REALTIME_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

struct realtime_socket;

/* Where to: made from a URL of scheme ws, wss, http or https.  False when url is none. */
struct realtime_address {
	bool tls;
	char *host, *path; /* malloc'd; the path with its query */
	int port;
};
bool realtime_address_read(struct realtime_address *address, const char *url);
void realtime_address_release(struct realtime_address *address);

/* Begins a connection, with a header where its value is not NULL: "authorization:".  NULL when it
 * cannot be begun; *why then says why. */
struct realtime_socket *realtime_socket_open(const struct realtime_address *address,
    const char *header, const char *value, const char **why);

/* Ends it, at once.  NULL is fine. */
void realtime_socket_close(struct realtime_socket *s);

/* Readable when realtime_socket_take has something. */
int realtime_socket_descriptor(const struct realtime_socket *s);

/* Queues a text message. */
void realtime_socket_send(struct realtime_socket *s, const char *text);

/* Bytes that are queued. */
size_t realtime_socket_waiting(struct realtime_socket *s);

enum realtime_news { REALTIME_NOTHING, REALTIME_OPENED, REALTIME_MESSAGE, REALTIME_CLOSED };

/* What happened next.  *text, malloc'd and of *len bytes, is the message, or why it was closed:
 * that comes once, and last. */
enum realtime_news realtime_socket_take(struct realtime_socket *s, char **text, size_t *len);

#endif
