/* SPDX-License-Identifier: ISC */
/*
 * What some services that speak chat completions want back as they gave it, with the message it
 * came with: Gemini's signatures (extra_content of a call), OpenRouter's reasoning_details.  A
 * request without them is refused there, and one with them elsewhere; so they are kept in the
 * details of the message's reasoning, with the name of the model, and go back to that one only.
 */
#ifndef AGENTGRAPH_MODEL_OPENAI_RETURNS_H
#define AGENTGRAPH_MODEL_OPENAI_RETURNS_H

#include "model/provider.h"

/* Keeps the extra_content, an object or NULL, of the call with that id. */
void openai_keep_extra(struct chat_answer *a, const char *call_id, const cJSON *extra);

/* Keeps reasoning_details, an array or NULL: those of a whole message, or of a piece of one. */
void openai_keep_details(struct chat_answer *a, const cJSON *details);

/* All pieces have come: puts them together. */
void openai_keep_end(struct chat_answer *a);

/* Adds to the assistant's message in the request, and its calls, what was kept for them. */
void openai_return(const struct chat_target *t, const struct chat_turn *turn, cJSON *message);

#endif
