/* SPDX-License-Identifier: ISC */
/* The loop: accepting, waking who follows a run that has moved, ticks, signals and the end. */
#include "runner/follow.h"

#include "base/log/log.h"
#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "storage/background.h"
#include "storage/queue.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_MS 250
#define DRAIN_MS 5000
#define EVENTS 256
#define ACCEPTS 64    /* new connections a turn */
#define LISTEN_MS 500 /* how long the ringer sleeps before it looks whether it is to end */

/* What epoll reports for the descriptors that are no connection. */
static char listener_mark, signal_mark, bell_mark;

/* ---- the bell ---- */

/* A thread that sleeps on the futex word that changes with every chunk, and then wakes the loop.
 * While nobody follows a run it does not wait there, so that processes that write chunks need not
 * wake it. */
struct follow_ringer {
	struct background thread; /* its lock guards the rest */
	struct shared *shared;
	int bell;
	bool listens;
};

static void ringer_ring(struct follow_ringer *ringer)
{
	uint64_t one = 1;
	if (write(ringer->bell, &one, sizeof(one)) < 0)
		log_debug("the bell is ringing already");
}

/* Rings once at the start, as chunks may have come before the word was read, and then whenever the
 * word has changed. */
static void ringer_listen(struct follow_ringer *ringer)
{
	uint32_t seen = bell_word(ringer->shared, BELL_CHUNKS);
	ringer_ring(ringer);
	while (ringer->listens && !ringer->thread.stopping) {
		pthread_mutex_unlock(&ringer->thread.lock);
		chunks_wait(ringer->shared, seen, LISTEN_MS);
		uint32_t word = bell_word(ringer->shared, BELL_CHUNKS);
		if (word != seen)
			ringer_ring(ringer);
		seen = word;
		pthread_mutex_lock(&ringer->thread.lock);
	}
}

static void *ringer_run(void *arg)
{
	struct follow_ringer *ringer = arg;
	pthread_mutex_lock(&ringer->thread.lock);
	while (!ringer->thread.stopping) {
		if (ringer->listens)
			ringer_listen(ringer);
		else
			background_sleep(&ringer->thread, -1);
	}
	pthread_mutex_unlock(&ringer->thread.lock);
	return NULL;
}

static void ringer_set(struct follow_ringer *ringer, bool listens)
{
	pthread_mutex_lock(&ringer->thread.lock);
	if (listens && !ringer->listens)
		pthread_cond_signal(&ringer->thread.wake);
	ringer->listens = listens;
	pthread_mutex_unlock(&ringer->thread.lock);
}

static void follow_rung(struct follow *follow)
{
	uint64_t times;
	if (read(follow->bell, &times, sizeof(times)) < 0)
		return;
	for (struct followed_run *run = follow->runs.first; run; run = run->list_next)
		if (followed_run_moved(&follow->runs, run))
			follow_clients_wake(run);
}

/* ---- the loop ---- */

