/* SPDX-License-Identifier: ISC */
/*
 * Events that say the same as one before, but for the text they bring.
 *
 * Most of a stream differs from event to event in nothing else.  Once one of them was read as JSON,
 * and all it did was add its text, the others that have the same bytes around theirs need no
 * parser: they can mean nothing else.
 */
#ifndef AGENTGRAPH_MODEL_REPEAT_H
#define AGENTGRAPH_MODEL_REPEAT_H

#include "base/buf.h"
#include "base/http/sse.h"
#include "model/provider.h"

#include <stdbool.h>
#include <stddef.h>

/* All-zero: nothing is known yet. */
struct chat_repeat {
	struct buf name, event;
	size_t before, after; /* bytes of the event before and after its text, quotes included */
	size_t part;          /* the part of the answer that the text was added to */
};

/* Adds the event's text to the answer when it is such a repetition; else false, and nothing was
 * done. */
bool chat_repeat_take(
    const struct chat_repeat *r, struct chat_answer *a, const struct sse_event *event);

/* Keeps an event that was read, if it can be repeated; bytes is what the answer had before it. */
void chat_repeat_learn(struct chat_repeat *r, const struct chat_answer *a, size_t bytes,
    const struct sse_event *event);

void chat_repeat_release(struct chat_repeat *r);

#endif
