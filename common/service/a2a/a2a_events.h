/* SPDX-License-Identifier: ISC */
/*
 * Telling a run as events of a task (doc/protocol-a2a.md#streams): chunks of a stream go in,
 * responses of JSON-RPC come out.
 *
 * Events are made from chunks, and not from the run itself, so that those who subscribe later to a
 * run whose chunks are kept are told the same.
 */
#ifndef AGENTGRAPH_SERVICE_A2A_A2A_EVENTS_H
#define AGENTGRAPH_SERVICE_A2A_A2A_EVENTS_H

#include "base/buf.h"
#include "service/a2a/a2a_task.h"

/* A writer of events.  Its texts are borrowed and must outlive it; a2a_events_release frees its
 * memory. */
struct a2a_events {
	bool old;       /* version 0.3 of the protocol */
	const char *id; /* the request's, as JSON */
	const char *context_id, *task_id;
	void (*send)(void *arg, const char *json, size_t len);
	void *arg;

	const cJSON *task; /* the task, with which the stream begins; NULL once that was sent */
	cJSON *open;       /* ids of messages of which pieces were told */
	bool ended;        /* the last status was told */
	struct buf line;
};

void a2a_events_release(struct a2a_events *events);

/* Tells the task, unless that was done already. */
void a2a_events_begin(struct a2a_events *events);

/* Tells what a chunk, a line of /v1/graph/stream, means for such a client. */
void a2a_events_chunk(struct a2a_events *events, const char *json, size_t len);

/* Tells all that a task has made: artifacts as in a view of the task, or NULL. */
void a2a_events_artifacts(struct a2a_events *events, const cJSON *artifacts);

/* Ends the stream with the state of its task, unless that was told.  message is taken over; may be
 * NULL. */
void a2a_events_end(struct a2a_events *events, enum a2a_state state, int64_t since, cJSON *message);

/* A sink for chunks in front of another one, which gets the events. */
struct a2a_sink {
	struct chunk_sink sink; /* first: what chunks are written to */
	struct chunk_sink *behind;
	struct a2a_events events;
	struct buf part; /* the parts so far of a chunk that comes in several */
};

/* The caller fills in the rest of the events before the first chunk; behind outlives the sink. */
void a2a_sink_init(struct a2a_sink *sink, struct chunk_sink *behind);
void a2a_sink_release(struct a2a_sink *sink);

#endif
