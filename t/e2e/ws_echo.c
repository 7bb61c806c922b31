/* SPDX-License-Identifier: ISC */
/*
 * A helper as agentgraph-ws is one (agentgraph-record(7)), that says back what it hears; tests of
 * the relay run it below websocketd.
 *
 *     ws_echo [FILE]
 *
 * The first word of FILE decides what it does instead of saying READY: "refuse", "silent", "die",
 * "old" (a wrong version), "noise" (no record).  Texts that begin with "!" are orders, see below.
 */
#include "base/memory.h"
#include "ws-bridge/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 65536

/* websocketd copies both ways in turn: whoever waits until it takes a line may wait for ever. */
static struct buf out;
static size_t sent;

static void flush(void)
{
	ssize_t put = write(STDOUT_FILENO, out.data + sent, out.len - sent);
	if (put > 0)
		sent += (size_t)put;
	if (sent == out.len) {
		buf_release(&out);
		sent = 0;
	}
}

static void send_line(struct buf *record)
{
	buf_putc(record, '\n');
	buf_add(&out, record->data, record->len);
	buf_release(record);
	flush();
}

static void say(const char *text)
{
	struct buf record = {0};
	record_text(&record, text, strlen(text));
	send_line(&record);
}

static void say_close(int code, const char *reason)
{
	struct buf record = {0};
	record_close(&record, code, reason);
	send_line(&record);
}

static void say_raw(const char *line)
{
	struct buf record = {0};
	buf_puts(&record, line);
	send_line(&record);
}

/* Sends count texts of size bytes. */
static void flood(long count, size_t size)
{
	char *text = xmalloc(size + 1);
	memset(text, 'x', size);
	text[size] = '\0';
	while (count-- > 0)
		say(text);
	free(text);
}

static void hold(unsigned ms)
{
	struct buf record = {0};
	record_signal(&record, RECORD_HOLD);
	send_line(&record);
	usleep(ms * 1000);
	record_signal(&record, RECORD_ON);
	send_line(&record);
	say("on");
}

/* Obeys a text by which a test orders something to happen; false if it is none. */
static bool obey(const char *order)
{
	long count;
	size_t size;
	int code, at = 0;
	unsigned ms;
	if (sscanf(order, "!flood %ld %zu", &count, &size) == 2)
		flood(count, size);
	else if (sscanf(order, "!close %d %n", &code, &at) == 1)
		say_close(code, order + at);
	else if (sscanf(order, "!hold %u", &ms) == 1)
		hold(ms);
	else if (strncmp(order, "!raw ", 5) == 0)
		say_raw(order + 5);
	else if (sscanf(order, "!nap %u", &ms) == 1)
		usleep(ms * 1000);
	else if (strcmp(order, "!deaf") == 0)
		sleep(60); /* and then as others, so that none is left behind */
	else if (strcmp(order, "!exit") == 0)
		exit(0);
	else
		return false;
	return true;
}

static void echo(const struct record *in)
{
	struct buf record = {0};
	if (in->kind == RECORD_BINARY)
		record_binary(&record, in->data, in->len);
	else
		record_text(&record, in->data, in->len);
	send_line(&record);
}

/* Obeys an order, and echoes everything else.  A text need not end with a zero, so an order is
 * copied. */
static void hear(const struct record *in)
{
	char order[256] = "";
	if (in->kind == RECORD_TEXT && in->len < sizeof(order))
		memcpy(order, in->data, in->len);
	if (order[0] != '!' || !obey(order))
		echo(in);
}

/* Logs the end, for tests to read, and says the last word. */
static void bye(int code)
{
	struct buf record = {0};
	fprintf(stderr, "gone %d\n", code);
	record_signal(&record, RECORD_BYE);
	send_line(&record);
}

static void begin(const char *mode)
{
	struct buf record = {0};
	if (strcmp(mode, "die") == 0)
		exit(1);
	if (strcmp(mode, "silent") == 0)
		return;
	if (strcmp(mode, "refuse") == 0)
		record_refuse(&record, 403,
		    "{\"detail\":\"No\",\"metadata\":{\"request_id\":\"r-1\"},\"close_code\":1008}");
	else if (strcmp(mode, "old") == 0)
		buf_puts(&record, "R99");
	else if (strcmp(mode, "noise") == 0)
		buf_puts(&record, "hello");
	else
		record_ready(&record);
	send_line(&record);
}

static void take_line(char *line, size_t len)
{
	struct record record;
	if (!record_parse(line, len, &record))
		fprintf(stderr, "no record of %zu bytes\n", len);
	else if (record.kind == RECORD_GONE)
		bye(record.code);
	else
		hear(&record);
}

/* Takes the whole lines of what came; a long line is not searched again for each of its pieces. */
static void take_lines(struct buf *in, size_t old)
{
	size_t from = 0;
	char *end;
	while ((end = memchr(in->data + (from > old ? from : old), '\n',
		    in->len - (from > old ? from : old)))) {
		take_line(in->data + from, (size_t)(end - in->data) - from);
		from = (size_t)(end - in->data) + 1;
	}
	memmove(in->data, in->data + from, in->len - from);
	in->len -= from;
}

/* False at the end of the input. */
static bool read_some(struct buf *in)
{
	size_t old = in->len;
	ssize_t got = read(STDIN_FILENO, buf_reserve(in, CHUNK), CHUNK);
	if (got <= 0)
		return got < 0 && errno == EAGAIN;
	in->len += (size_t)got;
	take_lines(in, old);
	return true;
}

static void read_mode(const char *path, char mode[32])
{
	FILE *file = path ? fopen(path, "r") : NULL;
	if (file && fscanf(file, "%31s", mode) != 1)
		mode[0] = '\0';
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	char mode[32] = "";
	struct buf in = {0};
	struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
	memory_init();
	read_mode(argc > 1 ? argv[1] : NULL, mode);
	fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
	begin(mode);
	do {
		flush();
		fds[1].events = out.len ? POLLOUT : 0;
		poll(fds, 2, -1);
	} while (!fds[0].revents || read_some(&in));
	buf_release(&in);
	buf_release(&out);
	return 0;
}
