/* SPDX-License-Identifier: ISC */
/* Takes secrets out of a text before it is logged (doc/protocol.md#logs), or told to others. */
#ifndef AGENTGRAPH_BASE_LOG_REDACT_H
#define AGENTGRAPH_BASE_LOG_REDACT_H

#include "base/buf.h"

/*
 * Appends text to out, without
 *   - the value of a field with a telling name, written name=value or "name": value, whatever the
 *     value is: a word, a string, an array, an object;
 *   - what looks like a JWT, and what follows the word Bearer;
 *   - the middle of letters and digits that run for more than 32 characters;
 *   - what is nested in more than ten levels of brackets or braces.
 */
void redact(struct buf *out, const char *text);

/* Replaces a known secret in text, such as the value of a header, by stars, and also the part of it
 * behind its last blank, as behind the name of a scheme.  A secret that is too short to be told
 * from a word stays. */
void redact_known(char *text, const char *secret);

#endif
