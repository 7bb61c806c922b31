/* SPDX-License-Identifier: ISC */
/* The client's side of a connection: handshake, ticket, frames, pings, and the way out. */
#include "ws-bridge/relay/relay_connection.h"

#include "base/http/http_head.h"
#include "base/log/log.h"
#include "base/memory.h"
#include "base/metrics/metrics.h"
#include "ws-bridge/relay/relay_handshake.h"

#include <errno.h>
#include <string.h>

/* After so many periods without a byte a client is taken to be gone, if it had one of them to
 * answer a ping: this process may have been stopped. */
#define SILENT_PINGS 3

/* ---- Refusing */

static void relay_client_begin_closing(struct connection *c)
{
	c->client_stage = CLIENT_CLOSING;
	c->client.deadline = c->relay->loop.now + LAST_WORDS_MS;
}

static void relay_client_refuse(struct connection *c, const struct error *err)
{
	if (c->client_stage != CLIENT_HEAD && c->client_stage != CLIENT_HELD)
		return;
	refusal_error(&c->client.link.out, err, c->request_id);
	relay_client_begin_closing(c);
}

static void relay_client_refuse_with(struct connection *c, enum error_kind kind, const char *text)
{
	struct error err = {0};
	error_set(&err, kind, text ? "%s" : NULL, text);
	relay_client_refuse(c, &err);
	error_release(&err);
}

void client_unavailable(struct connection *c)
{
	relay_client_refuse_with(c, ERR_SERVICE_UNAVAILABLE, NULL);
}

void client_refuse_given(struct connection *c, const struct record *record)
{
	if (c->client_stage != CLIENT_HELD)
		return;
	if (refusal_given(&c->client.link.out, record->code, record->data, record->len)) {
		relay_client_begin_closing(c);
	} else {
		log_error("the helper refused with a body that is no JSON object");
		client_unavailable(c);
	}
}

/* ---- Counting */

/* A ticket opens one connection only, so that nobody gains by reading one later. */
static bool relay_client_use_ticket(
    struct relay *relay, const struct ticket *ticket, struct error *err)
{
	if (tally_count(&relay->used, ticket->request_id) > 0 ||
	    tally_count(&relay->used_before, ticket->request_id) > 0) {
		error_set(err, ERR_INVALID_TOKEN, NULL);
		return error_cause(err, "ticket: used before");
	}
	tally_add(&relay->used, ticket->request_id, 1);
	return true;
}

static bool relay_client_take_slot(
    struct connection *c, const struct ticket *ticket, struct error *err)
{
	struct relay *relay = c->relay;
	const struct relay_settings *settings = relay->settings;
	/* helpers whose clients have left go on as long as their runs do; they are limited just as
	 * those with clients are */
	if (settings->max_connections &&
	    (relay->taken >= settings->max_connections ||
		relay->leaving >= settings->max_connections))
		return error_set(err, ERR_TOO_MANY_CONNECTIONS, NULL);
	if (ticket->verified && settings->max_connections_per_user &&
	    (tally_count(&relay->users, ticket->user_id) >= settings->max_connections_per_user ||
		tally_count(&relay->users_leaving, ticket->user_id) >=
		    settings->max_connections_per_user))
		return error_set(
		    err, ERR_TOO_MANY_CONNECTIONS, "Too many connections for this user");
	relay->taken++;
	c->has_slot = true;
	c->live = strcmp(ticket->route, TICKET_LIVE) == 0;
	metrics_gauge(GAUGE_SOCKETS, 1);
	metrics_gauge(GAUGE_LIVE, c->live);
	if (ticket->verified) {
		c->user = xstrdup(ticket->user_id);
		tally_add(&relay->users, c->user, 1);
	}
	return true;
}

void client_drop(struct connection *c)
{
	link_close(&c->client.link);
	if (c->has_slot) {
		c->relay->taken--;
		metrics_gauge(GAUGE_SOCKETS, -1);
		metrics_gauge(GAUGE_LIVE, -c->live);
		if (c->user)
			tally_add(&c->relay->users, c->user, -1);
	}
	c->has_slot = false;
	c->client_stage = CLIENT_GONE;
}

