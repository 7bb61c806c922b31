/* SPDX-License-Identifier: ISC */
/*
 * A WebSocket client that can also do everything wrong; tests of the relay drive it.
 *
 *     ws_client SOCKET|HOST:PORT ACTION...
 *
 *     get=PATH,HEADER,...   sends a request with these header lines
 *     open=PATH,TICKET      sends a good handshake; tells the answer
 *     answer                tells an answer of HTTP: status line, headers, body up to the end
 *     hex=BYTES  repeat=N,BYTES   sends bytes as they are
 *     text=STRING           sends a text in one masked frame
 *     data=N   cut=N        sends N bytes of x as one binary message; the first half of it
 *     recv                  tells the next frame, or "end"
 *     frames=N              receives N frames and tells how many bytes they had
 *     until=WORD            receives frames until one begins with WORD ("close", "end", a text)
 *     sleep=MS  shut  reset    waits; ends our side; goes without a word
 *
 * Each action that tells something writes one line.  Nothing may take longer than 30 seconds.
 */
#include "base/memory.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE 30                    /* seconds */
#define KEY "dGhlIHNhbXBsZSBub25jZQ==" /* RFC 6455, 1.3 */
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static int peer;

static int fail(const char *what)
{
	fprintf(stderr, "ws_client: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- Bytes */

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? fd : -1;
}

static int connect_tcp(char *host, char *port)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	if (getaddrinfo(host, port, &hints, &found) != 0)
		return -1;
	int fd = socket(found->ai_family, SOCK_STREAM, 0);
	int failure = connect(fd, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return failure ? -1 : fd;
}

static void connect_to(char *where)
{
	const struct timeval patience = {.tv_sec = PATIENCE};
	char *colon = strchr(where, ':');
	if (colon && where[0] != '/') {
		*colon = '\0';
		peer = connect_tcp(where, colon + 1);
	} else {
		peer = connect_unix(where);
	}
	if (peer < 0)
		fail("cannot connect");
	setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* Whoever is closed while sending shows it when receiving. */
static void put(const void *data, size_t len)
{
	const char *from = data;
	while (len > 0) {
		ssize_t sent = send(peer, from, len, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		from += sent;
		len -= (size_t)sent;
	}
}

static size_t unhex(const char *hex, char *out)
{
	size_t len = strlen(hex) / 2;
	unsigned byte;
	for (size_t i = 0; i < len; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			fail("no hexadecimal bytes");
		out[i] = (char)byte;
	}
	return len;
}

static void put_hex(const char *hex, long times)
{
	size_t room = strlen(hex) / 2;
	char *all = xmalloc(room * (size_t)times + 1);
	size_t len = 0;
	while (times-- > 0)
		len += unhex(hex, all + len);
	put(all, len);
	free(all);
}

/* True once all of it came; false at the end. */
static bool get(void *to, size_t len)
{
	char *at = to;
	while (len > 0) {
		ssize_t got = recv(peer, at, len, 0);
		if (got < 0 && errno == EAGAIN)
			fail("nothing comes");
		if (got <= 0)
			return false;
		at += got;
		len -= (size_t)got;
	}
	return true;
}

/* ---- HTTP */

/* The head of an answer, up to and with its blank line. */
static char *get_head(void)
{
	static char head[16384];
	size_t len = 0;
	head[0] = '\0';
	while (len < sizeof(head) - 1 && get(head + len, 1)) {
		head[++len] = '\0';
		if (len >= 4 && strcmp(head + len - 4, "\r\n\r\n") == 0)
			break;
	}
	return head;
}

static void do_get(char *spec)
{
	char *rest = spec, *part = strsep(&rest, ",");
	dprintf(peer, "GET %s HTTP/1.1\r\n", part);
	while ((part = strsep(&rest, ",")))
		dprintf(peer, "%s\r\n", part);
	put("\r\n", 2);
}

static void do_open(char *spec)
{
	char *ticket = strchr(spec, ',');
	if (!ticket)
		fail("open=PATH,TICKET");
	*ticket++ = '\0';
	dprintf(peer,
	    "GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " KEY "\r\n"
	    "X-Agentgraph-Ticket: %s\r\n\r\n",
	    spec, ticket);
	const char *head = get_head();
	const char *protocol = strstr(head, "\r\nSec-WebSocket-Protocol: ");
	printf("%.*s%s", (int)strcspn(head, "\r"), head, strstr(head, ACCEPT) ? " accepted" : "");
	if (protocol)
		printf(" %.*s", (int)strcspn(protocol + 26, "\r"), protocol + 26);
	putchar('\n');
}

static void do_answer(void)
{
	char chunk[4096];
	ssize_t got;
	for (const char *c = get_head(); *c; c++)
		if (*c != '\r')
			putchar(*c);
	while ((got = recv(peer, chunk, sizeof(chunk), 0)) > 0)
		fwrite(chunk, 1, (size_t)got, stdout);
	puts(got < 0 ? " reset" : "");
}

/* ---- Frames */

static void put_frame_head(int opcode, uint64_t len)
{
	unsigned char head[14] = {(unsigned char)(0x80 | opcode), 0x80};
	size_t bytes = len < 126 ? 0 : len < 65536 ? 2 : 8;
	head[1] |= (unsigned char)(bytes == 0 ? len : bytes == 2 ? 126 : 127);
	for (size_t i = 0; i < bytes; i++)
		head[2 + i] = (unsigned char)(len >> (8 * (bytes - 1 - i)));
	put(head, 2 + bytes + 4); /* a mask of zeroes */
}

static void put_data(size_t len, size_t sent)
{
	char *data = xmalloc(len + 1);
	memset(data, 'x', len);
	put_frame_head(2, len);
	put(data, sent);
	free(data);
}

struct frame {
	int opcode; /* -1: the end */
	uint64_t len;
	char *data; /* NUL-terminated; valid until the next frame */
};

static struct frame get_frame(void)
{
	static char *data;
	unsigned char head[2], more[8];
	struct frame frame = {-1, 0, NULL};
	if (!get(head, 2))
		return frame;
	size_t bytes = (head[1] & 127) == 126 ? 2 : (head[1] & 127) == 127 ? 8 : 0;
	if (head[1] & 128 || !get(more, bytes))
		return frame;
	frame.len = bytes ? 0 : head[1] & 127;
	for (size_t i = 0; i < bytes; i++)
		frame.len = frame.len << 8 | more[i];
	free(data);
	data = xmalloc(frame.len + 1);
	if (!get(data, frame.len))
		return frame;
	data[frame.len] = '\0';
	frame.data = data;
	frame.opcode = head[0] & 15;
	return frame;
}

static void describe(const struct frame *frame, char *out, size_t size)
{
	static const char *const kinds[16] = {[2] = "binary", [9] = "ping", [10] = "pong"};
	if (frame->opcode < 0)
		snprintf(out, size, "end");
	else if (frame->opcode == 1)
		snprintf(out, size, "%.100s", frame->data);
	else if (frame->opcode == 8 && frame->len < 2)
		snprintf(out, size, "close");
	else if (frame->opcode == 8)
		snprintf(out, size, "close %d%s%s",
		    (unsigned char)frame->data[0] << 8 | (unsigned char)frame->data[1],
		    frame->len > 2 ? " " : "", frame->data + 2);
	else
		snprintf(out, size, "%s %llu",
		    kinds[frame->opcode] ? kinds[frame->opcode] : "unknown",
		    (unsigned long long)frame->len);
}

static void do_recv(void)
{
	char text[256];
	struct frame frame = get_frame();
	describe(&frame, text, sizeof(text));
	puts(text);
}

static void do_frames(long count)
{
	unsigned long long bytes = 0;
	long got = 0;
	for (; got < count; got++) {
		struct frame frame = get_frame();
		if (frame.opcode < 0 || frame.opcode == 8)
			break;
		bytes += frame.len;
	}
	printf("%ld frames, %llu bytes\n", got, bytes);
}

static void do_until(const char *word)
{
	char text[256];
	struct frame frame;
	do {
		frame = get_frame();
		describe(&frame, text, sizeof(text));
	} while (frame.opcode >= 0 && strncmp(text, word, strlen(word)) != 0);
	puts(text);
}

/* ---- Actions */

static void do_reset(void)
{
	const struct linger none = {1, 0};
	setsockopt(peer, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(peer);
	exit(0);
}

static void do_repeat(char *spec)
{
	char *bytes;
	long times = strtol(spec, &bytes, 10);
	if (*bytes != ',' || times < 0)
		fail("repeat=N,BYTES");
	put_hex(bytes + 1, times);
}

static void act(char *action)
{
	char *value = strchr(action, '=');
	value = value ? value + 1 : action + strlen(action);
	if (strncmp(action, "get=", 4) == 0)
		do_get(value);
	else if (strncmp(action, "open=", 5) == 0)
		do_open(value);
	else if (strcmp(action, "answer") == 0)
		do_answer();
	else if (strncmp(action, "hex=", 4) == 0)
		put_hex(value, 1);
	else if (strncmp(action, "repeat=", 7) == 0)
		do_repeat(value);
	else if (strncmp(action, "text=", 5) == 0)
		put_frame_head(1, strlen(value)), put(value, strlen(value));
	else if (strncmp(action, "data=", 5) == 0)
		put_data(strtoul(value, NULL, 10), strtoul(value, NULL, 10));
	else if (strncmp(action, "cut=", 4) == 0)
		put_data(strtoul(value, NULL, 10), strtoul(value, NULL, 10) / 2);
	else if (strcmp(action, "recv") == 0)
		do_recv();
	else if (strncmp(action, "frames=", 7) == 0)
		do_frames(strtol(value, NULL, 10));
	else if (strncmp(action, "until=", 6) == 0)
		do_until(value);
	else if (strncmp(action, "sleep=", 6) == 0)
		usleep((useconds_t)strtoul(value, NULL, 10) * 1000);
	else if (strcmp(action, "shut") == 0)
		shutdown(peer, SHUT_WR);
	else if (strcmp(action, "reset") == 0)
		do_reset();
	else
		fail(action);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: ws_client SOCKET|HOST:PORT ACTION...\n");
		return 2;
	}
	connect_to(argv[1]);
	for (int i = 2; i < argc; i++)
		act(argv[i]);
	return 0;
}
