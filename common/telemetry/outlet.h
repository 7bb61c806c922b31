/* SPDX-License-Identifier: ISC */
/*
 * An outlet sends items to one place outside: it has a bounded queue, and a thread that empties it.
 *
 * The thread is started with the first item.  Items are sent in batches, one request at a time; an
 * outlet whose other side is slow or gone holds up no other.  A request that failed in a way that
 * may pass is made again, after longer and longer pauses, and given up in the end; one that was too
 * large (413) is made again in halves.
 */
#ifndef AGENTGRAPH_TELEMETRY_OUTLET_H
#define AGENTGRAPH_TELEMETRY_OUTLET_H

#include "base/http/http.h"
#include "base/metrics/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTLET_KINDS 2 /* kinds of items that the other side can refuse separately */
#define OUTLET_HEADERS 8
#define OUTLET_PATIENCE_MS 60000 /* an answer that comes a byte at a time has an end, too */

struct outlet_setup {
	const char *name;                 /* in the log; borrowed */
	char *url;                        /* taken over */
	char *headers[OUTLET_HEADERS][2]; /* names and values, taken over */
	size_t header_count;
	char *prefix, *suffix; /* around the items of a request; taken over, NULL for none */
	size_t batch;          /* items in a request, at most */
	int64_t delay_ms;      /* how long the first of them waits for more */
	int64_t patience_ms;   /* for a whole request */
	bool keeps_refused;    /* a request that is answered with 429 is made again */
	enum metric sent, dropped;

	/* Reads from an answer for how many milliseconds items of each kind are not wanted.  May be
	 * NULL. */
	void (*limits)(const struct http_response *response, int64_t pause_ms[OUTLET_KINDS]);

	/* What of a request that was taken the answer says was not, or NULL; malloc'd, for the log.
	 * May be NULL. */
	char *(*complaint)(const struct http_response *response);
};

struct outlet;

/* Takes over what setup points to. */
struct outlet *outlet_new(const struct outlet_setup *setup);

/* Hands over an item of a kind (0 or 1), which is copied; it has no newline if a batch may have
 * several.  Never blocks for long. */
void outlet_put(struct outlet *outlet, const char *text, size_t len, unsigned kind);

/* Has the thread send what is left until clock_monotonic_ms reaches deadline, for which outlet_free
 * then waits.  NULL is fine. */
void outlet_stop(struct outlet *outlet, int64_t deadline);
void outlet_free(struct outlet *outlet);

#endif
