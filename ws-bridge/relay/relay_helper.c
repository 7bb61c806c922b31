/* SPDX-License-Identifier: ISC */
/* The helper's side of a connection: websocketd's handshake, records both ways, the end. */
#include "ws-bridge/relay/relay_connection.h"

#include "base/log/log.h"
#include "ws-bridge/relay/relay_refusal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a helper may send as one record, as a multiple of the limit for clients. */
#define RECORD_FACTOR 4

static void set_stage(struct connection *c, enum helper_stage stage, int64_t wait_ms)
{
	c->helper_stage = stage;
	c->helper.deadline = wait_ms ? c->relay->now + wait_ms : 0;
}

void helper_drop(struct connection *c)
{
	link_close(&c->helper.link);
	set_stage(c, HELPER_GONE, 0);
}

/* It failed; the client must know, unless it is the one that leaves. */
static void relay_helper_fail(struct connection *c, const char *why)
{
	if (c->helper_stage != HELPER_LEAVING && !c->gone)
		log_warning("%s", why);
	client_unavailable(c);
	client_close(c, 1011, "Internal error", strlen("Internal error"));
}

static void lost(struct connection *c, const char *why)
{
	relay_helper_fail(c, why);
	helper_drop(c);
}

/* ---- Connecting */

static int connect_to(const struct relay_settings *settings)
{
	const struct sockaddr *address = (const struct sockaddr *)&settings->websocketd;
	int on = 1;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, address, settings->websocketd_size) == 0 || errno == EINPROGRESS)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

void helper_start(struct connection *c, const char *route, const char *ticket)
{
	const struct relay_settings *settings = c->relay->settings;
	char key[HANDSHAKE_KEY_SIZE];
	int fd = connect_to(settings);
	if (fd < 0) {
		log_error("cannot connect to websocketd: %s", strerror(errno));
		client_unavailable(c);
		return;
	}
	link_open(&c->helper.link, c->relay->epoll, fd, c->relay->now);
	set_stage(c, HELPER_CONNECTING, HANDSHAKE_MS);
	handshake_key(key);
	handshake_accept(key, c->helper_accept);
	buf_printf(&c->helper.link.out,
	    "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n" TICKET_HEADER
	    ": %s\r\n" RECORD_VERSION_HEADER ": %d\r\n\r\n",
	    route, settings->host, key, ticket, RECORD_VERSION);
}

/* ---- Records */

static void relay_helper_send_record(struct connection *c, struct buf *record)
{
	frames_send(c->helper.frames, false, record->data, record->len);
	buf_release(record);
}

void helper_message(struct connection *c, bool binary, const char *data, size_t len)
{
	struct buf record = {0};
	if (c->helper_stage != HELPER_OPEN)
		return;
	if (binary)
		record_binary(&record, data, len);
	else
		record_text(&record, data, len);
	relay_helper_send_record(c, &record);
}

static void say_gone(struct connection *c, int code)
{
	struct buf record = {0};
	record_gone(&record, code);
	relay_helper_send_record(c, &record);
	set_stage(c, HELPER_LEAVING, c->relay->settings->bye_ms);
}

void helper_leave(struct connection *c, int code)
{
	switch (c->helper_stage) {
	case HELPER_CONNECTING:
		helper_drop(c);
		break;
	case HELPER_ANSWERING:
		c->gone = code;
		break;
	case HELPER_CHECKING:
	case HELPER_OPEN:
		say_gone(c, code);
		break;
	case HELPER_NONE:
	case HELPER_LEAVING:
	case HELPER_GONE:
		break;
	}
}

/* A record that must not come now, or is none.  The helper is told to go. */
static void confused(struct connection *c, char kind)
{
	char why[80];
	snprintf(why, sizeof(why), "the helper sent a record that must not come here (%d)", kind);
	relay_helper_fail(c, why);
	helper_leave(c, 1011);
}

static void take_open(struct connection *c, const struct record *record)
{
	if (record->kind == RECORD_BINARY && frames_begun(c->client.frames)) {
		confused(c, RECORD_BINARY);
		return;
	}
	switch (record->kind) {
	case RECORD_MORE:
		frames_begin(c->client.frames, record->data, record->len);
		break;
	case RECORD_TEXT:
	case RECORD_BINARY:
		frames_send(
		    c->client.frames, record->kind == RECORD_BINARY, record->data, record->len);
		break;
	case RECORD_HOLD:
	case RECORD_ON:
		c->hold = record->kind == RECORD_HOLD;
		break;
	case RECORD_CLOSE:
		client_close(c, record->code, record->data, record->len);
		helper_leave(c, record->code);
		break;
	case RECORD_BYE:
		lost(c, "the helper left without closing its client");
		break;
	case RECORD_READY:
	case RECORD_REFUSE:
	case RECORD_GONE:
		confused(c, (char)record->kind);
		break;
	}
}

