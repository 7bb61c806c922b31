/* SPDX-License-Identifier: ISC */
/* What was found in place of something else, short and without secrets, for start-up messages. */
#ifndef AGENTGRAPH_CONFIG_FOUND_H
#define AGENTGRAPH_CONFIG_FOUND_H

#include <cjson/cJSON.h>

#define FOUND_SIZE 64

/*
 * Writes how a message shows the value and returns out: scalars as JSON, long text cut, URLs and
 * other texts with an @ (which may carry a password), objects and arrays by name only, NULL as
 * "nothing".
 */
char *found_json(char out[FOUND_SIZE], const cJSON *value);
char *found_text(char out[FOUND_SIZE], const char *value);

#endif
