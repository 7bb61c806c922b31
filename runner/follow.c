/* SPDX-License-Identifier: ISC */
/* The loop: accepting, waking who follows a run that has moved, ticks, signals and the end. */
#include "runner/follow.h"

#include "base/log/log.h"
#include "base/os/chore.h"
#include "base/os/clock.h"
#include "storage/queue.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DRAIN_MS 5000
#define LISTEN_MS 500 /* how long the ringer sleeps before it looks whether it is to end */

/* ---- the bell ---- */

/* A thread that sleeps on the futex word that changes with every chunk, and then wakes the loop.
 * While nobody follows a run it does not wait there, so that processes that write chunks need not
 * wake it. */
struct follow_ringer {
	struct chore thread; /* its lock guards the rest */
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
			chore_sleep(&ringer->thread, -1);
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

/* True when one of the signals means the end. */
static bool follow_take_signals(struct follow *follow)
{
	bool end = false;
	for (int signal; (signal = event_loop_signal(&follow->loop));) {
		if (signal == SIGHUP)
			follow->settings->reload(follow->settings);
		else
			end = true;
	}
	return end;
}

/* One turn of the loop; false when there was a signal to end. */
static bool follow_turn(struct follow *follow, struct follow_ringer *ringer)
{
	struct event_loop *loop = &follow->loop;
	struct epoll_event events[EVENT_LOOP_EVENTS];
	bool signalled = false;
	int64_t left = follow->runs.look_at - clock_monotonic_ms();
	left = left < 0 ? 0 : left < EVENT_LOOP_TICK_MS ? left : EVENT_LOOP_TICK_MS;
	/* with nobody there is nothing to time */
	int count = event_loop_wait(loop, events, follow->clients ? (int)left : -1);
	for (int i = 0, fd; i < count; i++) {
		if (events[i].data.ptr == &loop->signals) {
			signalled = follow_take_signals(follow);
		} else if (events[i].data.ptr == &loop->listener) {
			while ((fd = event_loop_accept(loop)) >= 0)
				follow_client_new(follow, fd);
		} else if (events[i].data.ptr == &follow->bell) {
			follow_rung(follow);
		} else {
			follow_client_event(events[i].data.ptr, events[i].events);
		}
	}
	bool ticks = event_loop_ticks(loop);
	for (struct follow_client *c = follow->clients, *next; ticks && c; c = next) {
		next = follow_client_next(c);
		follow_client_tick(c);
	}
	if (ticks || loop->now >= follow->runs.look_at)
		followed_runs_look(&follow->runs, loop->now, follow_clients_wake);
	follow_client_sweep(follow);
	ringer_set(ringer, follow->runs.first);
	return !signalled;
}

/* Serves until a signal, and then gives the clients some time to reach their end.  False when a
 * second signal cut that time short. */
static bool follow_serve(struct follow *follow, struct follow_ringer *ringer)
{
	struct follow_client *next;
	bool complete = true;
	while (follow_turn(follow, ringer))
		continue;
	follow->stopping = true;
	event_loop_stop(&follow->loop);
	for (struct follow_client *c = follow->clients; c; c = next) {
		next = follow_client_next(c);
		follow_client_stop(c);
	}
	follow_client_sweep(follow);
	int64_t end = follow->loop.now + DRAIN_MS;
	while (complete && follow->clients && follow->loop.now < end)
		complete = follow_turn(follow, ringer);
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
	follow = (struct follow){.settings = settings};
	follow.runs.service = settings->service;
	follow.runs.look_at = INT64_MAX;
	follow.bell = ringer.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	follow.mender = follow_mender_new(settings->service, &err);
	if (follow.mender && chore_start(&ringer.thread, ringer_run, &ringer, &err)) {
		complete = event_loop_open(&follow.loop, listener, signals) &&
		    event_loop_watch(&follow.loop, follow.bell, &follow.bell) &&
		    follow_serve(&follow, &ringer);
		event_loop_close(&follow.loop);
		chore_stop(&ringer.thread);
	}
	if (error_is_set(&err))
		log_error("cannot begin: %s", err.detail);
	error_release(&err);
	follow_mender_free(follow.mender);
	close(follow.bell);
	return complete;
}
