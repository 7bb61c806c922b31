/* SPDX-License-Identifier: ISC */
/* Bytes in hexadecimal, as percent-encoding (RFC 3986 2.1) has them. */
#ifndef AGENTGRAPH_BASE_HTTP_PERCENT_H
#define AGENTGRAPH_BASE_HTTP_PERCENT_H

#include "base/buf.h"

/* The byte of the two hexadecimal digits at s, or -1. */
int percent_byte(const char *s);

/* Appends text with an escape for each byte but letters, digits, "-._~" and those in also, which
 * may be "". */
void percent_add(struct buf *out, const char *text, const char *also);

#endif
