/* SPDX-License-Identifier: ISC */
/* Making and burying connections, and passing events to the side that they are for. */
#include "ws-bridge/relay/relay_connection.h"

#include "base/log/log.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

void connection_new(struct relay *relay, int fd)
{
	struct connection *c = xcalloc(1, sizeof(*c));
	c->relay = relay;
	c->client.connection = c->helper.connection = c;
	c->helper.link.fd = -1;
	link_open(&c->client.link, relay->loop.epoll, fd, relay->loop.now);
	c->client.deadline = relay->loop.now + HANDSHAKE_MS;
	c->next = relay->connections;
	if (c->next)
		c->next->previous = c;
	relay->connections = c;
	link_watch(&c->client.link, true, &c->client);
}

static void side_release(struct side *side)
{
	link_close(&side->link);
	frames_free(side->frames);
	buf_release(&side->head);
}

void connection_sweep(struct relay *relay)
{
	while (relay->dead) {
		struct connection *c = relay->dead;
		relay->dead = c->next;
		side_release(&c->client);
		side_release(&c->helper);
		free(c->request_id);
		free(c->user);
		free(c->subprotocol);
		free(c);
	}
}

/* After anything that happened: writes what waits, and asks for the events that are wanted now. */
static void relay_connection_settle(struct connection *c)
{
	struct link *client = &c->client.link, *helper = &c->helper.link;
	int64_t now = c->relay->loop.now;
	if (client->fd >= 0 && !link_flush(client, now))
		client->ending = true; /* what it has sent before may still be read */
	if (client->fd >= 0 && link_backlog(client) == 0)
		client_flushed(c);
	if (helper->fd >= 0 && c->helper_stage != HELPER_CONNECTING && !link_flush(helper, now))
		helper->ending = true;
	link_watch(client, client_reading(c), &c->client);
	link_watch(helper, helper_reading(c), &c->helper);
	if (c->client_stage != CLIENT_GONE ||
	    (c->helper_stage != HELPER_GONE && c->helper_stage != HELPER_NONE))
		return;
	/* it has ended; later events of this turn may still be for it */
	if (c->next)
		c->next->previous = c->previous;
	if (c->previous)
		c->previous->next = c->next;
	else
		c->relay->connections = c->next;
	c->previous = NULL;
	c->next = c->relay->dead;
	c->relay->dead = c;
}

void connection_event(struct side *side, uint32_t events)
{
	struct connection *c = side->connection;
	if (side->link.fd < 0)
		return; /* closed earlier in this turn */
	if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
		side->link.ending = true;
	log_request(c->request_id);
	if (side == &c->client)
		client_event(c);
	else
		helper_event(c);
	relay_connection_settle(c);
	log_request(NULL);
}

void connection_tick(struct connection *c)
{
	log_request(c->request_id);
	client_tick(c);
	helper_tick(c);
	relay_connection_settle(c);
	log_request(NULL);
}

void connection_stop(struct connection *c)
{
	log_request(c->request_id);
	if (c->client_stage == CLIENT_HEAD)
		client_drop(c);
	else if (c->client_stage == CLIENT_HELD)
		client_unavailable(c);
	else if (c->client_stage == CLIENT_OPEN)
		client_close(c, 1001, "Shutting down", strlen("Shutting down"));
	helper_leave(c, 1001);
	relay_connection_settle(c);
	log_request(NULL);
}
