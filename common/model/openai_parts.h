/* SPDX-License-Identifier: ISC */
/* What OpenAI's two interfaces to chat models have in common: chat completions and responses. */
#ifndef AGENTGRAPH_MODEL_OPENAI_PARTS_H
#define AGENTGRAPH_MODEL_OPENAI_PARTS_H

#include "model/provider.h"

/* The URL of path below base_url, whose query stays at the end; malloc'd. */
char *openai_address(const char *base_url, const char *path);

/* The URL of a medium, or a data: URL of its bytes, whose type is fallback where it has none;
 * malloc'd. */
char *openai_data_url(const struct chat_part_media *media, const char *fallback);

/* How one of the two writes a conversation. */
struct openai_form {
	/* Appends a message without content. */
	cJSON *(*message)(cJSON *list, const char *role);

	/* The type of a text part in a user's message, and a function that appends the part of a
	 * medium. */
	const char *text_part;
	void (*media)(const struct chat_build *b, cJSON *parts, const cJSON *block);

	/* Appends what a model said and called.  at_work: it is still at that, as no user's turn
	 * has followed. */
	void (*assistant)(
	    const struct chat_target *t, cJSON *list, const struct chat_turn *turn, bool at_work);

	/* Appends the result of a call. */
	void (*result)(cJSON *list, const char *call_id, const char *text);

	bool apart; /* a tool has an object of its own that describes the function */
};

/* Appends the turns to list. */
void openai_add_turns(const struct chat_build *b, cJSON *list, const struct openai_form *form);

/* Sets the content of a message: all texts of the turn, a newline between blocks, or null when
 * there is none. */
void openai_add_text(cJSON *message, const struct chat_turn *turn);

/* Adds tools, tool_choice where it is not auto, and parallel_tool_calls. */
void openai_add_tools(const struct chat_build *b, cJSON *body, const struct openai_form *form);

/* Adds name, schema and strict of the answer's format, which is a schema. */
void openai_add_schema(const struct chat_build *b, cJSON *to);

/*
 * ---- openai_returns.c: what services want back as they gave it, with the message it came with.
 * With responses that is sealed reasoning, and the phase of a text; with chat completions, of some,
 * Gemini's signatures (extra_content of a call) and OpenRouter's reasoning_details.  A request
 * without them is refused there, and one with them elsewhere; so they are kept in the details of
 * the message's reasoning, with the name of the model, and go back to that one only.
 */

/* Keeps a value under that name with the reasoning of that number, and with the call of that id, or
 * NULL.  value is taken over. */
void openai_keep(
    struct chat_answer *a, int64_t index, const char *name, const char *call_id, cJSON *value);

/* Keeps the extra_content, an object or NULL, of the call with that id. */
void openai_keep_extra(struct chat_answer *a, const char *call_id, const cJSON *extra);

/* Keeps reasoning_details, an array or NULL: those of a whole message, or of a piece of one. */
void openai_keep_details(struct chat_answer *a, const cJSON *details);

/* Puts the pieces together when all have come. */
void openai_keep_end(struct chat_answer *a);

/* Adds what was kept for an assistant's message to that message, and to its calls, in the
 * request. */
void openai_return(const struct chat_target *t, const struct chat_turn *turn, cJSON *message);

#endif
