/* SPDX-License-Identifier: ISC */
/* A child that asks over FastCGI or HTTP, again and again, until a minute has passed. */
#include "cli/serve/supervisor.h"

#include "base/buf.h"
#include "base/os/clock.h"
#include "cli/fcgi_ask.h"
#include "cli/sockets.h"
#include "cli/spawn.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PROBE_PAUSE_MS 20
#define ANSWER_SECONDS 5

static bool probe_listens(int port)
{
	int fd = tcp_connect(port);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool probe_ping_http(int tcp)
{
	static const char question[] =
	    "GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	const ssize_t asked = sizeof(question) - 1;
	int fd = tcp_connect(tcp);
	char answer[4096];
	size_t len = 0;
	ssize_t n;
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (send(fd, question, (size_t)asked, MSG_NOSIGNAL) == asked)
		while (len < sizeof(answer) &&
		    (n = recv(fd, answer + len, sizeof(answer) - len, 0)) > 0)
			len += (size_t)n;
	close(fd);
	return len >= 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0;
}

pid_t probe_start(const struct probe *probe)
{
	pid_t pid = spawn_fork();
	if (pid == 0) {
		int64_t limit = clock_monotonic_ms() + COME_UP_MS;
		struct buf answer = {0};
		while (!probe_listens(probe->websocketd) ||
		    !(probe->tcp >= 0 ? probe_ping_http(probe->tcp)
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
