/* SPDX-License-Identifier: ISC */
/*
 * Plays a WAV file to a live agent, and writes what the agent says to another one.
 *
 *     live-client [-i INIT] [-t TEXT] [-k TOKEN] [-f] HOST:PORT IN.wav|- OUT.wav
 *
 * Prints the events, one JSON object a line.  Goes on until the agent has answered everything, and
 * exits with status 0 if no fatal error came.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <wslay/wslay.h>

#define PACKET 3200 /* bytes: 100 ms */
#define PACKET_MS 100
#define TAIL 16000 /* bytes of silence after the file, by which the agent hears that it is over */
#define IN_HZ 16000
#define OUT_HZ 24000

struct client {
	int fd;
	wslay_event_context_ptr ws;
	FILE *out;
	uint32_t written; /* bytes of audio */
	bool failed;      /* a fatal error came */
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "live-client: %s: %s\n", what, why);
	exit(1);
}

/* ---- WAV */

static uint32_t little(const unsigned char *p, int bytes)
{
	uint32_t value = 0;
	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

/* Leaves the file at the first sample, and returns how many bytes of samples there are. */
static uint32_t open_wav(FILE *file, const char *name)
{
	unsigned char head[12], chunk[8], format[16];
	bool fits = false;
	if (fread(head, sizeof(head), 1, file) != 1 || memcmp(head, "RIFF", 4) != 0 ||
	    memcmp(head + 8, "WAVE", 4) != 0)
		die(name, "it is no WAV file");
	while (fread(chunk, sizeof(chunk), 1, file) == 1) {
		uint32_t size = little(chunk + 4, 4), skip = size + (size & 1);
		if (memcmp(chunk, "data", 4) == 0 && fits)
			return size;
		if (memcmp(chunk, "fmt ", 4) == 0 && size >= sizeof(format)) {
			if (fread(format, sizeof(format), 1, file) != 1)
				break;
			fits = little(format, 2) == 1 && little(format + 2, 2) == 1 &&
			    little(format + 4, 4) == IN_HZ && little(format + 14, 2) == 16;
			skip -= sizeof(format);
		}
		if (fseek(file, skip, SEEK_CUR) != 0)
			break;
	}
	die(name, "expected 16-bit PCM, one channel, 16000 Hz (sox IN -b 16 -c 1 -r 16000 OUT)");
	return 0;
}

static void put_little(FILE *file, uint32_t value, int bytes)
{
	for (; bytes--; value >>= 8)
		fputc((int)(value & 255), file);
}

/* Is called again at the end, when the sizes are known. */
static void write_head(FILE *file, uint32_t bytes)
{
	fputs("RIFF", file);
	put_little(file, 36 + bytes, 4);
	fputs("WAVEfmt ", file);
	put_little(file, 16, 4);
	put_little(file, 1, 2);
	put_little(file, 1, 2);
	put_little(file, OUT_HZ, 4);
	put_little(file, OUT_HZ * 2, 4);
	put_little(file, 2, 2);
	put_little(file, 16, 2);
	fputs("data", file);
	put_little(file, bytes, 4);
}

/* ---- the connection */

static int connect_to(const char *host)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	char name[256];
	const char *colon = strrchr(host, ':');
	if (!colon || (size_t)(colon - host) >= sizeof(name))
		die(host, "expected HOST:PORT");
	memcpy(name, host, (size_t)(colon - host));
	name[colon - host] = '\0';
	int code = getaddrinfo(name, colon + 1, &hints, &found);
	if (code)
		die(host, gai_strerror(code));
	int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
		die(host, strerror(errno));
	freeaddrinfo(found);
	return fd;
}

/* Sends a constant key, and does not look at the answer to it: nothing between us and the service
 * would answer an upgrade. */
static void shake_hands(int fd, const char *host, const char *token)
{
	char head[4096];
	size_t len = 0;
	dprintf(fd,
	    "GET /v1/graph/live HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: "
	    "Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
	    "dGhlIHNhbXBsZSBub25jZQ==\r\n%s%s%s\r\n",
	    host, token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "");
	while (len < sizeof(head) - 1 && read(fd, head + len, 1) == 1) {
		head[++len] = '\0';
		if (len >= 4 && strcmp(head + len - 4, "\r\n\r\n") == 0)
			break;
	}
	head[strcspn(head, "\r")] = '\0';
	if (strncmp(head, "HTTP/1.1 101", 12) != 0)
		die("the handshake was refused", *head ? head : "no answer");
}

