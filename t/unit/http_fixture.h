/* SPDX-License-Identifier: ISC */
/*
 * A small HTTP/1.1 server on loopback, for tests of clients: a thread a connection, and a function
 * of the test's own that answers by writing bytes.
 */
#ifndef AGENTGRAPH_UNIT_HTTP_FIXTURE_H
#define AGENTGRAPH_UNIT_HTTP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

struct http_fixture;

struct peer_request {
	const char *head;   /* request line and headers, NUL-terminated */
	const char *method; /* "" in a request that is none */
	const char *target; /* path and query */
	const char *body;   /* NUL-terminated */
	size_t body_len;
	unsigned number; /* of all requests of this server, from 1 */
	struct http_fixture *server;
};

/* answer answers a request on fd, on any thread; false closes the connection. */
struct http_fixture *http_fixture_start(
    bool (*answer)(int fd, const struct peer_request *request, void *arg), void *arg);

/* Closes all connections and waits for the threads. */
void http_fixture_stop(struct http_fixture *server);

/* "http://127.0.0.1:PORT<path>" in one of a few rotating static buffers; one thread only. */
const char *http_fixture_url(const struct http_fixture *server, const char *path);

/* Connections that were accepted and requests that came so far. */
unsigned http_fixture_accepted(struct http_fixture *server);
unsigned http_fixture_requests(struct http_fixture *server);

/* Writes all of it; false when the client is gone. */
bool peer_send(int fd, const char *bytes, size_t len);
bool peer_puts(int fd, const char *text);

/* A whole answer with Content-Length.  headers: lines that end in \r\n, or "". */
bool peer_reply(int fd, int status, const char *headers, const char *body);

/* Waits until the client closes, or the server is stopped. */
void peer_hang(int fd);

#endif
