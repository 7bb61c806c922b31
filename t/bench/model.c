/* SPDX-License-Identifier: ISC */
/*
 * A chat model's provider that is as fast as can be, and a client that looks when the first token
 * comes.
 *
 *     model mock                    serves on loopback, tells its port
 *     model first PORT PATH BODY N  the median of N requests, in milliseconds from their sending to
 * the first token
 *
 * An answer has TOKENS tokens, each an event and a write of its own.  The model "slow" waits 50 ms
 * before each; "late" thinks for 20 ms, and then waits half a millisecond before each; any other
 * does not wait at all.
 */
#include "base/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TOKENS 200
#define SLOW_US 50000
#define LATE_US 20000
#define PACE_US 500
#define STACK_SIZE (64 * 1024)
#define REQUEST_SIZE (16 * 1024)

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "model: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool send_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* ---- The provider */

/* Reads a request into buffer; false if the client is gone. */
static bool read_request(int fd, char *buffer)
{
	size_t len = 0, wanted = 0;
	while (wanted == 0 || len < wanted) {
		ssize_t n = recv(fd, buffer + len, REQUEST_SIZE - 1 - len, 0);
		if (n <= 0)
			return false;
		len += (size_t)n;
		buffer[len] = '\0';
		const char *end = strstr(buffer, "\r\n\r\n");
		const char *length = strcasestr(buffer, "\r\nContent-Length:");
		if (end)
			wanted = (size_t)(end + 4 - buffer) +
			    (length ? strtoul(length + 17, NULL, 10) : 0);
		if (wanted >= REQUEST_SIZE)
			return false;
	}
	return true;
}

static bool send_chunk(int fd, const char *event)
{
	char chunk[512];
	int len = snprintf(chunk, sizeof(chunk), "%zx\r\n%s\r\n", strlen(event), event);
	return send_all(fd, chunk, (size_t)len);
}

static bool answer(int fd, const char *request)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n";
	if (!send_all(fd, head, sizeof(head) - 1))
		return false;
	bool slow = strstr(request, "\"slow\""), late = strstr(request, "\"late\"");
	for (int i = 0; i < TOKENS; i++) {
		if (slow || late)
			usleep(slow ? SLOW_US : i == 0 ? LATE_US : PACE_US);
		if (!send_chunk(fd,
			"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
			"\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"tok \"},"
			"\"logprobs\":null,\"finish_reason\":null}]}\n\n"))
			return false;
	}
	return send_chunk(fd,
		   "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n") &&
	    send_chunk(fd, "data: [DONE]\n\n") && send_all(fd, "0\r\n\r\n", 5);
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char *request = xmalloc(REQUEST_SIZE);
	while (read_request(fd, request) && answer(fd, request))
		continue;
	free(request);
	close(fd);
	return NULL;
}

static _Noreturn void mock(void)
{
	struct sockaddr_in at = loopback(0);
	socklen_t len = sizeof(at);
	pthread_attr_t attr;
	int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, len) < 0 ||
	    listen(listener, 1024) < 0 || getsockname(listener, (struct sockaddr *)&at, &len) < 0)
		die("cannot listen");
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		pthread_t thread;
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (pthread_create(&thread, &attr, serve, (void *)(intptr_t)fd) != 0)
			close(fd);
	}
}

/* ---- The client */

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Milliseconds until the first token; reads the rest, too, so that requests come one after another.
 * */
static double first_token(int port, const char *path, const char *body)
{
	static char data[1 << 20];
	struct sockaddr_in at = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char *request = xasprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
				  "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
	    path, strlen(body), body);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		die("cannot connect");
	double start = now_ms(), first = -1;
	size_t len = 0;
	if (!send_all(fd, request, strlen(request)))
		die("cannot ask");
	for (ssize_t n; len < sizeof(data) - 1 && !strstr(data, "0\r\n\r\n") &&
	     (n = recv(fd, data + len, sizeof(data) - 1 - len, 0)) > 0;) {
		len += (size_t)n;
		data[len] = '\0';
		if (first < 0 && strstr(data, "\"tok"))
			first = now_ms() - start;
	}
	memset(data, 0, len);
	close(fd);
	free(request);
	if (first < 0)
		die("there was no token");
	return first;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int first(int port, const char *path, const char *body, int count)
{
	double *times = xcalloc((size_t)count, sizeof(*times));
	for (int i = 0; i < count; i++)
		times[i] = first_token(port, path, body);
	qsort(times, (size_t)count, sizeof(*times), by_value);
	printf("%.2f\n", times[count / 2]);
	free(times);
	return 0;
}

int main(int argc, char **argv)
{
	memory_init();
	if (argc == 2 && strcmp(argv[1], "mock") == 0)
		mock();
	if (argc == 6 && strcmp(argv[1], "first") == 0)
		return first(atoi(argv[2]), argv[3], argv[4], atoi(argv[5]));
	fprintf(stderr, "usage: model mock | model first PORT PATH BODY N\n");
	return 2;
}
