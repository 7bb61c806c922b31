/* SPDX-License-Identifier: ISC */
/*
 * The seal of an installation on lines of a history: what comes back with it says what the
 * installation has said, so it may also say what runs are to do next, such as the calls that a
 * pause holds up.  Of lines that a client wrote that must not be believed: it could call any tool.
 *
 * An HMAC-SHA256 with the key of tickets over the digest of all lines but the last, and of the
 * first without its thread_id, which who brings it in may choose.
 */
#ifndef AGENTGRAPH_SERVICE_HISTORY_SEAL_H
#define AGENTGRAPH_SERVICE_HISTORY_SEAL_H

#include "access/ticket/ticket.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define SEAL_SIZE 65 /* as text */

struct seal {
	struct ticket_key key;
	void *digest; /* NULL: not begun */
};

/* False with err set where the key of the state directory cannot be had; seal_release is fine then.
 */
bool seal_begin(struct seal *seal, const char *state_dir, struct error *err);

/* The next line, with its newline. */
void seal_add(struct seal *seal, const char *line, size_t len);
void seal_add_first(struct seal *seal, const char *line, size_t len);

/* Ends it; returns out. */
const char *seal_end(struct seal *seal, char out[SEAL_SIZE]);

/* Whether two are the same; the second may be NULL. */
bool seal_is(const char seal[SEAL_SIZE], const char *other);

void seal_release(struct seal *seal);

#endif