static bool follow_watch(const struct follow *follow, int fd, void *mark)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};
	if (epoll_ctl(follow->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	log_error("cannot wait for connections: %s", strerror(errno));
	return false;
}

static void follow_accept(struct follow *follow)
{
	for (int i = 0; i < ACCEPTS && follow->listener >= 0; i++) {
		int fd = accept4(follow->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			follow_client_new(follow, fd);
			continue;
		}
		if (descriptor_shortage(errno)) { /* the next tick listens again */
			log_error("cannot accept a connection: %s", strerror(errno));
			epoll_ctl(follow->epoll, EPOLL_CTL_DEL, follow->listener, NULL);
			follow->deaf = true;
		}
		return;
	}
}

static void follow_tick(struct follow *follow)
{
	struct follow_client *next;
	for (struct follow_client *c = follow->clients; c; c = next) {
		next = follow_client_next(c);
		follow_client_tick(c);
	}
	if (follow->deaf && follow->listener >= 0)
		follow->deaf = !follow_watch(follow, follow->listener, &listener_mark);
}

/* True when one of the signals means the end. */
static bool follow_take_signals(struct follow *follow)
{
	struct signalfd_siginfo info;
	bool end = false;
	while (read(follow->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			follow->settings->reload(follow->settings);
		else
			end = true;
	}
	return end;
}

/* One turn of the loop; false when there was a signal to end. */
static bool follow_turn(struct follow *follow, struct follow_ringer *ringer, int64_t *next_tick)
{
	struct epoll_event events[EVENTS];
	bool signalled = false;
	int64_t left = follow->runs.look_at - clock_monotonic_ms();
	left = left < 0 ? 0 : left < TICK_MS ? left : TICK_MS;
	/* with nobody there is nothing to time */
	int patience = follow->clients || follow->deaf ? (int)left : -1;
	int count = epoll_wait(follow->epoll, events, EVENTS, patience);
	follow->now = clock_monotonic_ms();
	for (int i = 0; i < count; i++) {
		if (events[i].data.ptr == &signal_mark)
			signalled = follow_take_signals(follow);
		else if (events[i].data.ptr == &listener_mark)
			follow_accept(follow);
		else if (events[i].data.ptr == &bell_mark)
			follow_rung(follow);
		else
			follow_client_event(events[i].data.ptr, events[i].events);
	}
	bool ticks = follow->now >= *next_tick;
	if (ticks) {
		follow_tick(follow);
		*next_tick = follow->now + TICK_MS;
	}
	if (ticks || follow->now >= follow->runs.look_at)
		followed_runs_look(&follow->runs, follow->now, follow_clients_wake);
	follow_client_sweep(follow);
	ringer_set(ringer, follow->runs.first);
	return !signalled;
}

/* Serves until a signal, and then gives the clients some time to reach their end.  False when a
 * second signal cut that time short. */
static bool follow_serve(struct follow *follow, struct follow_ringer *ringer)
{
	struct follow_client *next;
	int64_t next_tick = 0;
	bool complete = true;
	while (follow_turn(follow, ringer, &next_tick))
		continue;
	follow->stopping = true;
	/* others have the socket, too, so that epoll would not forget it when it is closed */
	epoll_ctl(follow->epoll, EPOLL_CTL_DEL, follow->listener, NULL);
	close(follow->listener);
	follow->listener = -1;
	for (struct follow_client *c = follow->clients; c; c = next) {
		next = follow_client_next(c);
		follow_client_stop(c);
	}
	follow_client_sweep(follow);
	int64_t end = follow->now + DRAIN_MS;
	next_tick = 0;
	while (complete && follow->clients && follow->now < end)
		complete = follow_turn(follow, ringer, &next_tick);
	while (follow->clients)
		follow_client_drop(follow->clients);
	follow_client_sweep(follow);
	return complete;
}

bool follow_run(struct follow_settings *settings, int listener, int signals)
{
	static struct follow follow;
	struct follow_ringer ringer = {.shared = settings->service->shared};
	struct error err = {0};
	bool complete = false;
	follow = (struct follow){.settings = settings, .signals = signals, .listener = listener};
	follow.runs.service = settings->service;
	follow.runs.look_at = INT64_MAX;
	follow.epoll = epoll_create1(EPOLL_CLOEXEC);
	follow.bell = ringer.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	follow.mender = follow_mender_new(settings->service, &err);
	if (follow.mender && background_start(&ringer.thread, ringer_run, &ringer, &err)) {
		complete = follow_watch(&follow, listener, &listener_mark) &&
		    follow_watch(&follow, signals, &signal_mark) &&
		    follow_watch(&follow, follow.bell, &bell_mark) &&
		    follow_serve(&follow, &ringer);
		background_stop(&ringer.thread);
	}
	if (error_is_set(&err))
		log_error("cannot begin: %s", err.detail);
	error_release(&err);
	follow_mender_free(follow.mender);
	close(follow.bell);
	close(follow.epoll);
	return complete;
}
