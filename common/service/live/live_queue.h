/* SPDX-License-Identifier: ISC */
/* What a client sent and the model has not taken yet; when that is too much, the oldest goes. */
#ifndef AGENTGRAPH_SERVICE_LIVE_LIVE_QUEUE_H
#define AGENTGRAPH_SERVICE_LIVE_LIVE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

enum live_input_kind { LIVE_INPUT_AUDIO, LIVE_INPUT_TEXT, LIVE_INPUT_START, LIVE_INPUT_END };

struct live_input {
	struct live_input *next;
	enum live_input_kind kind;
	size_t len;
	char data[]; /* audio, or text ended by NUL */
};

struct live_queue {
	size_t most; /* frames */
	struct live_input *first, **last;
	size_t count, bytes;
	uint64_t dropped;
};

/* An empty queue of at most so many frames; clear frees those that are in it. */
void live_queue_init(struct live_queue *q, size_t most);
void live_queue_clear(struct live_queue *q);

/* Copies the frame to the end. */
void live_queue_push(struct live_queue *q, enum live_input_kind kind, const void *data, size_t len);

/* The first frame, which the caller frees, or NULL. */
struct live_input *live_queue_take(struct live_queue *q);

#endif
