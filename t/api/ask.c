/* SPDX-License-Identifier: ISC */
/*
 * Asks a worker, and writes down what it answers as a shell can read it without another process:
 * tests ask thousands of times, and a process costs more than a request.
 *
 *     ask DIRECTORY SECONDS SOCKET ADDRESS METHOD PATH [HEADER...] <BODY
 *
 * In DIRECTORY the file answer is what came, and answer.sh sets STATUS, HEADERS and BODY to that.
 * A HEADER is "Name: value".  BODY is a file.  After SECONDS the client goes away.  FastCGI 1.0,
 * sections 3.3, 3.4 and 5.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum record_type {
	BEGIN_REQUEST = 1,
	END_REQUEST = 3,
	PARAMS = 4,
	STDIN = 5,
	STDOUT = 6,
	STDERR = 7
};
#define HEAD 8
#define CONTENT_MAX 65535
#define NAME_MAX_LENGTH 200

struct text {
	char *data;
	size_t length, room;
};

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Room for so many more bytes behind the text. */
static char *reserve(struct text *text, size_t more)
{
	if (text->room - text->length < more) {
		text->room = 2 * text->room + more;
		text->data = realloc(text->data, text->room);
		if (!text->data)
			die("ask: memory");
	}
	return text->data + text->length;
}

static void add(struct text *text, const void *data, size_t length)
{
	memcpy(reserve(text, length), data, length);
	text->length += length;
}

/* ---- The question */

static void add_record(struct text *out, enum record_type type, const char *content, size_t length)
{
	const char head[HEAD] = {1, (char)type, 0, 1, (char)(length >> 8), (char)length};
	add(out, head, HEAD);
	add(out, content, length);
}

/* A stream is records with something in them, and one without. */
static void add_stream(struct text *out, enum record_type type, const struct text *stream)
{
	for (size_t at = 0; at < stream->length; at += CONTENT_MAX) {
		size_t left = stream->length - at;
		add_record(out, type, stream->data + at, left < CONTENT_MAX ? left : CONTENT_MAX);
	}
	add_record(out, type, "", 0);
}

static void add_length(struct text *params, size_t length)
{
	const char four[] = {
	    (char)(length >> 24 | 0x80), (char)(length >> 16), (char)(length >> 8), (char)length};
	if (length < 0x80)
		add(params, four + 3, 1);
	else
		add(params, four, 4);
}

static void add_param(struct text *params, const char *name, const char *value)
{
	add_length(params, strlen(name));
	add_length(params, strlen(value));
	add(params, name, strlen(name));
	add(params, value, strlen(value));
}

/* The value of a header whose name has so many bytes. */
static const char *value_behind(const char *header, size_t length)
{
	const char *value = header + length + (header[length] == ':');
	return value + (*value == ' ');
}

/* The value of the header when that is its name, or NULL. */
static const char *value_of(const char *header, const char *name)
{
	size_t length = strlen(name);
	bool same = strncasecmp(header, name, length) == 0 && header[length] == ':';
	return same ? value_behind(header, length) : NULL;
}

static void add_header(struct text *params, const char *header)
{
	char name[NAME_MAX_LENGTH] = "HTTP_";
	size_t length = strcspn(header, ":");
	if (length + strlen(name) >= sizeof(name)) {
		fprintf(stderr, "ask: a header's name of over %d bytes\n", NAME_MAX_LENGTH);
		exit(2);
	}
	for (size_t i = 0; i < length; i++)
		name[i + 5] = header[i] == '-' ? '_' : (char)toupper((unsigned char)header[i]);
	add_param(params, name, value_behind(header, length));
}

/* What a web server says of a request. */
static void add_params(struct text *out, const char *address, const char *method, const char *path,
    char **headers, size_t body)
{
	const char *query = strchr(path, '?'), *type = body ? "application/json" : "",
		   *host = "localhost";
	struct text params = {0};
	char length[24];
	snprintf(length, sizeof(length), "%zu", body);
	add_param(&params, "REQUEST_METHOD", method);
	add_param(&params, "REQUEST_URI", path);
	add_param(&params, "QUERY_STRING", query ? query + 1 : "");
	add_param(&params, "SERVER_PROTOCOL", "HTTP/1.1");
	add_param(&params, "REQUEST_SCHEME", "http");
	add_param(&params, "REMOTE_ADDR", address);
	add_param(&params, "CONTENT_LENGTH", length);
	for (; *headers; headers++)
		if (value_of(*headers, "Content-Type"))
			type = value_of(*headers, "Content-Type");
		else if (value_of(*headers, "Host"))
			host = value_of(*headers, "Host");
		else
			add_header(&params, *headers);
	add_param(&params, "CONTENT_TYPE", type);
	add_param(&params, "HTTP_HOST", host);
	add_stream(out, PARAMS, &params);
	free(params.data);
}

