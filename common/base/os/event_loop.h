/* SPDX-License-Identifier: ISC */
/*
 * What the loop of a program is made of that serves many connections with one thread: an epoll over
 * its listening socket, its signals and its connections, and a tick.
 *
 * The program turns the loop itself: it waits for events, and knows by data.ptr what they are for:
 * &loop->listener, &loop->signals, or what it has added itself.
 */
#ifndef AGENTGRAPH_BASE_OS_EVENT_LOOP_H
#define AGENTGRAPH_BASE_OS_EVENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#define EVENT_LOOP_EVENTS 256 /* of one wait */
#define EVENT_LOOP_TICK_MS 250

struct event_loop {
	int epoll;
	int listener; /* -1 once it has stopped */
	int signals;
	bool deaf;    /* out of descriptors: it accepts nothing until the next tick */
	int64_t now;  /* clock_monotonic_ms at the latest wait */
	int64_t tick; /* when the next one is due */
	int accepts;  /* how many connections may still be accepted before the next wait */
};

/* listener is a listening socket, signals a signalfd; neither blocks.  False when
 * epoll is not to be had, which the log is told; event_loop_close is fine then, too. */
bool event_loop_open(struct event_loop *loop, int listener, int signals);
void event_loop_close(struct event_loop *loop);

/* Has epoll report when fd is readable. */
bool event_loop_watch(const struct event_loop *loop, int fd, void *mark);

/* Waits up to ms milliseconds, or until there is an event where that is negative and the loop is
 * not deaf; returns how many events there are. */
int event_loop_wait(struct event_loop *loop, struct epoll_event events[EVENT_LOOP_EVENTS], int ms);

/* The next connection, which does not block; -1 when there is none, or it is time to look after the
 * others again. */
int event_loop_accept(struct event_loop *loop);

/* The next signal that has come; 0 when there is none. */
int event_loop_signal(const struct event_loop *loop);

/* Whether a tick is due, after which the next one is EVENT_LOOP_TICK_MS away.  A deaf loop listens
 * again. */
bool event_loop_ticks(struct event_loop *loop);

/* Closes the listening socket.  A tick is due at once. */
void event_loop_stop(struct event_loop *loop);

#endif
