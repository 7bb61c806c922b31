/* SPDX-License-Identifier: ISC */
/* Takes personal data out of a text before it leaves for the error tracker. */
#ifndef AGENTGRAPH_TELEMETRY_SCRUB_H
#define AGENTGRAPH_TELEMETRY_SCRUB_H

#include "base/buf.h"

/* Appends text without secrets (base/redact.h), addresses of mail and of machines, and numbers of
 * nine digits and more, which are telephones, cards and accounts. */
void scrub(struct buf *out, const char *text);

#endif
