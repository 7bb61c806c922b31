/* SPDX-License-Identifier: ISC */
/* Strict UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef AGENTGRAPH_BASE_UTF8_H
#define AGENTGRAPH_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True for valid UTF-8 without NUL. */
bool utf8_valid(const char *s, size_t len);

/* The largest n' <= n at which s can be cut without splitting a character; reads only the n bytes
 * before. */
size_t utf8_cut(const char *s, size_t n);

/* How many of the len bytes at s are plain at the beginning: ASCII from the space on, but no quote
 * and no backslash, so that they need no second look in JSON or UTF-8, and end no string. */
size_t utf8_plain(const char *s, size_t len);

/* Length of the character at s, which has len > 0 bytes; 0 when it is not valid.  NUL counts as a
 * character here. */
size_t utf8_sequence(const char *s, size_t len);

/* The character at s, which holds valid, NUL-terminated UTF-8, and its length. */
uint32_t utf8_decode(const char *s, size_t *len);

/* How many characters a valid, NUL-terminated text has. */
size_t utf8_characters(const char *s);

/* A malloc'd copy in which each byte that is no valid UTF-8 is U+FFFD. */
char *utf8_mend(const char *s);

/* Overwrites the bytes of a NUL-terminated text that are no valid UTF-8 with question marks. */
void utf8_repair(char *s);

#endif
