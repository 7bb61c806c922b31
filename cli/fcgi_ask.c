/* SPDX-License-Identifier: ISC */
/* The client's side of FastCGI, as far as one request needs it (its specification,
 * 3.3, 5 and 8). */
#include "cli/fcgi_ask.h"

#include "cli/sockets.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_SECONDS 5

enum {
	FCGI_BEGIN_REQUEST = 1,
	FCGI_END_REQUEST = 3,
	FCGI_PARAMS = 4,
	FCGI_STDIN = 5,
	FCGI_STDOUT = 6
};
#define FCGI_VERSION 1
#define FCGI_RESPONDER 1
#define FCGI_HEAD 8

static void fcgi_ask_add_record(struct buf *out, int type, const char *content, size_t len)
{
	const char head[FCGI_HEAD] = {
	    FCGI_VERSION, (char)type, 0, 1, (char)(len >> 8), (char)(len & 0xff), 0, 0};
	buf_add(out, head, sizeof(head));
	buf_add(out, content, len);
}

static void fcgi_ask_add_param(struct buf *out, const char *name, const char *value)
{
	buf_putc(out, (char)strlen(name));
	buf_putc(out, (char)strlen(value));
	buf_puts(out, name);
	buf_puts(out, value);
}

/* Appends what the records of standard output hold; true when the last record is there. */
static bool fcgi_ask_unpack(const struct buf *records, struct buf *answer)
{
	const unsigned char *at = (const unsigned char *)records->data;
	size_t left = records->len;
	while (left >= FCGI_HEAD) {
		size_t len = (size_t)at[4] << 8 | at[5], all = FCGI_HEAD + len + at[6];
		if (at[1] == FCGI_END_REQUEST)
			return true;
		if (all > left)
			return false;
		if (at[1] == FCGI_STDOUT)
			buf_add(answer, (const char *)at + FCGI_HEAD, len);
		at += all;
		left -= all;
	}
	return false;
}

bool fcgi_ask(const char *socket_path, const char *path, const char *internal, struct buf *answer)
{
	static const char begin[8] = {0, FCGI_RESPONDER};
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	struct buf params = {0}, asked = {0}, records = {0};
	int fd = socket_path ? unix_connect(socket_path) : -1;
	ssize_t n;
	bool whole;
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));

	fcgi_ask_add_param(&params, "REQUEST_METHOD", "GET");
	fcgi_ask_add_param(&params, "REQUEST_URI", path);
	fcgi_ask_add_param(&params, "QUERY_STRING", "");
	fcgi_ask_add_param(&params, "SERVER_PROTOCOL", "HTTP/1.1");
	fcgi_ask_add_param(&params, "REMOTE_ADDR", "127.0.0.1");
	if (internal)
		fcgi_ask_add_param(&params, "AGENTGRAPH_INTERNAL", internal);
	fcgi_ask_add_record(&asked, FCGI_BEGIN_REQUEST, begin, sizeof(begin));
	fcgi_ask_add_record(&asked, FCGI_PARAMS, params.data, params.len);
	fcgi_ask_add_record(&asked, FCGI_PARAMS, "", 0);
	fcgi_ask_add_record(&asked, FCGI_STDIN, "", 0);

	if (send(fd, asked.data, asked.len, MSG_NOSIGNAL) == (ssize_t)asked.len)
		while ((n = recv(fd, buf_reserve(&records, 4096), 4096, 0)) > 0)
			records.len += (size_t)n;
	close(fd);
	whole = fcgi_ask_unpack(&records, answer);
	buf_release(&params);
	buf_release(&asked);
	buf_release(&records);

	/* a CGI answer without a Status is a 200 */
	const char *end = strstr(buf_str(answer), "\r\n\r\n");
	const char *status = strstr(buf_str(answer), "Status:");
	return whole && end && (!status || status > end || strncmp(status, "Status: 200", 11) == 0);
}
