/* SPDX-License-Identifier: ISC */
/* Texts that a server sends: a terminal must not take any of them for commands. */
#ifndef AGENTGRAPH_CLI_TERMINAL_H
#define AGENTGRAPH_CLI_TERMINAL_H

#include <cjson/cJSON.h>

/* Puts "?" in the place of each control character but newline and tab. */
char *terminal_clean(char *text);

/* Writes text like that to standard output. */
void terminal_put(const char *text);

/* The same if that is a terminal; else writes the text as it is. */
void terminal_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the item as a line of JSON. */
void terminal_json(const cJSON *item);

/* Writes a line "key value" for each member, with keys padded to that width, except for the members
 * that `without` names; a NULL ends it. */
void terminal_members(const cJSON *object, int width, const char *const *without);

/* The member's text, or "-" where it has none. */
const char *terminal_text(const cJSON *object, const char *key);

#endif
