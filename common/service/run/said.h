/* SPDX-License-Identifier: ISC */
/* What a turn said, for protocols whose answer is one text: the texts of the assistant's messages,
 * and the question of a pause. */
#ifndef AGENTGRAPH_SERVICE_RUN_SAID_H
#define AGENTGRAPH_SERVICE_RUN_SAID_H

#include "base/buf.h"
#include "service/run/turn.h"

#define SAID_BETWEEN "\n\n" /* what stands between two messages that are one answer */

/* The first message that the run made, from which next leads to the others; NULL where there is
 * none. */
const cJSON *turn_made(const struct turn *turn);

/* Appends the texts of all messages of the assistant. */
void turn_texts(const struct turn *turn, struct buf *out);

/* Appends the reasoning of all messages of the assistant. */
void turn_reasoning(const struct turn *turn, struct buf *out);

/* What a pause asks, in the arena: data.question where it is a text, else the message, else the
 * JSON of data. */
const char *interrupt_question(struct arena *a, const cJSON *interrupt);

/* The question of the pause that a turn ended with; NULL where there is none, or nothing ran. */
const char *turn_question(const struct turn *turn);

/* Appends the texts, and then the question. */
void turn_answer(const struct turn *turn, struct buf *out);

#endif
