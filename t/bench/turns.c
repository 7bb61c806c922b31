/* SPDX-License-Identifier: ISC */
/*
 * A client that makes echo turns, one after another, on one connection.
 *
 *     turns PORT http|socket|ahead SECONDS     turns a second
 *
 * http posts to /v1/graph/invoke and keeps the connection; socket sends frames on /v1/graph/ws and
 * reads each turn's chunks up to the terminator; ahead does the same with a few frames always
 * waiting.  Every turn begins a thread of its own.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define AHEAD 4
#define TURN "{\"messages\":[{\"role\":\"user\",\"content\":\"hello there\"}]}"

/* What was received and not used yet. */
static struct {
	char data[1 << 18];
	size_t start, end;
} in;

static int fail(const char *what)
{
	fprintf(stderr, "turns: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int dial(const char *port)
{
	struct sockaddr_in server = {.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)atoi(port)),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, (struct sockaddr *)&server, sizeof(server)) != 0)
		fail("nobody listens");
	return fd;
}

static void put(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		fail("the service is gone");
}

/* Receives until len bytes are there; returns where they are. */
static char *want(int fd, size_t len)
{
	if (in.start == in.end)
		in.start = in.end = 0;
	if (len > sizeof(in.data) - in.start - 1) {
		memmove(in.data, in.data + in.start, in.end - in.start);
		in.end -= in.start;
		in.start = 0;
	}
	while (in.end - in.start < len) {
		ssize_t n = recv(fd, in.data + in.end, sizeof(in.data) - in.end - 1, 0);
		if (n <= 0)
			fail("the answer has no end");
		in.end += (size_t)n;
	}
	in.data[in.end] = '\0';
	return in.data + in.start;
}

/* Takes a head of HTTP, with its length; the text is valid until the next call. */
static char *take_head(int fd)
{
	size_t len = 1;
	char *end;
	while (!(end = strstr(want(fd, len), "\r\n\r\n")))
		len = in.end - in.start + 1;
	end[2] = '\0';
	char *head = in.data + in.start;
	in.start = (size_t)(end + 4 - in.data);
	return head;
}

/* ---- HTTP */

static void http_turn(int fd)
{
	static const char request[] = "POST /v1/graph/invoke HTTP/1.1\r\nHost: localhost\r\n"
				      "Content-Type: application/json\r\nContent-Length: ";
	char text[sizeof(request) + sizeof(TURN) + 16];
	int len = snprintf(text, sizeof(text), "%s%zu\r\n\r\n" TURN, request, strlen(TURN));
	put(fd, text, (size_t)len);
	char *head = take_head(fd);
	const char *length = strstr(head, "Content-Length: ");
	if (strncmp(head, "HTTP/1.1 200", 12) != 0 || !length)
		fail("the turn was refused");
	size_t body = (size_t)atol(length + strlen("Content-Length: "));
	want(fd, body);
	in.start += body;
}

/* ---- WebSocket (RFC 6455) */

static void shake_hands(int fd)
{
	static const char request[] =
	    "GET /v1/graph/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
	    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
	put(fd, request, strlen(request));
	if (strncmp(take_head(fd), "HTTP/1.1 101", 12) != 0)
		fail("the handshake was refused");
}

/* Sends a text frame, masked with zeroes. */
static void put_frame(int fd)
{
	char frame[6 + sizeof(TURN)] = {(char)0x81, (char)(0x80 | (sizeof(TURN) - 1))};
	memcpy(frame + 6, TURN, sizeof(TURN));
	put(fd, frame, 6 + strlen(TURN));
}

static const char *take_frame(int fd, size_t *len)
{
	const unsigned char *head = (unsigned char *)want(fd, 2);
	if (head[0] != 0x81)
		fail("a frame that is no text");
	size_t size = head[1] == 126 ? 4 : 2;
	if (head[1] > 126)
		fail("a frame that is too large");
	head = (unsigned char *)want(fd, size);
	*len = size == 4 ? (size_t)(head[2] << 8 | head[3]) : head[1];
	const char *text = want(fd, size + *len) + size;
	in.start += size + *len;
	return text;
}

static void socket_turn(int fd)
{
	static const char done[] = "\"data\":{\"status\":\"done\"}";
	const char *text;
	size_t len;
	put_frame(fd);
	do
		text = take_frame(fd, &len);
	while (!memmem(text, len, done, strlen(done)));
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: turns PORT http|socket|ahead SECONDS\n");
		return 2;
	}
	int http = strcmp(argv[2], "http") == 0;
	int fd = dial(argv[1]);
	if (!http)
		shake_hands(fd);
	for (int i = strcmp(argv[2], "ahead") == 0 ? AHEAD : 0; i > 0; i--)
		put_frame(fd);
	void (*turn)(int) = http ? http_turn : socket_turn;
	turn(fd); /* not measured: the first turn opens databases */
	long turns = 0;
	double start = now(), end = start + atof(argv[3]);
	while (now() < end) {
		turn(fd);
		turns++;
	}
	printf("%.0f\n", (double)turns / (now() - start));
	close(fd);
	return 0;
}
