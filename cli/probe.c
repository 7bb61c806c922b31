/* SPDX-License-Identifier: ISC */
/* A child that asks over FastCGI or HTTP, again and again, until a minute has passed. */
#include "supervisor.h"

#include "base/buf.h"
#include "base/clock.h"
#include "fcgi_ask.h"
#include "sockets.h"
#include "spawn.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PROBE_LIMIT_MS 60000
#define PROBE_PAUSE_MS 20
#define ANSWER_SECONDS 5

/* Sends the question and reads the first of the answer. */
static size_t probe_ask(int fd, const struct buf *question, char *answer, size_t size)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	size_t len = 0;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (send(fd, question->data, question->len, MSG_NOSIGNAL) != (ssize_t)question->len)
		return 0;
	while (len < size && (n = recv(fd, answer + len, size - len, 0)) > 0)
		len += (size_t)n;
	return len;
}

static bool probe_listens(int port)
{
	int fd = tcp_connect(port);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool ping_http(int tcp)
{
	int fd = tcp_connect(tcp);
	struct buf question = {0};
	char answer[4096];
	size_t len;

	if (fd < 0)
		return false;
	buf_puts(&question, "GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	len = probe_ask(fd, &question, answer, sizeof(answer));
	close(fd);
	buf_release(&question);
	return len >= 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0;
}

pid_t probe_start(const struct probe *probe)
{
	pid_t pid = spawn_fork();

	if (pid == 0) {
		int64_t limit = clock_monotonic_ms() + PROBE_LIMIT_MS;
		struct buf answer = {0};

		while (!probe_listens(probe->websocketd) ||
		    !(probe->tcp >= 0 ? ping_http(probe->tcp)
				      : fcgi_ask(probe->socket_path, "/ping", NULL, &answer))) {
			buf_reset(&answer);
			if (clock_monotonic_ms() > limit)
				_exit(1);
			clock_sleep_ms(PROBE_PAUSE_MS);
		}
		_exit(0);
	}
	return pid;
}
