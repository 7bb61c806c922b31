/* SPDX-License-Identifier: ISC */
/* Running the graph: invoke, stream, stop (doc/protocol-runs.md). */
#ifndef AGENTGRAPH_SERVICE_RUN_RUNS_H
#define AGENTGRAPH_SERVICE_RUN_RUNS_H

#include "service/service.h"

/* Runs the graph and returns the data of POST /v1/graph/invoke. */
cJSON *run_invoke(struct call *call, const cJSON *body);

/*
 * Where chunks go: one call of chunk for each StreamChunk.  The text has no newline and is valid
 * only during the call.  A client that goes away does not stop the run.
 */
struct chunk_sink {
	void (*chunk)(struct chunk_sink *sink, const char *json, size_t len);

	/* Chunks between cork(true) and cork(false) follow each other at once, and may go out
	 * together.  Corks do not nest.  May be NULL. */
	void (*cork)(struct chunk_sink *sink, bool on);

	/* Takes the beginning of a large chunk, in as many calls as it takes; a call of chunk
	 * then brings its end.  False when nobody is there to read the rest, which then need not
	 * come. */
	bool (*part)(struct chunk_sink *sink, const char *json, size_t len);

	/* A chunk that was begun gets no end: the client must not take the next one for it. */
	void (*cut)(struct chunk_sink *sink, const char *why);
};

static inline void sink_cork(struct chunk_sink *sink, bool on)
{
	if (sink->cork)
		sink->cork(sink, on);
}

/*
 * POST /v1/graph/stream: sends every chunk, the terminator last.  False with call->error set when
 * the request was refused before the first chunk; then nothing was sent.
 */
bool run_stream(struct call *call, const cJSON *body, struct chunk_sink *sink);

struct kept_words;
struct turn;

/* Runs an open turn, sends every chunk to sink, the terminator last, and ends the turn. */
void stream_turn(struct turn *turn, struct chunk_sink *sink);

/* The same with chunks that are kept; sink, which may be NULL, gets them in words (NULL: as
 * chunks).  False with call->error set, and the turn still open, when it cannot begin. */
bool stream_turn_kept(struct turn *turn, const struct kept_words *words, struct chunk_sink *sink);

/* Stops a run and returns the data of POST /v1/graph/stop. */
cJSON *run_stop(struct call *call, const cJSON *body);

#endif
