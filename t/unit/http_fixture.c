/* SPDX-License-Identifier: ISC */
/* A server of HTTP that says what a test tells it. */
#include "http_fixture.h"
#include "base/buf.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CONNECTIONS 1024

struct connection {
	struct http_fixture *server;
	int fd;
	pthread_t thread;
};

struct http_fixture {
	int listener, port;
	bool (*answer)(int fd, const struct peer_request *request, void *arg);
	void *arg;
	pthread_t thread;
	struct connection *connections[MAX_CONNECTIONS];
	atomic_uint accepted, requests;
};

bool peer_send(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		bytes += sent;
		len -= (size_t)sent;
	}
	return true;
}

bool peer_puts(int fd, const char *text)
{
	return peer_send(fd, text, strlen(text));
}

bool peer_reply(int fd, int status, const char *headers, const char *body)
{
	char *text = xasprintf("HTTP/1.1 %d Status\r\nContent-Length: %zu\r\n%s\r\n%s", status,
	    strlen(body), headers, body);
	bool sent = peer_puts(fd, text);
	free(text);
	return sent;
}

void peer_hang(int fd)
{
	char byte;
	while (recv(fd, &byte, 1, 0) > 0)
		continue;
}

/* Reads until what is in b has a whole head; its length, or 0 at the end, or when it is no HTTP. */
static size_t read_head(int fd, struct buf *b)
{
	for (;;) {
		char *end = b->len ? memmem(b->data, b->len, "\r\n\r\n", 4) : NULL;
		if (end)
			return (size_t)(end - b->data) + 4;
		char *to = buf_reserve(b, 65536);
		ssize_t got = recv(fd, to, 65536, 0);
		if (got <= 0)
			return 0;
		b->len += (size_t)got;
		b->data[b->len] = '\0';
		if (b->data[0] < 'A' || b->data[0] > 'Z')
			return 0;
	}
}

static bool read_body(int fd, struct buf *b, size_t len)
{
	while (b->len < len) {
		char *to = buf_reserve(b, 65536);
		ssize_t got = recv(fd, to, 65536, 0);
		if (got <= 0)
			return false;
		b->len += (size_t)got;
		b->data[b->len] = '\0';
	}
	return true;
}

static bool answer(struct connection *c, char *head, const char *body, size_t body_len)
{
	struct peer_request rq = {.head = head,
	    .body = body,
	    .body_len = body_len,
	    .number = atomic_fetch_add(&c->server->requests, 1) + 1,
	    .server = c->server};
	char *line = xstrndup(head, strcspn(head, "\r\n")), *save = NULL;
	rq.method = strtok_r(line, " ", &save);
	rq.target = rq.method ? strtok_r(NULL, " ", &save) : NULL;
	rq.method = rq.method ? rq.method : "";
	rq.target = rq.target ? rq.target : "";
	bool more = c->server->answer(c->fd, &rq, c->server->arg);
	free(line);
	return more;
}

static bool serve_one(struct connection *c, struct buf *b)
{
	size_t head_len = read_head(c->fd, b);
	if (head_len == 0)
		return false;
	char *head = xstrndup(b->data, head_len);
	const char *length = strcasestr(head, "\r\nContent-Length:");
	size_t body_len = length ? strtoul(length + 17, NULL, 10) : 0;
	struct buf body = {0};
	buf_add(&body, b->data + head_len, b->len - head_len);
	bool more = read_body(c->fd, &body, body_len) && answer(c, head, buf_str(&body), body_len);
	buf_reset(b);
	if (more && body.len > body_len)
		buf_add(b, body.data + body_len, body.len - body_len);
	buf_release(&body);
	free(head);
	return more;
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	struct buf b = {0};
	while (serve_one(c, &b))
		continue;
	buf_release(&b);
	shutdown(c->fd, SHUT_RDWR);
	return NULL;
}

static void *accept_all(void *arg)
{
	struct http_fixture *s = arg;
	for (int fd; (fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
		unsigned n = atomic_load(&s->accepted);
		if (n >= MAX_CONNECTIONS)
			abort();
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
		struct connection *c = xcalloc(1, sizeof(*c));
		*c = (struct connection){.server = s, .fd = fd};
		s->connections[n] = c;
		atomic_store(&s->accepted, n + 1); /* before any answer can be seen */
		pthread_create(&c->thread, NULL, serve, c);
	}
	return NULL;
}

struct http_fixture *http_fixture_start(
    bool (*with)(int fd, const struct peer_request *request, void *arg), void *arg)
{
	struct http_fixture *s = xcalloc(1, sizeof(*s));
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	s->answer = with;
	s->arg = arg;
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s->listener, (struct sockaddr *)&address, len) != 0 ||
	    listen(s->listener, 512) != 0 ||
	    getsockname(s->listener, (struct sockaddr *)&address, &len) != 0)
		abort();
	s->port = ntohs(address.sin_port);
	pthread_create(&s->thread, NULL, accept_all, s);
	return s;
}

void http_fixture_stop(struct http_fixture *s)
{
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->listener);
	for (unsigned i = 0; i < s->accepted; i++)
		shutdown(s->connections[i]->fd, SHUT_RDWR);
	for (unsigned i = 0; i < s->accepted; i++) {
		pthread_join(s->connections[i]->thread, NULL);
		close(s->connections[i]->fd);
		free(s->connections[i]);
	}
	free(s);
}

const char *http_fixture_url(const struct http_fixture *s, const char *path)
{
	static char texts[8][256];
	static unsigned next;
	char *text = texts[next++ % 8];
	snprintf(text, sizeof(texts[0]), "http://127.0.0.1:%d%s", s->port, path);
	return text;
}

unsigned http_fixture_accepted(struct http_fixture *s)
{
	return atomic_load(&s->accepted);
}

unsigned http_fixture_requests(struct http_fixture *s)
{
	return atomic_load(&s->requests);
}
