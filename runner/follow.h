/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-follow: one event loop over everybody who follows a run or waits for its result
 * (doc/inside.md#resumable-streams).
 *
 * A worker has decided who may do so, and its ticket says so.  Chunks are read from the storage, so
 * it makes no difference which process runs the graph, nor whether this one was there when the run
 * began.  Readers of one run who have got equally far share a block that is read once; a slow
 * reader costs no more than the block that is being sent to it.
 */
#ifndef AGENTGRAPH_RUNNER_FOLLOW_H
#define AGENTGRAPH_RUNNER_FOLLOW_H

#include "access/ticket/run_ticket.h"
#include "base/os/event_loop.h"
#include "runner/follow_runs.h"
#include "service/service.h"

#include <stdbool.h>
#include <stdint.h>

struct follow_client;

struct follow_settings {
	struct ticket_key key;
	struct service *service; /* configuration, shared memory, storage; nothing else is open */
	int64_t stall_ms;        /* a client that takes nothing for so long is dropped */
	int64_t silence_ms;      /* after so long without an event a comment is sent */

	/* Called at SIGHUP: updates the settings that may change while the process serves. */
	void (*reload)(struct follow_settings *settings);
	const void *origin; /* for reload */
};

struct follow {
	struct follow_settings *settings;
	struct event_loop loop;
	int bell; /* eventfd: chunks have moved */
	bool stopping;
	struct follow_client *clients;
	struct follow_client *dead; /* to be freed at the end of the turn */
	struct followed_runs runs;
	struct follow_mender *mender;
};

/*
 * Serves until SIGTERM arrives at signals, a signalfd that does not block.  Then clients that wait
 * for a result are sent back to a worker, and streams get some seconds to reach their end before
 * they are broken off.  False when it could not begin, or when a second signal cut that time short.
 */
bool follow_run(struct follow_settings *settings, int listener, int signals);

/* ---- one connection: follow_client.c ---- */

/* The next client in the list of all; NULL after the last. */
struct follow_client *follow_client_next(const struct follow_client *client);

/* Adds a client for a connection that was just accepted, and takes fd over. */
void follow_client_new(struct follow *follow, int fd);

/* What epoll reports of a client, what is due by the time, and the end of the process. */
void follow_client_event(struct follow_client *client, uint32_t events);
void follow_client_tick(struct follow_client *client);
void follow_client_stop(struct follow_client *client);

/* Lets the clients of a run that has moved look at it. */
void follow_clients_wake(struct followed_run *run);

/* Closes the connection at once; follow_client_sweep frees the client. */
void follow_client_drop(struct follow_client *client);

/* Frees the clients that were dropped; called when no event of this turn can be for them. */
void follow_client_sweep(struct follow *follow);

/*
 * ---- follow_mend.c: a thread that writes the end of runs whose processes died before they could,
 * and stops runs whose followers have left.  The loop itself writes nothing to the storage.
 */

struct follow_mender;

/* NULL with err set when the thread cannot be started. */
struct follow_mender *follow_mender_new(struct service *service, struct error *err);
void follow_mender_free(struct follow_mender *mender);

/* Has the end of a run written, which wakes its followers. */
void follow_mend(struct follow_mender *mender, const char *thread_id, const char *run_id);

/* Has a run stopped. */
void follow_cancel(struct follow_mender *mender, const char *thread_id, const char *run_id);

#endif
