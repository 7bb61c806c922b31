/* SPDX-License-Identifier: ISC */
/* What OpenAI's two interfaces to chat models have in common: chat completions and responses. */
#ifndef AGENTGRAPH_MODEL_OPENAI_PARTS_H
#define AGENTGRAPH_MODEL_OPENAI_PARTS_H

#include "model/provider.h"

/* path below the base URL, whose query stays at the end; malloc'd. */
char *openai_address(const char *base_url, const char *path);

/* The URL of a medium, or a data: URL of its bytes, of that type where it has none; malloc'd. */
char *openai_data_url(const struct chat_part_media *media, const char *fallback);

/* All texts of a turn, a newline between blocks, malloc'd; NULL when there is none. */
char *openai_turn_text(const struct chat_turn *turn);

/* Whether the turn has nothing but texts. */
bool openai_turn_is_plain(const struct chat_turn *turn);

/* The place of the first turn that is being worked on: behind the last one that a user took. */
size_t openai_at_work(const struct chat_turns *turns);

/* Adds name, description and parameters of a tool. */
void openai_add_function(cJSON *to, const struct chat_tool *tool);

/* Adds tool_choice, where it is not auto.  Returns the object that is to have the name of the tool,
 * where one is named; else NULL. */
cJSON *openai_add_choice(const struct chat_request *request, cJSON *body);

/* Adds name, schema and strict of the format that the answer is to have, which is a schema. */
void openai_add_schema(const struct chat_build *b, cJSON *to);

#endif
