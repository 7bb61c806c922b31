/* SPDX-License-Identifier: ISC */
/*
 * A run told as events of a task (doc/protocol-a2a.md#streams): chunks in, as a stream of runs has
 * them, responses of JSON-RPC out.
 *
 * They come from chunks, and not from the run, so that who subscribes later to one whose chunks
 * are kept is told the same.
 */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_EVENTS_H
#define AGENTGRAPH_SERVICE_A2A_A2A_EVENTS_H

#include "base/buf.h"
#include "service/a2a/a2a_task.h"

/* Texts are borrowed, and outlive it; a2a_events_release gives its memory back. */
struct a2a_events {
	bool old;
	const char *id; /* of the request, as JSON */
	const char *context_id, *task_id;
	void (*send)(void *arg, const char *json, size_t len);
	void *arg;

	const cJSON *task; /* what the stream begins with, until it has; or NULL */
	cJSON *open;       /* ids of messages of which pieces were told */
	bool ended;        /* its last status was told */
	struct buf line;
};

void a2a_events_release(struct a2a_events *events);

/* Tells the task now, where that did not happen yet. */
void a2a_events_begin(struct a2a_events *events);

/* Tells what a chunk, a line as /v1/graph/stream has it, says to such a client; nothing else of the
 * call is used than its arena.  False at the terminator. */
bool a2a_events_chunk(struct a2a_events *events, const char *json, size_t len);

/* Tells what a task has made, whole: artifacts as a view of it has them, or NULL. */
void a2a_events_artifacts(struct a2a_events *events, const cJSON *artifacts);

/* The end of a stream: the state of its task, unless that was told.  message is taken over, or
 * NULL. */
void a2a_events_end(struct a2a_events *events, enum a2a_state state, int64_t since, cJSON *message);

/* A sink before another one, which gets the events. */
struct a2a_sink {
	struct chunk_sink sink; /* first: what chunks are written to */
	struct chunk_sink *behind;
	struct a2a_events events;
	struct buf part; /* of a chunk that comes in several */
};

void a2a_sink_init(struct a2a_sink *sink, struct chunk_sink *behind);
void a2a_sink_release(struct a2a_sink *sink);

#endif
