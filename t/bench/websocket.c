/* SPDX-License-Identifier: ISC */
/*
 * A client that measures WebSockets.
 *
 *     websocket PORT PATH STATE trip N       the median round trip of 100 bytes, in microseconds
 *     websocket PORT PATH STATE open N       opens N, 16 at a time; tells the seconds, and the time
 *                                            in milliseconds that 99 of 100 took at most; keeps
 *                                            them until its input ends
 *
 * Each handshake has a ticket signed with the key in STATE.
 */
#include "access/ticket/ticket.h"
#include "base/id.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PARALLEL 16
#define LENGTH 100

static struct sockaddr_in server = {.sin_family = AF_INET};
static const char *path;
static struct ticket_key key;
static double *took; /* seconds of each handshake or round trip */
static long count;

static int fail(const char *what)
{
	perror(what);
	_exit(1); /* other threads may be at work */
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reads until the blank line. */
static void get_answer(int fd)
{
	char head[2048];
	size_t len = 0;
	while (len < sizeof(head) - 1 && recv(fd, head + len, 1, 0) == 1) {
		head[++len] = '\0';
		if (len > 4 && strcmp(head + len - 4, "\r\n\r\n") == 0)
			break;
	}
	head[len] = '\0';
	if (strncmp(head, "HTTP/1.1 101", 12) != 0) {
		fprintf(
		    stderr, "the handshake was refused: %.*s\n", (int)strcspn(head, "\r"), head);
		_exit(1);
	}
}

static int open_socket(void)
{
	char id[UUID_SIZE];
	int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
	struct arena *a = arena_new();
	const struct ticket ticket = {
	    .route = "/v1/graph/ws", .request_id = uuid4(id), .user_id = "bench"};
	if (fd < 0 || connect(fd, (struct sockaddr *)&server, sizeof(server)) != 0)
		fail("cannot connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	const char *request = arena_printf(a,
	    "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" TICKET_HEADER
	    ": %s\r\n\r\n",
	    path, ticket_sign(&key, &ticket, a));
	if (send(fd, request, strlen(request), 0) < 0)
		fail("cannot send");
	get_answer(fd);
	arena_free(a);
	return fd;
}

/* Sends one masked text, and receives one. */
static void round_trip(int fd)
{
	char frame[6 + LENGTH] = {(char)0x81, (char)(0x80 | LENGTH)};
	char back[2 + LENGTH];
	size_t len = 0;
	memset(frame + 6, 'x', LENGTH);
	if (send(fd, frame, sizeof(frame), 0) != sizeof(frame))
		fail("cannot send");
	while (len < sizeof(back)) {
		ssize_t got = recv(fd, back + len, sizeof(back) - len, 0);
		if (got <= 0)
			fail("nothing comes back");
		len += (size_t)got;
	}
	if (memcmp(back + 2, frame + 6, LENGTH) != 0)
		fail("something else comes back");
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

static void trip(void)
{
	int fd = open_socket();
	for (long i = 0; i < count / 10; i++)
		round_trip(fd);
	for (long i = 0; i < count; i++) {
		double start = now();
		round_trip(fd);
		took[i] = now() - start;
	}
	qsort(took, (size_t)count, sizeof(*took), compare);
	printf("%.1f\n", took[count / 2] * 1e6);
	close(fd);
}

static void *open_some(void *first)
{
	for (long i = (double *)first - took; i < count; i += PARALLEL) {
		double start = now();
		open_socket();
		took[i] = now() - start;
	}
	return NULL;
}

static void open_all(void)
{
	pthread_t threads[PARALLEL];
	double start = now();
	for (int i = 0; i < PARALLEL; i++)
		if (pthread_create(&threads[i], NULL, open_some, took + i) != 0)
			fail("no thread");
	for (int i = 0; i < PARALLEL; i++)
		pthread_join(threads[i], NULL);
	double seconds = now() - start;
	qsort(took, (size_t)count, sizeof(*took), compare);
	printf("%.3f %.1f\n", seconds, took[count * 99 / 100] * 1e3);
	fflush(stdout);
	while (getchar() != EOF)
		continue;
}

int main(int argc, char **argv)
{
	struct rlimit files;
	struct error err = {0};
	memory_init();
	if (argc != 6 || (count = atol(argv[5])) < PARALLEL) {
		fprintf(stderr, "usage: websocket PORT PATH STATE trip|open N\n");
		return 2;
	}
	server.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	path = argv[2];
	if (!ticket_key_load(&key, argv[3], &err))
		fail(err.detail);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	took = xcalloc((size_t)count + PARALLEL, sizeof(*took));
	if (strcmp(argv[4], "trip") == 0)
		trip();
	else
		open_all();
	return 0;
}
