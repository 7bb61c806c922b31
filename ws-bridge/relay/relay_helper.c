/* SPDX-License-Identifier: ISC */
/* What comes from the helper: websocketd's answer, records, the end. */
#include "ws-bridge/relay/relay_connection.h"

#include "base/http/http_head.h"
#include "base/log/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* A record of a helper may be longer than a client's message may, by this factor. */
#define RECORD_FACTOR 4

/* The helper failed: logs why, unless it was leaving anyway, and closes the client. */
static void relay_helper_fail(struct connection *c, const char *why)
{
	if (c->helper_stage != HELPER_LEAVING && !c->gone)
		log_warning("%s", why);
	client_unavailable(c);
	client_close(c, 1011, "Internal error", strlen("Internal error"));
}

static void relay_helper_lost(struct connection *c, const char *why)
{
	relay_helper_fail(c, why);
	helper_drop(c);
}

/* ---- Records */

/* Sends the helper away because of a record that must not come now, or is malformed. */
static void relay_helper_confused(struct connection *c, char kind)
{
	char why[80];
	snprintf(why, sizeof(why), "the helper sent a record that must not come here (%d)", kind);
	relay_helper_fail(c, why);
	helper_leave(c, 1011);
}

static void relay_helper_take_open(struct connection *c, const struct record *record)
{
	if (record->kind == RECORD_BINARY && frames_begun(c->client.frames)) {
		relay_helper_confused(c, RECORD_BINARY);
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
		relay_helper_lost(c, "the helper left without closing its client");
		break;
	case RECORD_READY:
	case RECORD_REFUSE:
	case RECORD_GONE:
		relay_helper_confused(c, (char)record->kind);
		break;
	}
}

static void relay_helper_take_record(struct connection *c, char *data, size_t len)
{
	struct record record;
	if (!record_parse(data, len, &record)) {
		relay_helper_confused(c, len ? data[0] : '\0');
	} else if (c->helper_stage == HELPER_LEAVING) {
		/* only its last word counts: it may have written much before it read GONE */
		if (record.kind == RECORD_BYE || record.kind == RECORD_REFUSE)
			helper_drop(c);
	} else if (c->helper_stage == HELPER_OPEN) {
		relay_helper_take_open(c, &record);
	} else if (record.kind == RECORD_REFUSE) {
		client_refuse_given(c, &record);
		helper_drop(c); /* it only waits for the end of its input now */
	} else if (record.kind == RECORD_READY && record.code == RECORD_VERSION) {
		helper_enter(c, HELPER_OPEN, 0);
		client_accept(c);
	} else {
		relay_helper_confused(c, (char)record.kind);
	}
}

/* Takes a line of the helper, which may have several records. */
static bool relay_helper_on_message(void *arg, bool binary, char *data, size_t len)
{
	struct connection *c = arg;
	char *record;
	size_t size;
	if (binary)
		relay_helper_confused(c, '\0');
	while (
	    !binary && c->helper_stage != HELPER_GONE && (record = record_next(&data, &len, &size)))
		relay_helper_take_record(c, record, size);
	return c->helper_stage != HELPER_GONE;
}

/* ---- Reading */

static void relay_helper_feed(struct connection *c, const char *data, size_t len)
{
	if (!frames_feed(c->helper.frames, data, len) && c->helper_stage != HELPER_GONE)
		relay_helper_lost(
		    c, "websocketd closed a connection, or sent what is no WebSocket");
}

static void relay_helper_answered(struct connection *c, size_t len)
{
	struct buf *head = &c->helper.head;
	struct buf rest = {0};
	bool good;
	int status = handshake_answer(head->data, len, c->helper_accept, &good);
	if (!good) {
		log_error("websocketd answered a handshake with status %d", status);
		relay_helper_lost(c, "no helper");
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
		helper_leave(c, c->gone);
	rest = *head;
	*head = (struct buf){0};
	relay_helper_feed(c, rest.data + len, rest.len - len);
	buf_release(&rest);
}

bool helper_reading(const struct connection *c)
{
	if (c->helper_stage == HELPER_OPEN)
		return link_backlog(&c->client.link) < c->relay->settings->slow_bytes;
	return c->helper_stage != HELPER_CONNECTING;
}

void helper_event(struct connection *c)
{
	static char chunk[RELAY_CHUNK];
	struct buf *head = &c->helper.head;
	if (c->helper_stage == HELPER_CONNECTING) {
		int error = 0;
		socklen_t size = sizeof(error);
		getsockopt(c->helper.link.fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error) {
			log_error("cannot connect to websocketd: %s", strerror(error));
			relay_helper_lost(c, "no helper");
		} else {
			c->helper_stage = HELPER_ANSWERING;
		}
		return;
	}
	if (!c->helper.link.ending && !helper_reading(c))
		return;
	ssize_t got = link_read(&c->helper.link, chunk, sizeof(chunk), c->relay->loop.now);
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		relay_helper_lost(c, "the helper, or websocketd, is gone");
	} else if (c->helper_stage != HELPER_ANSWERING) {
		relay_helper_feed(c, chunk, (size_t)got);
	} else {
		buf_add(head, chunk, (size_t)got);
		size_t len = http_head_length(head->data, head->len);
		if (len > 0)
			relay_helper_answered(c, len);
		else if (head->len > HANDSHAKE_LONGEST)
			relay_helper_lost(c, "websocketd's answer has no end");
	}
}

/* ---- Time */

void helper_tick(struct connection *c)
{
	if (!c->helper.deadline || c->relay->loop.now < c->helper.deadline)
		return;
	switch (c->helper_stage) {
	case HELPER_CONNECTING:
	case HELPER_ANSWERING:
		relay_helper_lost(c, "websocketd does not answer");
		break;
	case HELPER_CHECKING:
		relay_helper_fail(c, "the helper is not ready in time");
		helper_drop(c); /* it serves nobody yet */
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
