/* SPDX-License-Identifier: ISC */
/*
 * Live sockets that echo, and the time that an audio packet is on its way.
 *
 *     live PORT N SECONDS     N sessions, each with a packet of 100 ms every 100 ms; prints p50 and
 *                             p99 of the way in and back in milliseconds, and how many there were
 *     live PORT feed PACKETS  one session that is fed so many packets as fast as they come back;
 *                             waits for a byte on standard input before and after
 */
#include "base/memory.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PACKET 3200
#define PERIOD_MS 100
#define IN_FLIGHT 64 /* packets of the feed that are under way at most */

struct session {
	int fd;
	unsigned char in[65536];
	size_t len;
	double sent[256]; /* when packets were sent; a ring */
	unsigned head, tail;
	double next;
};

static struct sockaddr_in server = {.sin_family = AF_INET};
static double *took;
static size_t count, size;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Sends a frame whose mask is zero. */
static void put(int fd, unsigned char opcode, const void *data, size_t len)
{
	unsigned char frame[PACKET + 8] = {
	    (unsigned char)(0x80 | opcode), 0xfe, (unsigned char)(len >> 8), (unsigned char)len};
	memcpy(frame + 8, data, len);
	if (len < 126) {
		frame[1] = (unsigned char)(0x80 | len);
		memmove(frame + 6, data, len);
		memset(frame + 2, 0, 4);
	}
	size_t total = len + (len < 126 ? 6 : 8);
	if (send(fd, frame, total, MSG_NOSIGNAL) != (ssize_t)total)
		fail("send");
}

static void say(int fd, const char *text)
{
	put(fd, 1, text, strlen(text));
}

static void session_open(struct session *s)
{
	char head[2048];
	size_t len = 0;
	int on = 1;
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&server, sizeof(server)) != 0)
		fail("connect");
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	dprintf(s->fd,
	    "GET /v1/graph/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: "
	    "Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
	    "dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
	while (len < sizeof(head) - 1 && recv(s->fd, head + len, 1, 0) == 1) {
		head[++len] = '\0';
		if (len > 4 && strcmp(head + len - 4, "\r\n\r\n") == 0)
			break;
	}
	if (strncmp(head, "HTTP/1.1 101", 12) != 0)
		fail("the handshake was refused");
	say(s->fd, "{}");
	say(s->fd, "{\"type\":\"text\",\"text\":\"/echo on\"}");
}

static void send_packet(struct session *s)
{
	static const char packet[PACKET];
	s->sent[s->head++ % 256] = now();
	put(s->fd, 2, packet, sizeof(packet));
}

static void note(double ms)
{
	if (count == size)
		took = xrealloc(took, (size = 2 * size + 1000) * sizeof(*took));
	took[count++] = ms;
}

/* The length of the frame at the start of what was read, or 0 while it is not whole. */
static size_t frame_length(const struct session *s)
{
	if (s->len < 4)
		return 0;
	size_t len = s->in[1] & 127, head = 2;
	if (len == 126) {
		len = (size_t)s->in[2] << 8 | s->in[3];
		head = 4;
	}
	return s->len >= head + len ? head + len : 0;
}

static void take(struct session *s)
{
	size_t len;
	ssize_t n = recv(s->fd, s->in + s->len, sizeof(s->in) - s->len, 0);
	if (n <= 0)
		fail("recv");
	s->len += (size_t)n;
	while ((len = frame_length(s))) {
		if ((s->in[0] & 15) == 2)
			note(now() - s->sent[s->tail++ % 256]);
		s->len -= len;
		memmove(s->in, s->in + len, s->len);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void tell(void)
{
	qsort(took, count, sizeof(*took), by_value);
	if (count)
		printf("%.2f %.2f %zu\n", took[count / 2], took[count * 99 / 100], count);
}

static void echo(int sessions, double seconds)
{
	struct session *all = xcalloc((size_t)sessions, sizeof(*all));
	struct pollfd *fds = xcalloc((size_t)sessions, sizeof(*fds));
	for (int i = 0; i < sessions; i++) {
		session_open(&all[i]);
		fds[i] = (struct pollfd){.fd = all[i].fd, .events = POLLIN};
	}
	usleep(500000);
	double start = now();
	for (int i = 0; i < sessions; i++)
		all[i].next = start + (double)PERIOD_MS * i / sessions;
	while (now() < start + seconds * 1000) {
		double soonest = start + seconds * 1000;
		for (int i = 0; i < sessions; i++) {
			if (now() >= all[i].next) {
				send_packet(&all[i]);
				all[i].next += PERIOD_MS;
			}
			soonest = all[i].next < soonest ? all[i].next : soonest;
		}
		double wait = soonest - now();
		struct timespec t = {0, wait > 0 ? (long)(wait * 1e6) : 0};
		if (ppoll(fds, (nfds_t)sessions, &t, NULL) <= 0)
			continue;
		for (int i = 0; i < sessions; i++) {
			if (fds[i].revents)
				take(&all[i]);
		}
	}
	tell();
}

static void feed(size_t packets)
{
	static struct session s;
	char byte;
	session_open(&s);
	printf("open\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		fail("read");
	for (size_t i = 0; i < packets; i++) {
		send_packet(&s);
		while (s.head - s.tail >= IN_FLIGHT)
			take(&s);
	}
	while (s.tail < s.head)
		take(&s);
	printf("fed\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		fail("read");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	server.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (strcmp(argv[2], "feed") == 0)
		feed((size_t)atol(argv[3]));
	else
		echo(atoi(argv[2]), atof(argv[3]));
	return 0;
}
