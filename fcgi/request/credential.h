/* SPDX-License-Identifier: ISC */
/* The credential of an HTTP request: what its Authorization header holds
 * (doc/protocol-access.md#tokens). */
#ifndef AGENTGRAPH_FCGI_REQUEST_CREDENTIAL_H
#define AGENTGRAPH_FCGI_REQUEST_CREDENTIAL_H

#include "base/arena.h"

/*
 * The token of "Bearer <token>", in the arena.  The scheme's case does not matter.  NULL for
 * another scheme, for nothing behind it, and for a value with control characters.
 */
const char *credential_bearer(const char *authorization, struct arena *arena);

/* The same for a header whose value is the token alone, such as X-Api-Key. */
const char *credential_key(const char *value, struct arena *arena);

#endif