static void relay_client_lost(struct connection *c)
{
	client_drop(c);
	helper_leave(c, 1006);
}

/* ---- The handshake */

static void relay_client_admit(struct connection *c, const struct handshake *handshake)
{
	struct relay_settings *settings = c->relay->settings;
	const char *text = handshake->ticket, *path = handshake->path;
	struct arena *a = arena_new();
	struct ticket ticket;
	struct error err = {0};
	bool good = ticket_verify(&settings->key, text, path, a, &ticket, &err);
	if (!good && settings->rekey && settings->rekey(settings)) {
		error_release(&err);
		good = ticket_verify(&settings->key, text, path, a, &ticket, &err);
	}
	if (!good || !relay_client_use_ticket(c->relay, &ticket, &err)) {
		log_warning("a handshake on %s was refused: %s", path, err.cause);
		relay_client_refuse(c, &err);
	} else {
		c->request_id = xstrdup(ticket.request_id);
		c->subprotocol = xstrdup(ticket.subprotocol);
		log_request(c->request_id);
		if (relay_client_take_slot(c, &ticket, &err)) {
			handshake_accept(handshake->key, c->accept);
			c->client_stage = CLIENT_HELD;
			c->client.deadline = 0;
			if (!helper_start(c, ticket.route, text))
				client_unavailable(c);
		} else {
			relay_client_refuse(c, &err);
		}
	}
	error_release(&err);
	arena_free(a);
}

static void relay_client_read_head(struct connection *c)
{
	struct buf *head = &c->client.head;
	struct handshake handshake;
	char *to = buf_reserve(head, HANDSHAKE_LONGEST - head->len);
	ssize_t got =
	    link_read(&c->client.link, to, HANDSHAKE_LONGEST - head->len, c->relay->loop.now);
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		client_drop(c);
		return;
	}
	head->len += (size_t)got;
	head->data[head->len] = '\0';
	size_t len = http_head_length(head->data, head->len);
	if (len == 0) {
		if (head->len == HANDSHAKE_LONGEST)
			relay_client_refuse_with(
			    c, ERR_BAD_REQUEST, "The WebSocket handshake is too long");
		return;
	}
	switch (handshake_parse(head->data, len, &handshake)) {
	case HANDSHAKE_OK:
		relay_client_admit(c, &handshake);
		break;
	case HANDSHAKE_MALFORMED:
		relay_client_refuse_with(
		    c, ERR_BAD_REQUEST, "The WebSocket handshake is malformed");
		break;
	case HANDSHAKE_NO_UPGRADE:
	case HANDSHAKE_VERSION:
		relay_client_refuse_with(c, ERR_UPGRADE_REQUIRED, NULL);
		break;
	}
	memmove(head->data, head->data + len, head->len - len + 1);
	head->len -= len;
	if (c->client_stage != CLIENT_HEAD && head->len == 0)
		buf_release(head);
}

/* ---- The open socket */

static bool relay_client_on_message(void *arg, bool binary, char *data, size_t len)
{
	helper_message(arg, binary, data, len);
	return true;
}

static void relay_client_feed(struct connection *c, const char *data, size_t len)
{
	if (frames_feed(c->client.frames, data, len))
		return;
	helper_leave(c, frames_code(c->client.frames));
	relay_client_begin_closing(c);
}

void client_accept(struct connection *c)
{
	struct side *client = &c->client;
	buf_printf(&client->link.out,
	    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
	    "Sec-WebSocket-Accept: %s\r\n",
	    c->accept);
	if (c->subprotocol)
		buf_printf(&client->link.out, "Sec-WebSocket-Protocol: %s\r\n", c->subprotocol);
	buf_puts(&client->link.out, "\r\n");
	const struct frames_setup setup = {.role = FRAMES_OF_CLIENT,
	    .limit = c->relay->settings->message_limit,
	    .room = &c->relay->room,
	    .out = &client->link.out,
	    .on_message = relay_client_on_message,
	    .arg = c};
	client->frames = frames_new(&setup);
	c->client_stage = CLIENT_OPEN;
	c->pinged = c->clear = client->link.received = c->relay->loop.now;
	if (client->head.len > 0)
		relay_client_feed(c, client->head.data, client->head.len);
	buf_release(&client->head);
}

