/* SPDX-License-Identifier: ISC */
/* Watching, accepting, signals and ticks. */
#include "base/os/event_loop.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#define ACCEPTS 64 /* new connections after one wait */

bool event_loop_watch(const struct event_loop *loop, int fd, void *mark)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	log_error("cannot wait for connections: %s", strerror(errno));
	return false;
}

bool event_loop_open(struct event_loop *loop, int listener, int signals)
{
	*loop = (struct event_loop){
	    .epoll = epoll_create1(EPOLL_CLOEXEC), .listener = listener, .signals = signals};
	return event_loop_watch(loop, listener, &loop->listener) &&
	    event_loop_watch(loop, signals, &loop->signals);
}

void event_loop_close(struct event_loop *loop)
{
	descriptor_close(&loop->epoll);
}

int event_loop_wait(struct event_loop *loop, struct epoll_event events[EVENT_LOOP_EVENTS], int ms)
{
	if (loop->deaf && (ms < 0 || ms > EVENT_LOOP_TICK_MS))
		ms = EVENT_LOOP_TICK_MS;
	int count = epoll_wait(loop->epoll, events, EVENT_LOOP_EVENTS, ms);
	loop->now = clock_monotonic_ms();
	loop->accepts = ACCEPTS;
	return count;
}

int event_loop_accept(struct event_loop *loop)
{
	if (loop->listener < 0 || loop->accepts-- <= 0)
		return -1;
	int fd = accept4(loop->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0 && descriptor_shortage(errno)) { /* the next tick listens again */
		log_error("cannot accept a connection: %s", strerror(errno));
		epoll_ctl(loop->epoll, EPOLL_CTL_DEL, loop->listener, NULL);
		loop->deaf = true;
	}
	return fd;
}

int event_loop_signal(const struct event_loop *loop)
{
	struct signalfd_siginfo info;
	return read(loop->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)
	    ? (int)info.ssi_signo
	    : 0;
}

bool event_loop_ticks(struct event_loop *loop)
{
	if (loop->now < loop->tick)
		return false;
	loop->tick = loop->now + EVENT_LOOP_TICK_MS;
	if (loop->deaf && loop->listener >= 0)
		loop->deaf = !event_loop_watch(loop, loop->listener, &loop->listener);
	return true;
}

void event_loop_stop(struct event_loop *loop)
{
	/* others may have the socket, too, so that epoll would not forget it when it is closed */
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, loop->listener, NULL);
	descriptor_close(&loop->listener);
	loop->tick = 0;
}
