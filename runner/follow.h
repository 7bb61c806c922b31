/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-follow: one event loop over everybody who follows a run or waits for its result
 * (doc/inside.md#kept-chunks).
 *
 * Who may do so was decided before, and a ticket says so.  What is shown comes from the storage:
 * whichever process runs the graph, and whether this one was there at the beginning, makes no
 * difference.  Readers of one run who stand at the same place share what is read; one who is slow
 * costs the block that it is at, and its time.
 */
#ifndef AGENTGRAPH_RUNNER_FOLLOW_H
#define AGENTGRAPH_RUNNER_FOLLOW_H

#include "access/ticket/run_ticket.h"
#include "runner/follow_runs.h"
#include "service/service.h"

#include <stdbool.h>
#include <stdint.h>

struct follow_client;

struct follow_settings {
	struct ticket_key key;
	struct service *service; /* configuration, shared memory, storage; nothing else is open */
	int64_t stall_ms;        /* that a client may take nothing of what waits for it */
	int64_t silence_ms;      /* without an event before a comment */

	/* Takes over what can change while it serves, at SIGHUP. */
	void (*reload)(struct follow_settings *settings);
	const void *origin; /* for reload */
};

struct follow {
	struct follow_settings *settings;
	int epoll, signals;
	int listener; /* -1 once it stops */
	int bell;     /* eventfd: chunks have moved */
	bool deaf;    /* out of descriptors: nothing is accepted for a moment */
	bool stopping;
	int64_t now; /* of this turn of the loop, by clock_monotonic_ms */
	struct follow_client *clients;
	struct follow_client *dead; /* to be freed at the end of the turn */
	struct followed_runs runs;
	struct follow_mender *mender;
};

/*
 * Serves until signals (a signalfd, not blocking) has SIGTERM.  Then who waits for a result is sent
 * on, and streams have some seconds to reach their end before they are broken off.  False when it
 * could not begin, or when a second signal cut that short.
 */
bool follow_run(struct follow_settings *settings, int listener, int signals);

/* ---- one connection: follow_client.c ---- */

/* The next in the list of all. */
struct follow_client *follow_client_next(const struct follow_client *client);

/* A new one from fd. */
void follow_client_new(struct follow *follow, int fd);

/* Handles what epoll reported, the time, and the end of the process. */
void follow_client_event(struct follow_client *client, uint32_t events);
void follow_client_tick(struct follow_client *client);
void follow_client_stop(struct follow_client *client);

/* The run has moved: wakes its clients. */
void follow_clients_wake(struct followed_run *run);

/* Breaks it off. */
void follow_client_drop(struct follow_client *client);

/* Frees those that ended. */
void follow_client_sweep(struct follow *follow);

/*
 * ---- follow_mend.c: a thread that gives runs the ends which their processes did not live to
 * write, and ends those whose followers have left; the loop itself writes nothing.
 */

struct follow_mender;

/* NULL with err set when there can be no thread. */
struct follow_mender *follow_mender_new(struct service *service, struct error *err);
void follow_mender_free(struct follow_mender *mender);

/* Asks for the end of a run; who follows it is woken when it is there. */
void follow_mend(struct follow_mender *mender, const char *thread_id, const char *run_id);

/* Asks for a run to be stopped. */
void follow_cancel(struct follow_mender *mender, const char *thread_id, const char *run_id);

#endif
