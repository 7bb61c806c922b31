/* SPDX-License-Identifier: ISC */
/*
 * The body of POST /v1/chat/completions (doc/protocol-openai.md#the-request), checked and brought
 * into the shape of a run.
 *
 * Without a thread its messages are the whole context; of one that names a thread only what follows
 * the last assistant message is looked at, as the thread has the rest.
 */
#ifndef AGENTGRAPH_SERVICE_OPENAI_OPENAI_INTERNAL_H
#define AGENTGRAPH_SERVICE_OPENAI_OPENAI_INTERNAL_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "service/run/stream/gate.h"
#include "service/run/turn.h"
#include "service/service.h"

struct openai_input {
	struct run_input run; /* thread_id NULL: it is about no thread */
	bool stream;
	bool usage; /* of a stream: a chunk with the usage is wanted */
};

/*
 * Reads a body; thread_id is what the header X-Thread-ID says, "" where it is not there.  False
 * with every mistake in call->error.  All of it lives in the call's arena or is borrowed from the
 * body.
 */
bool openai_input_read(
    struct call *call, const cJSON *body, const char *thread_id, struct openai_input *in);

/* The name of the model that is served. */
const char *openai_model(const struct config *config);

/* Sets that there is no model of that name, which stands at path; false. */
bool openai_no_model(struct call *call, const char *path, const char *name);

/* ---- openai_message.c: messages as clients write them (doc/protocol-openai.md#messages) */

/*
 * The message of a run (doc/protocol-messages.md#messages, output form) that item stands for, a new
 * tree; NULL with every mistake in call->error.  at is where it stands: "body.messages[3]".
 */
cJSON *openai_message_read(struct call *call, const cJSON *item, const char *at);

/* Whether each call of these messages (output form, of body.messages) is answered behind it, and
 * nothing else is; else false with the first that is not in call->error. */
bool openai_messages_answer(struct call *call, const cJSON *messages);

/*
 * ---- openai_answer.c: chat completions and their chunks (doc/protocol-openai.md#the-answer): what
 * a run said, as the answer of a chat model.
 */

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
