/* SPDX-License-Identifier: ISC */
/*
 * Which characters the bytes of a text mean: those that a byte order mark, or the document itself
 * says; else UTF-8 where the bytes are that, else windows-1252, as browsers have it.
 */
#ifndef AGENTGRAPH_EXTRACT_CHARSET_H
#define AGENTGRAPH_EXTRACT_CHARSET_H

#include "base/buf.h"

#include <iconv.h>
#include <stdbool.h>

#define CHARSET_NONE ((iconv_t)-1)

struct charset {
	iconv_t converter; /* CHARSET_NONE where nothing of the system's is needed */
	size_t unit;       /* bytes, of which a character has one or more */
};

/* Opens what converts the text.  Loads modules, so it comes before the cage closes; it only looks
 * for a name that is on a list.  With named, the document may say by itself what it is: XML's
 * declaration, HTML's meta. */
struct charset charset_open(const char *data, size_t len, bool named);

/* Converts the text to valid UTF-8 without a byte order mark; what is no character becomes U+FFFD
 * or a question mark. */
void charset_convert(const struct charset *charset, const char *data, size_t len, struct buf *out);

#endif
