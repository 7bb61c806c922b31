/* SPDX-License-Identifier: ISC */
/* How single words and numbers are written in the environment and, in part, in the file. */
#ifndef AGENTGRAPH_CONFIG_WORDS_H
#define AGENTGRAPH_CONFIG_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads true, 1, yes, on, false, 0, no or off, in any case (agentgraph.json(5)); false for other
 * words. */
bool word_bool(const char *text, bool *value);

/* Reads a whole decimal number with an optional sign and nothing around it; false when it is no
 * such number, or does not fit. */
bool word_integer(const char *text, int64_t *value);

/* The same with a fraction and an exponent; never infinite or NaN. */
bool word_number(const char *text, double *value);

/* Takes the slashes at the end away, in place; "/" becomes "". */
void drop_slashes(char *text);

/* Whether models and hosts of MCP take it for the name of a tool: 1 to 128 letters, digits, '_',
 * '-', '.'. */
bool word_tool(const char *text);

/*
 * Splits an import path "module:attribute" (the last colon separates).  True when both parts are
 * there; then *module and *attribute are malloc'd.
 */
bool import_split(const char *import_path, char **module, char **attribute);

/* What a message expects where url_valid (base/http/url.h) says no. */
#define ADDRESS_EXPECTED \
	"an http or https address in ASCII, with a host and without user and password"

/* Whether text is a path of a URL: a slash and characters that need no escapes (RFC 3986, 3.3). */
bool word_path(const char *text);

#endif