static void relay_helper_take_record(struct connection *c, char *data, size_t len)
{
	struct record record;
	if (!record_parse(data, len, &record)) {
		confused(c, len ? data[0] : '\0');
	} else if (c->helper_stage == HELPER_LEAVING) {
		/* only a last word counts; it may have written much before it read that it is to go
		 */
		if (record.kind == RECORD_BYE || record.kind == RECORD_REFUSE)
			helper_drop(c);
	} else if (c->helper_stage == HELPER_OPEN) {
		take_open(c, &record);
	} else if (record.kind == RECORD_REFUSE) {
		client_refuse_given(c, &record);
		helper_drop(c); /* it only waits for the end of its input now */
	} else if (record.kind == RECORD_READY && record.code == RECORD_VERSION) {
		set_stage(c, HELPER_OPEN, 0);
		client_accept(c);
	} else {
		confused(c, (char)record.kind);
	}
}

/* A line can have several records. */
static bool relay_helper_on_message(void *arg, bool binary, char *data, size_t len)
{
	struct connection *c = arg;
	char *record;
	size_t size;
	if (binary)
		confused(c, '\0');
	while (
	    !binary && c->helper_stage != HELPER_GONE && (record = record_next(&data, &len, &size)))
		relay_helper_take_record(c, record, size);
	return c->helper_stage != HELPER_GONE;
}

/* ---- Reading */

static void relay_helper_feed(struct connection *c, const char *data, size_t len)
{
	if (!frames_feed(c->helper.frames, data, len) && c->helper_stage != HELPER_GONE)
		lost(c, "websocketd closed a connection, or sent what is no WebSocket");
}

static void relay_helper_answered(struct connection *c, size_t len)
{
	struct buf *head = &c->helper.head;
	struct buf rest = {0};
	bool good;
	int status = handshake_answer(head->data, len, c->helper_accept, &good);
	if (!good) {
		log_error("websocketd answered a handshake with status %d", status);
		lost(c, "no helper");
		return;
	}
	const struct frames_setup setup = {.role = FRAMES_OF_SERVER,
	    .limit = c->relay->settings->message_limit * RECORD_FACTOR,
	    .out = &c->helper.link.out,
	    .on_message = relay_helper_on_message,
	    .arg = c};
	c->helper.frames = frames_new(&setup);
	c->helper_stage = HELPER_CHECKING;
	if (c->gone)
		say_gone(c, c->gone);
	rest = *head;
	*head = (struct buf){0};
	relay_helper_feed(c, rest.data + len, rest.len - len);
	buf_release(&rest);
}

static void relay_helper_read_more(struct connection *c)
{
	static char chunk[RELAY_CHUNK];
	struct buf *head = &c->helper.head;
	ssize_t got = link_read(&c->helper.link, chunk, sizeof(chunk), c->relay->now);
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		lost(c, "the helper, or websocketd, is gone");
	} else if (c->helper_stage != HELPER_ANSWERING) {
		relay_helper_feed(c, chunk, (size_t)got);
	} else {
		buf_add(head, chunk, (size_t)got);
		size_t len = handshake_length(head->data, head->len);
		if (len > 0)
			relay_helper_answered(c, len);
		else if (head->len > HANDSHAKE_LONGEST)
			lost(c, "websocketd's answer has no end");
	}
}

bool helper_reading(const struct connection *c)
{
	if (c->helper_stage == HELPER_OPEN)
		return link_backlog(&c->client.link) < c->relay->settings->slow_bytes;
	return c->helper_stage != HELPER_CONNECTING;
}

void helper_event(struct connection *c)
{
	int error = 0;
	socklen_t size = sizeof(error);
	if (c->helper_stage != HELPER_CONNECTING) {
		if (c->helper.link.ending || helper_reading(c))
			relay_helper_read_more(c);
		return;
	}
	getsockopt(c->helper.link.fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (error) {
		log_error("cannot connect to websocketd: %s", strerror(error));
		lost(c, "no helper");
	} else {
		c->helper_stage = HELPER_ANSWERING;
	}
}

/* ---- Time */

void helper_tick(struct connection *c)
{
	if (!c->helper.deadline || c->relay->now < c->helper.deadline)
		return;
	switch (c->helper_stage) {
	case HELPER_CONNECTING:
	case HELPER_ANSWERING:
		lost(c, "websocketd does not answer");
		break;
	case HELPER_CHECKING:
		relay_helper_fail(c, "the helper is not ready in time");
		helper_leave(c, 1011);
		break;
	case HELPER_LEAVING:
		log_warning("a helper has not said its last word in time");
		helper_drop(c);
		break;
	case HELPER_NONE:
	case HELPER_OPEN:
	case HELPER_GONE:
		break;
	}
}
