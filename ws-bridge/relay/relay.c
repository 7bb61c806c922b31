/* SPDX-License-Identifier: ISC */
/* The loop: accepting clients, ticks, signals, and draining at the end. */
#include "ws-bridge/relay/relay.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "ws-bridge/relay/relay_connection.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LONG_MESSAGES 8 /* so many messages of the greatest length may arrive at the same time */
#define TICK_MS 250
#define DRAIN_MS 5000
#define EVENTS 256
#define ACCEPTS 64 /* new connections a turn */

/* What epoll reports for the two descriptors that are no connection. */
static char listener_mark, signal_mark;

static bool relay_watch(const struct relay *relay, int fd, void *mark)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};
	if (epoll_ctl(relay->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	log_error("cannot wait for connections: %s", strerror(errno));
	return false;
}

static void relay_accept(struct relay *relay)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(relay->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			connection_new(relay, fd);
			continue;
		}
		if (descriptor_shortage(errno)) { /* the next tick listens again */
			log_error("cannot accept a connection: %s", strerror(errno));
			epoll_ctl(relay->epoll, EPOLL_CTL_DEL, relay->listener, NULL);
			relay->deaf = true;
		}
		return;
	}
}

static void relay_tick(struct relay *relay)
{
	struct connection *next;
	for (struct connection *c = relay->connections; c; c = next) {
		next = c->next;
		connection_tick(c);
	}
	/* a ticket is remembered for one period at least, which is as long as it is good */
	if (relay->now >= relay->period_end) {
		tally_clear(&relay->used_before);
		relay->used_before = relay->used;
		relay->used = (struct tally){0};
		relay->period_end = relay->now + TICKET_SECONDS * 1000;
	}
	if (relay->deaf && relay->listener >= 0)
		relay->deaf = !relay_watch(relay, relay->listener, &listener_mark);
}

/* True when one of the signals means the end. */
static bool relay_take_signals(struct relay *relay)
{
	struct signalfd_siginfo info;
	bool end = false;
	while (read(relay->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			relay->settings->reload(relay->settings);
			relay->room.max = LONG_MESSAGES * relay->settings->message_limit;
		} else {
			end = true;
		}
	}
	return end;
}

/* One turn of the loop, with a tick every TICK_MS.  Connections that ended are freed last, when no
 * event can be for them any more.  False when there was a signal to end. */
static bool relay_turn(struct relay *relay, int64_t *next_tick)
{
	struct epoll_event events[EVENTS];
	bool signalled = false;
	/* with nobody there is nothing to time */
	int patience = relay->connections || relay->deaf ? TICK_MS : -1;
	int count = epoll_wait(relay->epoll, events, EVENTS, patience);
	relay->now = clock_monotonic_ms();
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &signal_mark)
			signalled = relay_take_signals(relay);
		else if (events[i].data.ptr == &listener_mark)
			relay_accept(relay);
		else
			connection_event(events[i].data.ptr, events[i].events);
	}
	if (relay->now >= *next_tick) {
		relay_tick(relay);
		*next_tick = relay->now + TICK_MS;
	}
	connection_sweep(relay);
	return !signalled;
}

bool relay_run(struct relay_settings *settings, int listener, int signals)
{
	static struct relay relay;
	int64_t next_tick = 0;
	relay = (struct relay){.settings = settings, .signals = signals, .listener = listener};
	relay.room = (struct frames_room){
	    .max = LONG_MESSAGES * settings->message_limit, .make = client_make_room};
	relay.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (relay.epoll < 0 || !relay_watch(&relay, listener, &listener_mark) ||
	    !relay_watch(&relay, signals, &signal_mark))
		return false;
	while (relay_turn(&relay, &next_tick))
		continue;
	relay.stopping = true;
	/* others may have the socket, too, so that epoll would not forget it when it is closed */
	epoll_ctl(relay.epoll, EPOLL_CTL_DEL, relay.listener, NULL);
	close(relay.listener);
	relay.listener = -1;
	for (struct connection *c = relay.connections, *next; c; c = next) {
		next = c->next;
		connection_stop(c);
	}
	connection_sweep(&relay);
	int64_t end = relay.now + DRAIN_MS;
	bool quiet = true; /* false when a second signal comes */
	next_tick = 0;
	while (quiet && relay.connections && relay.now < end)
		quiet = relay_turn(&relay, &next_tick);
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
	close(relay.epoll);
	return quiet;
}