void client_event(struct connection *c)
{
	static char chunk[RELAY_CHUNK]; /* the loop has one thread */
	if (c->client_stage == CLIENT_HEAD) {
		relay_client_read_head(c);
		return;
	}
	if (!c->client.link.ending && !client_reading(c))
		return;
	/* one read a turn, so that everybody gets theirs */
	ssize_t got = link_read(&c->client.link, chunk, sizeof(chunk), c->relay->loop.now);
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0)
		relay_client_lost(c);
	else if (c->client_stage == CLIENT_OPEN)
		relay_client_feed(c, chunk, (size_t)got);
}

bool client_reading(const struct connection *c)
{
	if (c->client_stage == CLIENT_OPEN)
		return !c->hold && link_backlog(&c->helper.link) < HELPER_MARK;
	return c->client_stage != CLIENT_HELD;
}

void client_close(struct connection *c, int code, const char *reason, size_t len)
{
	if (c->client_stage != CLIENT_OPEN)
		return;
	frames_close(c->client.frames, code, reason, len);
	relay_client_begin_closing(c);
}

/* Whose messages count together: a verified user's, or else those of one connection. */
static const char *relay_client_holder(const struct connection *c)
{
	return c->user ? c->user : c->request_id;
}

static size_t relay_client_holds(const struct connection *c)
{
	return c->client_stage == CLIENT_OPEN ? frames_held(c->client.frames) : 0;
}

bool client_make_room(void *connection, size_t more)
{
	struct connection *c = connection, *first = c->relay->connections, *longest = NULL;
	struct tally held = {0};
	for (struct connection *o = first; o; o = o->next)
		if (relay_client_holds(o))
			tally_add(&held, relay_client_holder(o), (int64_t)relay_client_holds(o));
	int64_t most = tally_count(&held, relay_client_holder(c)) + (int64_t)more;
	for (struct connection *o = first; o; o = o->next) {
		int64_t holds =
		    relay_client_holds(o) ? tally_count(&held, relay_client_holder(o)) : 0;
		bool longer = longest && relay_client_holds(o) > relay_client_holds(longest);
		if (holds > most || (holds == most && longer)) {
			longest = o;
			most = holds;
		}
	}
	tally_clear(&held);
	if (!longest)
		return false;
	client_close(longest, FRAMES_CROWDED, NULL, 0);
	helper_leave(longest, FRAMES_CROWDED);
	return true;
}

/* Closes only our direction at first: closing both could become a reset, and the close frame be
 * lost. */
void client_flushed(struct connection *c)
{
	if (c->client_stage != CLIENT_CLOSING)
		return;
	shutdown(c->client.link.fd, SHUT_WR);
	c->client_stage = CLIENT_LINGERING;
	c->client.deadline = c->relay->loop.now + c->relay->settings->linger_ms;
}

/* ---- Time */

static int64_t relay_client_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void client_tick(struct connection *c)
{
	const struct relay_settings *settings = c->relay->settings;
	struct link *link = &c->client.link;
	int64_t now = c->relay->loop.now;
	if (c->client_stage != CLIENT_OPEN) {
		if (c->client_stage != CLIENT_GONE && c->client.deadline &&
		    now >= c->client.deadline)
			client_drop(c);
		return;
	}
	if (link_backlog(link) == 0)
		c->clear = now;
	if (!client_reading(c))
		link->received = now; /* who is not read cannot be silent */
	if (now - relay_client_later(c->clear, link->moved) >= settings->stall_ms) {
		log_warning("a client took nothing for %lld s: closed",
		    (long long)(settings->stall_ms / 1000));
		client_close(c, 1008, NULL, 0);
		helper_leave(c, 1008);
	} else if (now - link->received >= settings->ping_ms * SILENT_PINGS &&
	    c->pinged > link->received && now - c->pinged >= settings->ping_ms) {
		log_info("a client does not answer pings: closed");
		relay_client_lost(c);
	} else if (relay_client_later(now - link->received, now - link->moved) >=
		settings->ping_ms &&
	    now - c->pinged >= settings->ping_ms) {
		frames_ping(c->client.frames);
		c->pinged = now;
	}
}
