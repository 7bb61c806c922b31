/* SPDX-License-Identifier: ISC */
/*
 * A live session (doc/protocol-live.md) between a client and a live agent, free of any transport.
 *
 * One thread drives it: frames and the end of the client go in; events, audio and the close come
 * out through a sink; in between live_step does what is due, when live_poll says so.  Nothing here
 * blocks: the thread's messages are stored by a thread of their own, and each tool call has its own
 * thread, too (live_parts.h).
 */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_H

#include "access/access.h"
#include "service/service.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a session sends to. */
struct live_sink {
	void (*event)(struct live_sink *sink, const char *json, size_t len);
	void (*audio)(struct live_sink *sink, const void *pcm, size_t bytes);
	/* The last thing that is sent. */
	void (*close)(struct live_sink *sink, int code, const char *reason);
	/* Whether so much waits for the client that the model should not be read from for now. */
	bool (*full)(struct live_sink *sink);
};

struct live_setup {
	struct service *service; /* the session opens its storage if need be */
	const struct identity *identity;
	const char *request_id;
	struct live_sink *sink;
	int64_t (*now)(void); /* milliseconds */
};

struct live;

/* Begins a session.  All that setup points to must outlive it.  On a graph that is not live it says
 * so and closes. */
struct live *live_new(const struct live_setup *setup);

/*
 * Ends and frees the session when all is stored.  False when a tool does not end: then the session,
 * the service and what setup points to must be left alone until the process ends, which should be
 * soon.
 */
bool live_free(struct live *live);

/* Take a frame of the client: text; binary; or one that was too large to be read. */
void live_text(struct live *live, const char *text, size_t len);
void live_audio(struct live *live, const void *pcm, size_t bytes);
void live_large(struct live *live, bool binary);

/* The client is gone: nothing more is sent, the model may finish (REALTIME_DRAIN_TIMEOUT). */
void live_gone(struct live *live);

/* The service ends: the session closes at once. */
void live_stop(struct live *live);

#define LIVE_FDS 2

/* Says what to wait for before live_step: fills in all of fds, -1 where there is nothing to wait
 * for, and returns the most milliseconds to wait, -1 for no limit. */
int live_poll(struct live *live, struct pollfd fds[LIVE_FDS]);
void live_step(struct live *live);

/* Whether the close was sent; and whether, besides, nothing is left to be done. */
bool live_is_closed(const struct live *live);
bool live_is_over(struct live *live);

#endif
