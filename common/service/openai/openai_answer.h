/* SPDX-License-Identifier: ISC */
/*
 * Chat completions and their chunks (doc/protocol-openai.md#the-answer): what a run said, as the
 * answer of a chat model.
 */
#ifndef AGENTGRAPH_SERVICE_OPENAI_OPENAI_ANSWER_H
#define AGENTGRAPH_SERVICE_OPENAI_OPENAI_ANSWER_H

#include "base/buf.h"
#include "service/run/gate.h"
#include "service/run/turn.h"

/* The chat completion of a turn that is over, in the call's arena. */
cJSON *openai_completion(const struct turn *turn);

/* A stream of chunks, for one turn. */
struct openai_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate; /* before the sink */
	bool usage;       /* a chunk with it is wanted */
	bool begun;       /* the first chunk was written */
	bool corked;
	bool said;          /* anything, in whichever message */
	struct buf head;    /* what all chunks begin with */
	struct buf line;    /* the one at hand */
	struct buf message; /* id of the message that is being said, "" before the first */
};

/* openai_writer_release gives its memory back. */
void openai_writer_init(
    struct openai_writer *writer, struct turn *turn, bool usage, struct chunk_sink *sink);
void openai_writer_release(struct openai_writer *writer);

/* The end, after whatever was not streamed: calls, why it ended, the usage, [DONE].  Before any
 * chunk the first comes first. */
void openai_writer_finish(struct openai_writer *writer);

/* The end of a run that failed: the error in the turn's call, and [DONE]. */
void openai_writer_fail(struct openai_writer *writer);

#endif
