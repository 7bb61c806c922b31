/* SPDX-License-Identifier: ISC */
/* Base64 (RFC 4648, section 4). */
#ifndef AGENTGRAPH_BASE_BASE64_H
#define AGENTGRAPH_BASE_BASE64_H

#include <stddef.h>

/* The bytes that the text stands for, malloc'd, with a NUL behind them; *len is how many.  NULL
 * when the text is not base64 with its padding. */
char *base64_decode(const char *text, size_t *len);

/* The text that stands for the bytes, malloc'd. */
char *base64_encode(const void *data, size_t len);

#endif
