/* SPDX-License-Identifier: ISC */
/*
 * What the files of the chat completions share.  First openai_input.c: reading the body of POST
 * /v1/chat/completions (doc/protocol-openai.md#the-request) into the input of a run.
 *
 * Without a thread the messages of the body are the whole context.  Where a thread is named, only
 * what follows the last assistant message is read, as the thread has the rest.
 */
#ifndef AGENTGRAPH_SERVICE_OPENAI_OPENAI_INTERNAL_H
#define AGENTGRAPH_SERVICE_OPENAI_OPENAI_INTERNAL_H

#include "base/buf.h"
#include "service/run/run_input.h"
#include "service/run/stream/gate.h"
#include "service/run/turn.h"
#include "service/service.h"

struct openai_input {
	struct run_input run; /* thread_id NULL: the run has no thread */
	bool stream;
	bool usage; /* for a stream: a chunk with the usage is wanted */
};

/*
 * Reads a body; thread_id is the header X-Thread-ID, "" where it is absent.  False with every
 * mistake in call->error.  All of it lives in the call's arena or is borrowed from the body.
 */
bool openai_input_read(
    struct call *call, const cJSON *body, const char *thread_id, struct openai_input *in);

/* The name of the model that is served. */
const char *openai_model(const struct config *config);

/* Sets that there is no model with this name, which stands at path; always false. */
bool openai_no_model(struct call *call, const char *path, const char *name);

/* ---- openai_message.c: messages as clients write them (doc/protocol-openai.md#messages) */

/*
 * Makes the message of a run (doc/protocol-messages.md#messages, output form) from item; a new
 * tree, NULL with every mistake in call->error.  at is its path, such as "body.messages[3]".
 */
cJSON *openai_message_read(struct call *call, const cJSON *item, const char *at);

/* Sets the first mistake unless every call in these messages (output form, from body.messages) is
 * answered behind it, and nothing else is answered. */
void openai_messages_answer(struct call *call, const cJSON *messages);

/*
 * ---- openai_answer.c: chat completions and their chunks (doc/protocol-openai.md#the-answer):
 * telling what a run said as the answer of a chat model.
 */

/* The chat completion of a turn that is over, in the call's arena. */
cJSON *openai_completion(const struct turn *turn);

/* One of the texts that a stream has beside each other. */
struct openai_strand {
	const char *name;   /* its member of a delta */
	bool begun;         /* some message has said something */
	struct buf message; /* id of the message that is being said, "" before the first */
};

/* A stream of chunks, for one turn. */
struct openai_writer {
	struct run_observer observer; /* first: what the engine sees */
	struct turn *turn;
	struct gate gate; /* in front of the sink */
	bool usage;       /* a chunk with the usage is wanted */
	bool begun;       /* the first chunk was written */
	struct openai_strand content, reasoning;
	struct buf head; /* what all chunks begin with */
	struct buf line; /* the present chunk */
};

/* openai_writer_release frees its memory. */
void openai_writer_init(
    struct openai_writer *writer, struct turn *turn, bool usage, struct chunk_sink *sink);
void openai_writer_release(struct openai_writer *writer);

/* Sends the end: what was not streamed yet, the calls, why the run ended, the usage, and [DONE];
 * and before that the first chunk, if none was sent. */
void openai_writer_finish(struct openai_writer *writer);

/* Sends the end of a run that failed: the error in the turn's call, and [DONE]. */
void openai_writer_fail(struct openai_writer *writer);

#endif
