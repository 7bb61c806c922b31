/* SPDX-License-Identifier: ISC */
/* The loop: clients, ticks, signals, and draining at the end. */
#include "ws-bridge/relay/relay.h"

#include "ws-bridge/relay/relay_connection.h"

#include <signal.h>

#define LONG_MESSAGES 8 /* so many messages of the greatest length may arrive at the same time */
#define DRAIN_MS 5000

static void relay_tick(struct relay *relay)
{
	struct connection *next;
	for (struct connection *c = relay->connections; c; c = next) {
		next = c->next;
		connection_tick(c);
	}
	/* a ticket is remembered for one period at least, which is as long as it is good */
	if (relay->loop.now >= relay->period_end) {
		tally_clear(&relay->used_before);
		relay->used_before = relay->used;
		relay->used = (struct tally){0};
		relay->period_end = relay->loop.now + TICKET_SECONDS * 1000;
	}
}

/* True when one of the signals means the end. */
static bool relay_take_signals(struct relay *relay)
{
	bool end = false;
	for (int signal; (signal = event_loop_signal(&relay->loop));) {
		if (signal == SIGHUP) {
			relay->settings->reload(relay->settings);
			relay->room.max = LONG_MESSAGES * relay->settings->message_limit;
		} else {
			end = true;
		}
	}
	return end;
}

/* One turn of the loop.  Connections that ended are freed last, when no event can be for them any
 * more.  False when there was a signal to end. */
static bool relay_turn(struct relay *relay)
{
	struct event_loop *loop = &relay->loop;
	struct epoll_event events[EVENT_LOOP_EVENTS];
	bool signalled = false;
	/* with nobody there is nothing to time */
	int count = event_loop_wait(loop, events, relay->connections ? EVENT_LOOP_TICK_MS : -1);
	for (int i = 0, fd; i < count; i++) {
		if (events[i].data.ptr == &loop->signals) {
			signalled = relay_take_signals(relay);
		} else if (events[i].data.ptr == &loop->listener) {
			while ((fd = event_loop_accept(loop)) >= 0)
				connection_new(relay, fd);
		} else {
			connection_event(events[i].data.ptr, events[i].events);
		}
	}
	if (event_loop_ticks(loop))
		relay_tick(relay);
	connection_sweep(relay);
	return !signalled;
}

bool relay_run(struct relay_settings *settings, int listener, int signals)
{
	static struct relay relay;
	relay = (struct relay){.settings = settings};
	relay.room = (struct frames_room){
	    .max = LONG_MESSAGES * settings->message_limit, .make = client_make_room};
	if (!event_loop_open(&relay.loop, listener, signals))
		return false;
	while (relay_turn(&relay))
		continue;
	event_loop_stop(&relay.loop);
	for (struct connection *c = relay.connections, *next; c; c = next) {
		next = c->next;
		connection_stop(c);
	}
	connection_sweep(&relay);
	int64_t end = relay.loop.now + DRAIN_MS;
	bool quiet = true; /* false when a second signal comes */
	while (quiet && relay.connections && relay.loop.now < end)
		quiet = relay_turn(&relay);
	while (relay.connections) { /* left after the drain */
		struct connection *c = relay.connections;
		client_drop(c);
		helper_drop(c);
		connection_tick(c);
	}
	connection_sweep(&relay);
	tally_clear(&relay.users);
	tally_clear(&relay.users_leaving);
	tally_clear(&relay.used);
	tally_clear(&relay.used_before);
	event_loop_close(&relay.loop);
	return quiet;
}
