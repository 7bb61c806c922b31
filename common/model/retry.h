/* SPDX-License-Identifier: ISC */
/* What the clients of providers have in common: when to ask again, and what may be said of a
 * failure. */
#ifndef AGENTGRAPH_MODEL_RETRY_H
#define AGENTGRAPH_MODEL_RETRY_H

#include "base/buf.h"
#include "base/http/http.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether the answer says by "x-should-retry: false" that the same is not to be asked again,
 * however it ends. */
bool retry_refused(const struct http_response *response);

/* Whether another try may end better: no connection, a lost one, a time-out before the answer, and
 * the statuses 408, 425, 429 and from 500 on; or what x-should-retry says of a status. */
bool retry_helps(const struct http_response *response);

/*
 * Milliseconds to wait before try number tries + 1: half a second, doubled with each try up to ten,
 * less up to a half by chance; or what the answer asks for in Retry-After.  -1 when that is more
 * than a minute, or past deadline_ms (0: none): then waiting is of no use.
 */
int64_t retry_wait_ms(const struct http_response *response, unsigned tries, int64_t deadline_ms);

/* Sleeps, and asks stop several times a second; false when it said so.  stop may be NULL. */
bool retry_sleep(int64_t ms, bool (*stop)(void *arg), void *arg);

/* Appends what a provider wrote as one line of at most max bytes of UTF-8, without key (may be
 * NULL) and whatever else looks like a secret. */
void clean_text(struct buf *out, const char *text, const char *key, size_t max);

#endif
