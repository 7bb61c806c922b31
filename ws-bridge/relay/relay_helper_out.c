/* SPDX-License-Identifier: ISC */
/* What goes to the helper: the connection to it, records, and the word that the client is gone. */
#include "ws-bridge/relay/relay_connection.h"

#include "base/log/log.h"
#include "base/os/descriptor.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

static void relay_helper_count_leaving(struct connection *c, int change)
{
	c->relay->leaving += change;
	if (c->user)
		tally_add(&c->relay->users_leaving, c->user, change);
}

void helper_enter(struct connection *c, enum helper_stage stage, int64_t wait_ms)
{
	if (c->helper_stage == HELPER_LEAVING)
		relay_helper_count_leaving(c, -1);
	if (stage == HELPER_LEAVING)
		relay_helper_count_leaving(c, 1);
	c->helper_stage = stage;
	c->helper.deadline = wait_ms ? c->relay->loop.now + wait_ms : 0;
}

void helper_drop(struct connection *c)
{
	link_close(&c->helper.link);
	helper_enter(c, HELPER_GONE, 0);
}

bool helper_start(struct connection *c, const char *route, const char *ticket)
{
	const struct relay_settings *settings = c->relay->settings;
	const struct sockaddr *address = (const struct sockaddr *)&settings->websocketd;
	char key[HANDSHAKE_KEY_SIZE];
	int on = 1;
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (fd < 0 ||
	    (connect(fd, address, settings->websocketd_size) != 0 && errno != EINPROGRESS)) {
		log_error("cannot connect to websocketd: %s", strerror(errno));
		descriptor_close(&fd);
		return false;
	}
	link_open(&c->helper.link, c->relay->loop.epoll, fd, c->relay->loop.now);
	helper_enter(c, HELPER_CONNECTING, HANDSHAKE_MS);
	handshake_key(key);
	handshake_accept(key, c->helper_accept);
	buf_printf(&c->helper.link.out,
	    "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n" TICKET_HEADER
	    ": %s\r\n" RECORD_VERSION_HEADER ": %d\r\n\r\n",
	    route, settings->host, key, ticket, RECORD_VERSION);
	return true;
}

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

void helper_leave(struct connection *c, int code)
{
	struct buf record = {0};
	switch (c->helper_stage) {
	case HELPER_CONNECTING:
		helper_drop(c);
		break;
	case HELPER_ANSWERING:
		c->gone = code;
		break;
	case HELPER_CHECKING:
	case HELPER_OPEN:
		record_gone(&record, code);
		relay_helper_send_record(c, &record);
		helper_enter(c, HELPER_LEAVING, c->relay->settings->bye_ms);
		break;
	case HELPER_NONE:
	case HELPER_LEAVING:
	case HELPER_GONE:
		break;
	}
}