static ssize_t receive(
    wslay_event_context_ptr ws, uint8_t *to, size_t size, int flags, void *user_data)
{
	struct client *c = user_data;
	(void)flags;
	ssize_t n = recv(c->fd, to, size, MSG_DONTWAIT);
	if (n > 0)
		return n;
	wslay_event_set_error(
	    ws, n < 0 && errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static ssize_t transmit(
    wslay_event_context_ptr ws, const uint8_t *data, size_t len, int flags, void *user_data)
{
	struct client *c = user_data;
	(void)flags;
	ssize_t n = send(c->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	wslay_event_set_error(
	    ws, errno == EAGAIN ? WSLAY_ERR_WOULDBLOCK : WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

static int mask(wslay_event_context_ptr ws, uint8_t *to, size_t len, void *user_data)
{
	(void)ws, (void)user_data;
	return getrandom(to, len, 0) == (ssize_t)len ? 0 : -1;
}

static void take_message(
    wslay_event_context_ptr ws, const struct wslay_event_on_msg_recv_arg *message, void *user_data)
{
	struct client *c = user_data;
	(void)ws;
	if (message->opcode == WSLAY_BINARY_FRAME) {
		fwrite(message->msg, 1, message->msg_length, c->out);
		c->written += (uint32_t)message->msg_length;
	} else if (message->opcode == WSLAY_TEXT_FRAME) {
		printf("%.*s\n", (int)message->msg_length, (const char *)message->msg);
		fflush(stdout);
		if (memmem(message->msg, message->msg_length, "\"fatal\":true", 12))
			c->failed = true;
	}
}

static void say(struct client *c, uint8_t opcode, const void *data, size_t len)
{
	const struct wslay_event_msg message = {opcode, data, len};
	wslay_event_queue_msg(c->ws, &message);
}

/* ---- talking */

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits up to wait ms, and sends and receives what is due; false at the end. */
static bool turn(struct client *c, int wait)
{
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};
	if (wslay_event_want_write(c->ws))
		fd.events |= POLLOUT;
	if (poll(&fd, 1, wait) > 0 && (fd.revents & (POLLIN | POLLHUP | POLLERR)) &&
	    wslay_event_recv(c->ws) != 0)
		return false;
	return wslay_event_send(c->ws) == 0 && !wslay_event_get_close_received(c->ws);
}

/* Sends the audio at the speed of speech, or with fast as quickly as the service takes it. */
static bool play(struct client *c, FILE *in, uint32_t bytes, bool fast)
{
	char packet[PACKET];
	int64_t due = now_ms();
	for (uint32_t left = bytes + TAIL; left > 0;) {
		size_t n = left < PACKET ? left : PACKET;
		memset(packet, 0, n);
		size_t heard = left > TAIL ? left - TAIL : 0;
		if (heard && fread(packet, 1, heard < n ? heard : n, in) == 0)
			left = (uint32_t)n; /* the file is shorter than it says */
		say(c, WSLAY_BINARY_FRAME, packet, n);
		left -= (uint32_t)n;
		due += fast ? 0 : PACKET_MS;
		do {
			int64_t wait = due - now_ms();
			if (!turn(c, wait > 0 ? (int)wait : 0))
				return false;
		} while (now_ms() < due || wslay_event_want_write(c->ws));
	}
	return true;
}

static void say_text(struct client *c, const char *text)
{
	char *frame = malloc(strlen(text) * 6 + 40);
	char *p = frame + sprintf(frame, "{\"type\":\"text\",\"text\":\"");
	for (; *text; text++)
		p += sprintf(p,
		    (unsigned char)*text < ' ' || *text == '"' || *text == '\\' ? "\\u%04x" : "%c",
		    (unsigned char)*text);
	p += sprintf(p, "\"}");
	say(c, WSLAY_TEXT_FRAME, frame, (size_t)(p - frame));
	free(frame);
}

static int usage(void)
{
	fputs("usage: live-client [-i INIT] [-t TEXT] [-k TOKEN] [-f] HOST:PORT IN.wav|- OUT.wav\n"
	      "  -i INIT   the first frame, JSON; without it {}\n"
	      "  -t TEXT   a text turn before the audio\n"
	      "  -k TOKEN  a bearer token\n"
	      "  -f        fast: do not wait as long as the audio lasts\n",
	    stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct wslay_event_callbacks callbacks = {.recv_callback = receive,
	    .send_callback = transmit,
	    .genmask_callback = mask,
	    .on_msg_recv_callback = take_message};
	const char *init = "{}", *text = NULL, *token = NULL;
	struct client c = {0};
	FILE *in = NULL;
	bool fast = false;
	int option;
	while ((option = getopt(argc, argv, "i:t:k:f")) != -1) {
		switch (option) {
		case 'i':
			init = optarg;
			break;
		case 't':
			text = optarg;
			break;
		case 'k':
			token = optarg;
			break;
		case 'f':
			fast = true;
			break;
		default:
			return usage();
		}
	}
	if (argc - optind != 3)
		return usage();
	if (strcmp(argv[optind + 1], "-") != 0 && !(in = fopen(argv[optind + 1], "rb")))
		die(argv[optind + 1], strerror(errno));
	uint32_t bytes = in ? open_wav(in, argv[optind + 1]) : 0;
	if (!(c.out = fopen(argv[optind + 2], "wb")))
		die(argv[optind + 2], strerror(errno));
	write_head(c.out, 0);
	c.fd = connect_to(argv[optind]);
	shake_hands(c.fd, argv[optind], token);
	wslay_event_context_client_init(&c.ws, &callbacks, &c);
	say(&c, WSLAY_TEXT_FRAME, init, strlen(init));
	if (text)
		say_text(&c, text);
	if (!in || play(&c, in, bytes, fast)) {
		say(&c, WSLAY_TEXT_FRAME, "{\"type\":\"close\"}", 16);
		while (turn(&c, 1000))
			continue;
	}
	fseek(c.out, 0, SEEK_SET);
	write_head(c.out, c.written);
	if (fclose(c.out) != 0)
		die(argv[optind + 2], strerror(errno));
	wslay_event_context_free(c.ws);
	return c.failed;
}
