/* SPDX-License-Identifier: ISC */
/* Standard output, for texts that a server says: at a terminal they must not reach it
 * as commands. */
#ifndef AGENTGRAPH_CLI_TERMINAL_H
#define AGENTGRAPH_CLI_TERMINAL_H

#include <cjson/cJSON.h>

/* Writes text with "?" for each control character but newline and tab. */
void terminal_put(const char *text);

/* The same at a terminal; elsewhere the text as it is. */
void terminal_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line of JSON. */
void terminal_json(const cJSON *item);

/* A line "key value" for each member, but those whose names are in without, up to a NULL; keys have
 * that width. */
void terminal_members(const cJSON *object, int width, const char *const *without);

/* The member's text, or "-" where it has none. */
const char *terminal_text(const cJSON *object, const char *key);

#endif