static void read_body(struct text *body)
{
	struct stat stat;
	ssize_t n;
	if (fstat(STDIN_FILENO, &stat) < 0)
		die("ask: the body");
	while ((n = read(STDIN_FILENO, reserve(body, (size_t)stat.st_size + 1),
		    (size_t)stat.st_size + 1)) > 0)
		body->length += (size_t)n;
	if (n < 0)
		die("ask: the body");
}

/* ---- The exchange */

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		die(path);
	return fd;
}

/* Writes what whole records of output say; false behind the last record. */
static bool unpack(struct text *records, int answer)
{
	size_t at = 0, size = HEAD;
	bool more = true;
	for (; more && records->length - at >= HEAD; at += size) {
		const unsigned char *head = (const unsigned char *)records->data + at;
		size_t length = (size_t)head[4] << 8 | head[5];
		int to = head[1] == STDOUT ? answer : head[1] == STDERR ? STDERR_FILENO : -1;
		size = HEAD + length + head[6];
		if (records->length - at < size)
			break;
		if (to >= 0 && write(to, head + HEAD, length) != (ssize_t)length)
			die("ask: answer");
		more = head[1] != END_REQUEST;
	}
	records->length -= at;
	memmove(records->data, records->data + at, records->length);
	return more;
}

/* Says what there is to say while it takes what comes, until the worker is done, leaves, or the
 * time is over. */
static void exchange(int fd, const struct text *question, double end, int answer)
{
	struct text records = {0};
	size_t said = 0;
	ssize_t n;
	for (double left; (left = end - now()) > 0;) {
		struct pollfd poll_fd = {
		    fd, said < question->length ? POLLIN | POLLOUT : POLLIN, 0};
		if (poll(&poll_fd, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		if (poll_fd.revents & POLLOUT) {
			n = send(fd, question->data + said, question->length - said,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
			if (n > 0)
				said += (size_t)n;
			else if (errno != EAGAIN)
				said = question->length; /* it reads no more, and may answer */
		}
		if (!(poll_fd.revents & (POLLIN | POLLHUP | POLLERR)))
			continue;
		n = recv(fd, reserve(&records, CONTENT_MAX + 1), CONTENT_MAX + 1, 0);
		if (n <= 0)
			break;
		records.length += (size_t)n;
		if (!unpack(&records, answer))
			break;
	}
	free(records.data);
}

/* ---- The answer */

/* Between quotes of a shell, which has no zero bytes. */
static void put(FILE *out, const char *text, const char *end)
{
	for (; text < end; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else if (*text)
			putc(*text, out);
}

/* Its lines have no carriage returns, and an answer of CGI that says no status has 200.  Returns
 * where the body begins. */
static const char *put_head(FILE *out, const char *text, const char *end)
{
	const char *status = text < end ? "200" : "none", *line = text, *next;
	fputs("HEADERS='", out);
	for (; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		const char *line_end = next - (next > line && next[-1] == '\r');
		if (line_end == line) {
			line = next + 1;
			break;
		}
		if (value_of(line, "Status"))
			status = value_of(line, "Status");
		put(out, "\n", "\n" + (line > text));
		put(out, line, line_end);
	}
	fprintf(out, "'\nSTATUS=%.*s\n", (int)strcspn(status, " \r\n"), status);
	return next ? line : end;
}

static int open_in(const char *directory, const char *name)
{
	char path[4096];
	int fd;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die(path);
	return fd;
}

static void write_script(int script, int answer)
{
	FILE *out = fdopen(script, "w");
	struct text text = {0};
	struct stat stat;
	const char *body, *end;
	if (!out || fstat(answer, &stat) < 0)
		die("ask: answer.sh");
	if (pread(answer, reserve(&text, (size_t)stat.st_size + 1), (size_t)stat.st_size, 0) !=
	    stat.st_size)
		die("ask: answer");
	text.data[stat.st_size] = '\0';
	end = text.data + stat.st_size;
	body = put_head(out, text.data, end);
	while (end > body && end[-1] == '\n')
		end--;
	fputs("BODY='", out);
	put(out, body, end);
	fputs("'\n", out);
	if (fclose(out) != 0)
		die("ask: answer.sh");
	free(text.data);
}

int main(int argc, char **argv)
{
	static const char responder[8] = {0, 1};
	struct text question = {0}, body = {0};
	double end;
	int answer, script;
	if (argc < 7) {
		fputs("usage: ask DIRECTORY SECONDS SOCKET ADDRESS METHOD PATH [HEADER...] <BODY\n",
		    stderr);
		return 2;
	}
	end = now() + atof(argv[2]);
	read_body(&body);
	add_record(&question, BEGIN_REQUEST, responder, sizeof(responder));
	add_params(&question, argv[4], argv[5], argv[6], argv + 7, body.length);
	add_stream(&question, STDIN, &body);
	answer = open_in(argv[1], "answer");
	script = open_in(argv[1], "answer.sh"); /* empty as long as there is no answer */
	exchange(connect_to(argv[3]), &question, end, answer);
	write_script(script, answer);
	free(question.data);
	free(body.data);
	return 0;
}
