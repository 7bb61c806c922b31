/* SPDX-License-Identifier: ISC */
/*
 * The character set of a text: the one that a byte order mark or the document itself names; else
 * UTF-8 if the bytes are valid UTF-8; else windows-1252, as in browsers.
 */
#ifndef AGENTGRAPH_EXTRACT_CHARSET_H
#define AGENTGRAPH_EXTRACT_CHARSET_H

#include "base/buf.h"

#include <iconv.h>
#include <stdbool.h>

#define CHARSET_NONE ((iconv_t)-1)

struct charset {
	iconv_t converter; /* CHARSET_NONE where the system's converters are not needed */
	size_t unit;       /* bytes of a unit; a character has one or more units */
};

/* Opens the converter for a text.  That loads modules, so it must come before the cage closes; of
 * the text it only looks for a name that is on a list.  named: the document may name its character
 * set itself, as XML's declaration and HTML's meta do. */
struct charset charset_open(const char *data, size_t len, bool named);

/* Converts the text to valid UTF-8 without a byte order mark; bytes that are no character become
 * U+FFFD or a question mark. */
void charset_convert(const struct charset *charset, const char *data, size_t len, struct buf *out);

#endif
