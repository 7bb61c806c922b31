#include "probe.h"

#include "base/buf.h"
#include "base/clock.h"
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

/* FastCGI records (its specification, sections 3.3 and 8). */
enum { FCGI_BEGIN_REQUEST = 1, FCGI_PARAMS = 4, FCGI_STDIN = 5 };
#define FCGI_VERSION 1
#define FCGI_RESPONDER 1

static void add_record(struct buf *out, int type, const char *content, size_t len)
{
	const char head[8] = {
	    FCGI_VERSION, (char)type, 0, 1, (char)(len >> 8), (char)(len & 0xff), 0, 0};

	buf_add(out, head, sizeof(head));
	buf_add(out, content, len);
}

static void add_param(struct buf *out, const char *name, const char *value)
{
	buf_putc(out, (char)strlen(name));
	buf_putc(out, (char)strlen(value));
	buf_puts(out, name);
	buf_puts(out, value);
}

static void fastcgi_question(struct buf *out)
{
	static const char begin[8] = {0, FCGI_RESPONDER};
	struct buf params = {0};

	add_param(&params, "REQUEST_METHOD", "GET");
	add_param(&params, "REQUEST_URI", "/ping");
	add_param(&params, "QUERY_STRING", "");
	add_param(&params, "SERVER_PROTOCOL", "HTTP/1.1");
	add_param(&params, "REMOTE_ADDR", "127.0.0.1");
	add_record(out, FCGI_BEGIN_REQUEST, begin, sizeof(begin));
	add_record(out, FCGI_PARAMS, params.data, params.len);
	add_record(out, FCGI_PARAMS, "", 0);
	add_record(out, FCGI_STDIN, "", 0);
	buf_release(&params);
}

/* A CGI answer without a Status is a 200. */
static bool fastcgi_success(const char *answer, size_t len)
{
	return memmem(answer, len, "\r\n\r\n", 4) &&
	    (!memmem(answer, len, "Status:", 7) || memmem(answer, len, "Status: 200", 11));
}

static bool http_success(const char *answer, size_t len)
{
	return len >= 12 && memcmp(answer, "HTTP/1.1 200", 12) == 0;
}

/* Sends the question and reads the first of the answer. */
static size_t ask(int fd, const struct buf *question, char *answer, size_t size)
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

static bool listens(int port)
{
	int fd = tcp_connect(port);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool ping(int tcp, const char *socket_path)
{
	int fd = tcp >= 0 ? tcp_connect(tcp) : unix_connect(socket_path);
	struct buf question = {0};
	char answer[4096];
	size_t len;

	if (fd < 0)
		return false;
	if (tcp >= 0)
		buf_puts(&question,
		    "GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
	else
		fastcgi_question(&question);
	len = ask(fd, &question, answer, sizeof(answer));
	close(fd);
	buf_release(&question);
	return tcp >= 0 ? http_success(answer, len) : fastcgi_success(answer, len);
}

pid_t probe_start(const struct probe *probe)
{
	pid_t pid = spawn_fork();

	if (pid == 0) {
		int64_t limit = clock_monotonic_ms() + PROBE_LIMIT_MS;

		while (!listens(probe->websocketd) || !ping(probe->tcp, probe->socket_path)) {
			if (clock_monotonic_ms() > limit)
				_exit(1);
			clock_sleep_ms(PROBE_PAUSE_MS);
		}
		_exit(0);
	}
	return pid;
}
