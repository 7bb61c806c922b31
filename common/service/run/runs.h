/* SPDX-License-Identifier: ISC */
/* Running the graph: invoke, stream, stop (doc/protocol-runs.md). */
#ifndef AGENTGRAPH_SERVICE_RUN_RUNS_H
#define AGENTGRAPH_SERVICE_RUN_RUNS_H

#include "service/service.h"

/* data of POST /v1/graph/invoke. */
cJSON *run_invoke(struct call *call, const cJSON *body);

/*
 * Where chunks go: one call per StreamChunk, text without newline, valid during the call.  What it
 * returns does not matter to the run: a client that went away does not stop it.
 */
struct chunk_sink {
	void (*chunk)(struct chunk_sink *sink, const char *json, size_t len);

	/* Between cork on and cork off the chunks follow each other at once, and may go out
	 * together.  Corks do not nest; one on is as good as two.  May be NULL. */
	void (*cork)(struct chunk_sink *sink, bool on);

	/* Before chunk, which then has only the end: the beginning of one that is large, in as many
	 * calls as it takes.  False when nobody is there to read the rest, which need not come. */
	bool (*part)(struct chunk_sink *sink, const char *json, size_t len);

	/* A chunk was begun and has no end: its client must not take the next one for that. */
	void (*cut)(struct chunk_sink *sink, const char *why);
};

/*
 * POST /v1/graph/stream: sends every chunk, the terminator last.  False with call->error set when
 * the request was refused before the first chunk; then nothing was sent.
 */
bool run_stream(struct call *call, const cJSON *body, struct chunk_sink *sink);

struct kept_words;
struct turn;

/* Runs a turn that is open, with every chunk to sink, the terminator last, and ends it. */
void stream_turn(struct turn *turn, struct chunk_sink *sink);

/* The same with chunks that are kept, told in those words, or NULL.  False with call->error set,
 * and the turn still open, when it cannot begin. */
bool stream_turn_kept(struct turn *turn, const struct kept_words *words, struct chunk_sink *sink);

/* data of POST /v1/graph/stop. */
cJSON *run_stop(struct call *call, const cJSON *body);

#endif
